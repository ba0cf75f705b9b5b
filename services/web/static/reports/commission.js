// What the house took, by day as a chart and a table, and by day and table. T10.

import { html, useState } from "/assets/vendor/preact.js";
import { language, t } from "/assets/base/language.js";
import { money } from "/assets/base/money.js";
import { Chart } from "/assets/reports/chart.js";
import { days } from "/assets/reports/period.js";
import { Report, Table } from "/assets/reports/report.js";

const MOST_BARS = 92;
const ROWS = 5_000;

function byDay(rows) {
  const sums = new Map();
  for (const { day, amount, hands } of rows) {
    const before = sums.get(day) ?? { amount: 0n, hands: 0 };
    sums.set(day, { amount: before.amount + BigInt(amount), hands: before.hands + hands });
  }
  return sums;
}

export const Commission = ({ period }) => html`<${Report} name="commission" period=${period} limit=${ROWS}>${(rows) => html`<${Taken} rows=${rows} period=${period} />`}<//>`;

function Taken({ rows, period }) {
  const [table, setTable] = useState("");
  const tables = [...new Set(rows.map((row) => row.table_id))].sort();
  const wanted = rows.filter((row) => !table || row.table_id === table);
  const currencies = [...new Set(wanted.map((row) => row.currency))].sort();
  return html`${tables.length > 1 && html`<label class="field one"><span>${t("commission.table")}</span><select value=${table} onChange=${(e) => setTable(e.target.value)}>
      <option value="">${t("commission.tables", { n: tables.length })}</option>${tables.map((id) => html`<option value=${id}>${id}</option>`)}</select></label>`}
    ${currencies.map((currency) => html`<${Currency} key=${currency} currency=${currency} rows=${wanted.filter((row) => row.currency === currency)} period=${period} />`)}
    <details><summary>${t("commission.by_table")}</summary><${Table} label=${t("commission.by_table")} columns=${["day", "table", "hands", "amount"]}
      rows=${wanted.map((row) => ({ ...row, key: `${row.day} ${row.table_id} ${row.currency}` }))} /></details>`;
}

function Currency({ currency, rows, period }) {
  const sums = byDay(rows);
  const bars = days(period, MOST_BARS).map((day) => ({ day, amount: sums.get(day)?.amount ?? 0n }));
  const all = [...sums.values()].reduce((sum, { amount }) => sum + amount, 0n);
  const total = `${money(all, language())} ${currency}`;
  return html`<div class="taken"><figure><figcaption>${t("commission.total")} <b>${total}</b></figcaption>
      <${Chart} bars=${bars} currency=${currency} label=${t("commission.chart", { from: period.from, to: period.to, total })} /></figure>
    <${Table} label=${t("commission.by_day", { currency })} columns=${["day", "hands", "amount"]}
      rows=${[...sums].map(([day, { amount, hands }]) => ({ key: day, day, hands, amount, currency }))} /></div>`;
}
