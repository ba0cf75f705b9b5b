// Reports for operators and compliance: /reports. The period stands in the address.

import { html } from "/assets/vendor/preact.js";
import { Problem } from "/assets/base/api.js";
import { addWords, language, t } from "/assets/base/language.js";
import { money } from "/assets/base/money.js";
import { ProblemBox, show } from "/assets/base/page.js";
import { Commission } from "/assets/reports/commission.js";
import { period } from "/assets/reports/period.js";
import { Report, Table } from "/assets/reports/report.js";
import { WORDS } from "/assets/reports/words.js";

addWords(WORDS);

const ASKED = new URLSearchParams(location.search);
const ACCOUNT = "player:[a-z0-9_\\-]{1,64}|purse:[0-9a-f\\-]{36}:[a-z0-9_\\-]{1,64}|bank:[0-9a-f\\-]{36}|house:commission|house:compensation|cash";

function Reports({ session }) {
  if (session === null) return html`<${ProblemBox} problem=${new Problem({ code: "not_authenticated" })} />`;
  if (!["operator", "compliance"].includes(session.role)) return html`<${ProblemBox} problem=${new Problem({ code: "not_allowed", title: "", detail: t("reports.roles") })} />`;
  const asked = period();
  const wrong = asked.from > asked.to;
  return html`<h1>${t("reports")}</h1><p class="muted">${t("reports.text")}</p>
    <${Period} asked=${asked} />
    ${wrong ? html`<p class="problem" role="alert">${t("reports.wrong")}</p>` : html`<${All} asked=${asked} language=${language()} />`}`;
}

function Period({ asked }) {
  return html`<form class="panel period" action="/reports" aria-label=${t("reports.period")}>
    <label class="field"><span>${t("reports.from")}</span><input type="date" name="from" value=${asked.from} required /></label>
    <label class="field"><span>${t("reports.to")}</span><input type="date" name="to" value=${asked.to} required /></label>
    <label class="field account"><span>${t("reports.account")}</span><input name="account" list="accounts" value=${ASKED.get("account") ?? ""} pattern=${ACCOUNT} title=${t("reports.bad_account")}
      placeholder="player:anna" autocomplete="off" spellcheck="false" /></label>
    <datalist id="accounts"><option value="house:commission" /><option value="house:compensation" /><option value="cash" /></datalist>
    <label class="field currency"><span>${t("reports.currency")}</span><input name="currency" value=${ASKED.get("currency") ?? "RUB"} pattern="[A-Z]{3}" title="RUB" maxlength="3" autocomplete="off" /></label>
    <button class="main">${t("reports.show")}</button></form>`;
}

const keyed = (rows, key) => rows.map((row) => ({ ...row, key: key(row) }));

function All({ asked }) {
  const account = ASKED.get("account");
  return html`${account && html`<${Statement} account=${account} currency=${ASKED.get("currency") ?? "RUB"} asked=${asked} />`}
    <${Commission} period=${asked} />
    <${Report} name="fines" period=${asked}>${(rows) => html`<${Table} label=${t("report.fines")} columns=${["ended", "hand", "table", "player", "due", "paid", "uncovered"]}
      rows=${keyed(rows, (row) => row.hand_id + row.seat)} />`}<//>
    <${Report} name="banks" period=${asked} now>${(rows) => html`<${Table} label=${t("report.banks")} columns=${["table", "amount"]} rows=${keyed(rows, (row) => row.table_id + row.currency)} />`}<//>
    <${Report} name="voids" period=${asked}>${(rows) => html`<${Table} label=${t("report.voids")} columns=${["ended", "hand", "table", "game", "players", "cause", "reason"]}
      rows=${keyed(rows, (row) => row.hand_id)} />`}<//>`;
}

function Statement({ account, currency, asked }) {
  return html`<${Report} name="statement" period=${asked} query=${{ account, currency }} rows=${(page) => page.lines}>${(lines, { opening }) => {
    const last = lines.length ? lines.at(-1).balance : opening;
    return html`<dl class="balances"><div><dt>${t("statement.account")}</dt><dd><code>${account}</code></dd></div>
        <div><dt>${t("statement.opening")}</dt><dd>${money(opening, language())} ${currency}</dd></div>
        <div><dt>${t("statement.last")}</dt><dd>${money(last, language())} ${currency}</dd></div></dl>
      ${lines.length > 0 && html`<${Table} label=${t("report.statement")} columns=${["at", "change", "balance", "other", "clause", "hand"]}
        rows=${lines.map((line, i) => ({ ...line, currency, key: `${line.stream} ${line.seq} ${i}` }))} />`}`;
  }}<//>`;
}

show(Reports, () => t("reports"));
