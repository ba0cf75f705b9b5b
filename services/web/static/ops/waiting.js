// Streams that wait in a projection, parts of the log with a hole, and why.

import { html } from "/assets/vendor/preact.js";
import { moment, t } from "/assets/base/language.js";

const TABLE = "table-";

export function Waiting({ status }) {
  const { parked, holes } = status;
  const all = status.projections.filter((p) => p.role !== "building").reduce((n, p) => n + p.parked, 0);
  return html`<section aria-labelledby="waits"><h2 id="waits">${t("waits")}</h2>
    ${parked.length + holes.length === 0 && html`<p class="muted">${t("waits.none")}</p>`}
    <ul class="waits">
      ${holes.map((h) => html`<li key=${h.part} class="panel"><b class="bad">! ${t("waits.hole", { part: h.part, pos: h.pos })}</b>
        <span class="muted">${t("waits.since", { at: moment(h.since_ms) })}</span><p>${h.reason}</p></li>`)}
      ${parked.map((p) => html`<li key=${p.generation + p.stream} class="panel"><code>${p.stream}</code> <b class="bad">! ${p.code}</b>
        <span class="muted">${t("waits.at", p)}, ${t("waits.since", { at: moment(p.since_ms) })}</span><p>${p.reason}</p>
        ${p.stream.startsWith(TABLE) && html`<a href=${`#table=${p.stream.slice(TABLE.length)}`}>${t("waits.table")}</a>`}</li>`)}
    </ul>
    ${all > parked.length && html`<p class="muted">${t("waits.more", { n: all - parked.length })}</p>`}
  </section>`;
}
