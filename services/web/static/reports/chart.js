// Amounts by day as bars: SVG drawn here. A table with the same numbers stands beside it, for who does not see it.

import { html } from "/assets/vendor/preact.js";
import { language, t } from "/assets/base/language.js";
import { money } from "/assets/base/money.js";

const [HEIGHT, LEFT, BELOW, ABOVE] = [240, 78, 30, 14];
const NARROW = "(max-width: 40rem)";

/** 1, 2 or 5 times a power of ten, so that at most four lines reach `most`. */
function stepFor(most) {
  let step = 1n;
  for (let i = 0; step * 4n < most; i += 1) step = i % 3 === 1 ? (step * 5n) / 2n : step * 2n;
  return step;
}

/** `bars`: [{day, amount}] with amounts as BigInt minor units; `label` names the chart. */
export function Chart({ bars, currency, label }) {
  const narrow = matchMedia(NARROW).matches;
  const wide = narrow ? 360 : 720;
  const most = bars.reduce((max, { amount }) => (amount > max ? amount : max), 1n);
  const step = stepFor(most);
  const top = ((most + step - 1n) / step) * step;
  const height = HEIGHT - BELOW - ABOVE;
  const y = (amount) => ABOVE + height - Number((amount * BigInt(height) * 100n) / top) / 100;
  const each = (wide - LEFT - 6) / bars.length;
  const width = Math.max(1.5, Math.min(42, each * 0.72));
  const lines = Array.from({ length: Number(top / step) + 1 }, (_, i) => BigInt(i) * step);
  const every = Math.ceil(bars.length / (narrow ? 4 : 8));
  return html`<svg class="chart" viewBox="0 0 ${wide} ${HEIGHT}" role="img" aria-label=${label}>
    ${lines.map((amount) => html`<g key=${amount}><line class="rule" x1=${LEFT} x2=${wide} y1=${y(amount)} y2=${y(amount)} />
      <text class="scale" x=${LEFT - 8} y=${y(amount) + 4} text-anchor="end">${money(amount, language())}</text></g>`)}
    ${bars.map(({ day, amount }, i) => {
      const x = LEFT + each * (i + 0.5);
      return html`<g key=${day}><rect class="bar" x=${x - width / 2} width=${width} y=${y(amount)} height=${ABOVE + height - y(amount)} rx="2">
          <title>${t("chart.bar", { day, amount: `${money(amount, language())} ${currency}` })}</title></rect>
        ${i % every === 0 && html`<text class="scale" x=${x} y=${HEIGHT - 10} text-anchor="middle">${day.slice(8)}.${day.slice(5, 7)}</text>`}</g>`;
    })}
  </svg>`;
}
