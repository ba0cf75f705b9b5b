// Where the seats are around the table, clockwise from below, in percent of its width and height; and where their cards
// lie in the trick: the same picture in small, in columns and rows from its middle, so that no card hides another's corner.

const evenly = (count, from, to) =>
  Array.from({ length: count }, (_, i) => (count === 1 ? (from + to) / 2 : from + ((to - from) * i) / (count - 1)));

/** A wide table: some below, one at each side where there are four or more, the others above. */
function wideCounts(count) {
  const sides = count >= 4 ? 1 : 0;
  const below = count <= 6 ? 1 : Math.ceil((count - 2) / 2);
  return { sides, below, above: count - below - 2 * sides };
}

function wide(count) {
  const { sides, below, above } = wideCounts(count);
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
function tallCounts(count) {
  const above = (count - 1) % 2 === 0 ? 2 : 1;
  const side = (count - 1 - above) / 2;
  return { above, side, rows: side + 2 };
}

function tall(count) {
  const { above, side, rows } = tallCounts(count);
  const y = (row) => (rows === 2 ? [84, 16][row] : 100 - (row + 0.5) * (100 / rows));
  const column = evenly(side, 1, side).map(y);
  const top = (above === 2 ? [25, 75] : [50]).map((x) => [x, y(rows - 1)]);
  const left = column.map((at) => [17, at]);
  const right = column.toReversed().map((at) => [83, at]);
  return { rows, places: [[50, y(0)], ...left, ...top, ...right] };
}

/** `count` cards side by side, in columns from the middle. */
const row = (count) => evenly(count, (1 - count) / 2, (count - 1) / 2);

/** The trick of a wide table: those below in one row, those above in another, the sides beyond them. */
function wideTrick(count) {
  const { below, above, sides } = wideCounts(count);
  const reach = (Math.max(below, above) + 1) / 2;
  const bottom = row(below).toReversed().map((x) => [x, 0.5]);
  const turned = Math.floor(below / 2);
  const left = sides ? [[-reach, 0]] : [];
  const right = sides ? [[reach, 0]] : [];
  return [...bottom.slice(turned), ...left, ...row(above).map((x) => [x, -0.5]), ...right, ...bottom.slice(0, turned)];
}

/** The trick of a tall table: a row for each of its rows. */
function tallTrick(count) {
  const { above, side, rows } = tallCounts(count);
  const y = (at) => (rows - 1) / 2 - at;
  const column = evenly(side, 1, side).map(y);
  return [[0, y(0)], ...column.map((at) => [-1, at]), ...row(above).map((x) => [x, y(rows - 1)]), ...column.toReversed().map((at) => [1, at])];
}

/** For each of `count` seats its places, and its card's in the trick, as custom properties of style; and how many rows the tall table has. */
export function places(count) {
  const across = wide(count);
  const { rows, places: upright } = tall(count);
  const [wideCards, tallCards] = [wideTrick(count), tallTrick(count)];
  return {
    rows,
    of: across.map(([x, y], i) => ({ "--wx": `${x}%`, "--wy": `${y}%`, "--tx": `${upright[i][0]}%`, "--ty": `${upright[i][1]}%` })),
    // --wz and --tz: of two cards the lower one lies on the other.
    trick: wideCards.map(([x, y], i) => ({ "--wc": x, "--wr": y, "--wz": 2 + 2 * y, "--tc": tallCards[i][0], "--tr": tallCards[i][1], "--tz": 10 + 2 * tallCards[i][1] })),
  };
}
