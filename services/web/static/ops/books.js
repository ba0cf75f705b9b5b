// The trial balance: what each kind of account sums to, and that all of it is zero.

import { html } from "/assets/vendor/preact.js";
import { hasWords, language, moment, t } from "/assets/base/language.js";
import { money } from "/assets/base/money.js";
import { count } from "/assets/ops/rates.js";

const kindName = (kind) => (hasWords(`kind.${kind}`) ? t(`kind.${kind}`) : kind);

function Currency({ books: { currency, off, kinds } }) {
  const zero = BigInt(off) === 0n;
  return html`<div class="currency"><h3>${currency} <span class=${zero ? "good" : "bad"}>
      ${zero ? t("books.zero") : t("books.off", { amount: money(off, language()) })}</span></h3>
    <table class="grid"><thead><tr><th scope="col">${t("books.kind")}</th><th scope="col" class="number">${t("books.count")}</th>
      <th scope="col" class="number">${t("books.sum")}</th></tr></thead>
    <tbody>${kinds.map(({ kind, accounts, balance }) => html`<tr key=${kind}><th scope="row">${kindName(kind)}</th>
      <td class="number muted">${count(accounts)}</td><td class="number">${money(balance, language())}</td></tr>`)}</tbody>
    <tfoot><tr><th scope="row">${t("books.sum")}</th><td></td><td class="number"><b class=${zero ? "" : "bad"}>${money(off, language())}</b></td></tr></tfoot>
    </table></div>`;
}

export function Books({ status }) {
  const { books } = status;
  return html`<section class="panel books" aria-labelledby="books"><h2 id="books">${t("books")}
      ${books && html`<small class="muted">${t("books.asof", { at: moment(status.books_at_ms) })}</small>`}</h2>
    ${!books?.length && html`<p class="muted">${t("books.none")}</p>`}
    ${books?.map((each) => html`<${Currency} key=${each.currency} books=${each} />`)}</section>`;
}
