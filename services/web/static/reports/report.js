// A report: asked for page by page, shown as a table, and to be had as CSV.

import { html } from "/assets/vendor/preact.js";
import { Id } from "/assets/base/ids.js";
import { language, moment, t } from "/assets/base/language.js";
import { money } from "/assets/base/money.js";
import { Loading, ProblemBox } from "/assets/base/page.js";
import { queryOf } from "/assets/reports/period.js";
import { usePages } from "/assets/review/paged.js";

const PAGE = 100;
const CSV_ROWS = 10_000;

const LONG_ID = /[0-9a-f-]{28}(?=[0-9a-f]{8}(:|$))/;
const account = (name) => (LONG_ID.test(name) ? html`<${Id} id=${name} short=${name.replace(LONG_ID, "…")} />` : name);
const sum = (name) => (row) => html`${money(row[name], language())} <small class="muted">${row.currency}</small>`;

/** How a column is shown; those of `NUMBERS` stand to the right. */
const CELLS = {
  day: (row) => row.day,
  ended: (row) => moment(row.ended_ms),
  at: (row) => moment(row.at_ms),
  table: (row) => html`<${Id} id=${row.table_id} />`,
  hand: (row) => (row.hand_id ? html`<${Id} id=${row.hand_id} />` : "–"),
  hands: (row) => row.hands,
  player: (row) => row.player,
  players: (row) => row.players,
  game: (row) => t(`game.${row.game}`),
  cause: (row) => t(`cause.${row.cause}`),
  reason: (row) => row.reason,
  other: (row) => account(row.other),
  clause: (row) => html`<span class="clause">${row.clause}</span>`,
  amount: sum("amount"), due: sum("due"), paid: sum("paid"), change: sum("change"), balance: sum("balance"),
  uncovered: (row) => html`<b>${money(BigInt(row.due) - BigInt(row.paid), language())}</b>`,
};
const NUMBERS = ["hands", "players", "amount", "due", "paid", "uncovered", "change", "balance"];
const BROAD = ["ended", "at", "other", "reason"]; // on a phone, where a row is a card, these have a line of their own

export function Table({ label, columns, rows }) {
  const cls = (name) => (NUMBERS.includes(name) ? "number" : BROAD.includes(name) ? "broad" : "");
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}><table class="grid stacked" role="table"><thead role="rowgroup"><tr role="row">
      ${columns.map((name) => html`<th key=${name} role="columnheader" scope="col" class=${cls(name)}>${t(`column.${name}`)}</th>`)}</tr></thead>
    <tbody role="rowgroup">${rows.map((row) => html`<tr role="row" key=${row.key}>${columns.map((name) => html`<td role="cell" key=${name} class=${cls(name)} data-label=${t(`column.${name}`)}>${CELLS[name](row)}</td>`)}</tr>`)}</tbody></table></div>`;
}

/** `rows` of a page, `query` beside the period's; `children` shows what was found. `now`: it is of no period. */
export function Report({ name, period, query = {}, rows = (page) => page.rows, now = false, limit = PAGE, children }) {
  const given = { ...(now ? {} : queryOf(period)), ...query };
  const path = `/v1/reports/${name}`;
  const { found, first, problem, busy, next, more, again } = usePages(path, { ...given, limit }, rows);
  const csv = `${path}?${new URLSearchParams({ ...given, format: "csv", limit: CSV_ROWS })}`;
  return html`<section class="panel report" aria-labelledby=${`report-${name}`}>
    <div class="top"><h2 id=${`report-${name}`}>${t(`report.${name}`)}</h2><a class="button" href=${csv} download=${`${name}.csv`}>CSV<span class="hidden">: ${t(`report.${name}`)}</span></a></div>
    <p class="muted">${t(`report.${name}.text`)}</p>
    ${problem && html`<${ProblemBox} problem=${problem} retry=${again} />`}
    ${!found && !problem && html`<${Loading} />`}
    ${found && found.length === 0 && html`<p class="nothing">${t("report.none")}</p>`}
    ${found && (found.length > 0 || first.opening !== undefined) && children(found, first)}
    ${next && html`<p class="more"><button type="button" disabled=${busy} onClick=${more}>${t("report.more")}</button> <span class="muted">${t("report.part", { n: found.length })}</span></p>`}
  </section>`;
}
