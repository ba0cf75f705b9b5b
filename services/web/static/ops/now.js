// What is wrong, first of all; then the few figures by which one sees that the service lives.

import { html } from "/assets/vendor/preact.js";
import { t } from "/assets/base/language.js";
import { count, duration, perSecond, rate, rounded } from "/assets/ops/rates.js";

/** Text in which `…` stands for code. */
const marked = (text) => text.split("`").map((piece, i) => (i % 2 ? html`<code>${piece}</code>` : piece));

export function Alarms({ status }) {
  const { alarms } = status;
  const drift = duration(Math.abs(status.clock_drift_ms));
  return html`<section aria-labelledby="alarms"><h2 id="alarms" class="hidden">${t("alarms")}</h2>
    <div role="status">
      ${alarms.length === 0 && html`<p class="well"><span aria-hidden="true">✓</span> ${t("alarms.none")}</p>`}
      <ul class="alarms">${alarms.map(({ code, notice, count: n }) => html`<li key=${code} class=${notice ? "notice" : "alarm"}>
        <span class="kind"><span aria-hidden="true">${notice ? "i" : "!"}</span> ${t(notice ? "notice" : "alarm")}</span>
        <div><b>${t(`alarm.${code}`, { n })}</b><p>${marked(t(`alarm.${code}.detail`, { drift }))}</p></div></li>`)}</ul>
    </div></section>`;
}

const Figure = ({ name, value, more }) =>
  html`<div class="figure"><dt>${name}</dt><dd><b>${value}</b>${more && html`<small>${more}</small>`}</dd></div>`;

export function Now({ seen }) {
  const status = seen.at(-1);
  const { process, tables, steward_beat_age_ms: age } = status;
  const halted = tables?.halted ? `, ${t("now.halted", { n: tables.halted })}` : "";
  return html`<section aria-labelledby="now"><h2 id="now">${t("now")}</h2><dl class="figures">
    <${Figure} name=${t("now.rate")} value=${perSecond(rate(seen, (s) => s.log_events))} />
    <${Figure} name=${t("now.events")} value=${count(status.log_events)} />
    <${Figure} name=${t("now.tables")} value=${tables ? count(tables.open) : "–"}
      more=${tables && t("now.playing", { n: tables.playing }) + halted} />
    <${Figure} name=${t("now.streams")} value=${count(process.event_streams)} more=${t("now.here")} />
    <${Figure} name=${t("now.waiting")} value=${count(process.waiting_commands)} more=${t("now.committing", { n: process.committing_commands })} />
    <${Figure} name=${t("now.beat")} value=${age === null ? t("now.never") : t("now.ago", { s: rounded(age / 1000) })} />
    <${Figure} name=${t("now.drift")} value=${duration(status.clock_drift_ms)} />
    <${Figure} name=${t("now.redis")} value=${t(process.redis ? "now.up" : "now.down")} />
  </dl></section>`;
}
