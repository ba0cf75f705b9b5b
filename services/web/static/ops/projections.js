// How far each generation of each projection is; a rebuild with its progress; and the commands that build one anew.

import { html, useState } from "/assets/vendor/preact.js";
import { t } from "/assets/base/language.js";
import { count, duration, perSecond, rate } from "/assets/ops/rates.js";

const COLUMNS = ["name", "role", "kept", "progress", "behind", "rate", "eta", "parked"];

function Generation({ seen, projection }) {
  const { name, generation, role, kept, position, head, lag_events: behind, lag_ms: lag } = projection;
  const lately = rate(seen, (s) => s.projections.find((p) => p.generation === generation)?.position);
  const speed = lately === null ? projection.rate : lately;
  const growing = rate(seen, (s) => s.log_events) ?? 0;
  // What is under way for less than a second is no work that is left.
  const left = behind > 0 && lag >= 1000 && speed > growing ? (1000 * behind) / (speed - growing) : null;
  const share = head === 0 ? 100 : Math.min(100, Math.floor((100 * position) / head));
  const cell = (column, content, extra = "") =>
    html`<td role="cell" class=${extra} data-label=${t(`projections.${column}`)}>${content}</td>`;
  return html`<tr role="row" class=${role}>
    <th role="rowheader" scope="row"><b>${name}</b> <code>${generation}</code>
      ${projection.refused && html`<p class="why">${t(role === "building" ? "may_not" : "damaged", { why: projection.refused })}</p>`}</th>
    ${cell("role", html`<span class="state ${role}">${t(`role.${role}`)}</span>`)}
    ${cell("kept", kept ? t(role === "building" ? "kept.itself" : "yes") : html`<b class="bad">! ${t("no")}</b>`)}
    ${cell("progress", html`<span class="passed"><progress max="100" value=${share}
      aria-label=${`${generation}: ${t("projections.progress")}`}></progress> <span>${share} %</span></span>`)}
    ${cell("behind", behind <= 0 ? t("caught_up") : html`${count(behind)} <span class="muted">· ${duration(lag)}</span>`, "number")}
    ${cell("rate", perSecond(speed), "number")}
    ${cell("eta", left === null ? "–" : duration(left), left === null ? "number nil" : "number")}
    ${cell("parked", projection.parked ? html`<b class="bad">! ${count(projection.parked)}</b>` : "0", "number")}
  </tr>`;
}

export function Projections({ seen }) {
  const { projections } = seen.at(-1);
  return html`<section aria-labelledby="projections"><h2 id="projections">${t("projections")}</h2>
    <div class="scroll" tabindex="0" role="region" aria-labelledby="projections"><table class="grid stacked" role="table">
      <thead role="rowgroup"><tr role="row">${COLUMNS.map((column) => html`<th role="columnheader" scope="col"
        class=${["behind", "rate", "eta", "parked"].includes(column) ? "number" : ""}>${t(`projections.${column}`)}</th>`)}</tr></thead>
      <tbody role="rowgroup">${projections.map((each) => html`<${Generation} key=${each.generation} seen=${seen} projection=${each} />`)}</tbody>
    </table></div>
    <${Commands} names=${[...new Set(projections.map(({ name }) => name))]} />
  </section>`;
}

function Commands({ names }) {
  const [chosen, choose] = useState(names[0]);
  const [copied, setCopied] = useState(null);
  const copy = (command) => navigator.clipboard?.writeText(command).then(() => setCopied(command), () => {});
  return html`<details class="panel commands"><summary>${t("rebuild")}</summary><p class="muted">${t("rebuild.text")}</p>
    <label class="field"><span>${t("rebuild.which")}</span><select value=${chosen} onChange=${(e) => choose(e.target.value)}>
      ${names.map((name) => html`<option value=${name}>${name}</option>`)}</select></label>
    <ul>${["rebuild", "verify", "rollback", "drop"].map((word) => {
      const command = `khrap projections ${word} ${chosen}`;
      return html`<li><span>${t(`rebuild.${word}`)}</span><code>${command}</code>
        <button type="button" class="quiet" onClick=${() => copy(command)} aria-label=${`${t("copy")}: ${command}`}>
          ${t(copied === command ? "copied" : "copy")}</button></li>`;
    })}</ul></details>`;
}
