// Where the seats are around the table, clockwise from below, in percent of its width and height.

const evenly = (count, from, to) =>
  Array.from({ length: count }, (_, i) => (count === 1 ? (from + to) / 2 : from + ((to - from) * i) / (count - 1)));

/** A wide table: some below, one at each side where there are four or more, the others above. */
function wide(count) {
  const sides = count >= 4 ? 1 : 0;
  const below = count <= 6 ? 1 : Math.ceil((count - 2) / 2);
  const above = count - below - 2 * sides;
  const reach = (n) => (n <= 2 ? 20 : 36);
  const bottom = evenly(below, 50 + reach(below), 50 - reach(below)).map((x) => [x, 83]);
  const top = evenly(above, 50 - reach(above), 50 + reach(above)).map((x) => [x, 17]);
  // Clockwise from the middle of the lower side: its left half, the left side, above, the right side, its right half.
  const turned = Math.floor(below / 2);
  const left = sides ? [[10.5, 50]] : [];
  const right = sides ? [[89.5, 50]] : [];
  return [...bottom.slice(turned), ...left, ...top, ...right, ...bottom.slice(0, turned)];
}

/** A tall table, for a phone: one below, one or two above, the others in two columns. */
function tall(count) {
  const above = (count - 1) % 2 === 0 ? 2 : 1;
  const side = (count - 1 - above) / 2;
  const rows = side + 2;
  const y = (row) => (rows === 2 ? [84, 16][row] : 100 - (row + 0.5) * (100 / rows));
  const column = evenly(side, 1, side).map(y);
  const top = (above === 2 ? [25, 75] : [50]).map((x) => [x, y(rows - 1)]);
  const left = column.map((at) => [17, at]);
  const right = column.toReversed().map((at) => [83, at]);
  return { rows, places: [[50, y(0)], ...left, ...top, ...right] };
}

/** For each of `count` seats its places as custom properties of style, and how many rows the tall table has. */
export function places(count) {
  const across = wide(count);
  const { rows, places: upright } = tall(count);
  return {
    rows,
    of: across.map(([x, y], i) => ({ "--wx": `${x}%`, "--wy": `${y}%`, "--tx": `${upright[i][0]}%`, "--ty": `${upright[i][1]}%` })),
  };
}
