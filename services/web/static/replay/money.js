// The money column: the bank and the purses as they run, and the entries of the books for the step.

import { html } from "/assets/vendor/preact.js";
import { hasWords, language, t } from "/assets/base/language.js";
import { change, money } from "/assets/base/money.js";

/** `purse:<table>:anna` → purse of anna. */
function accountName(account) {
  const [kind, ...rest] = account.split(":");
  const player = rest.at(-1);
  if (hasWords(`account.${account}`)) return t(`account.${account}`);
  return hasWords(`account.${kind}`) ? t(`account.${kind}`, { player }) : account;
}

const Entry = ({ entry }) => html`<li><span>${accountName(entry.debit)} <span aria-hidden="true">→</span><span class="hidden">, </span>
  ${accountName(entry.credit)}</span> <b class="number">${money(entry.amount, language())}</b> <span class="clause">${entry.clause}</span></li>`;

export function Money({ replay, at }) {
  const { steps, hand, working, books } = replay;
  const step = steps[at];
  const before = new Map(hand.players.map((p) => [p.seat, p.purse_before]));
  const rows = [
    { key: "bank", name: t("bank"), was: working.carried_before, is: step.hand.bank },
    ...step.hand.players.map((p) => ({ key: p.seat, name: p.player, was: before.get(p.seat), is: p.purse })),
  ];
  const sofar = steps.slice(0, at + 1).flatMap((each) => each.entries);
  return html`<section class="panel money" aria-labelledby="money"><h2 id="money">${t("money")}
      <small class="muted">${hand.currency}</small></h2>
    <table class="grid"><thead><tr><td></td><th class="number">${t("money.before")}</th><th class="number">${t("money.now")}</th>
      <th class="number">${t("money.change")}</th></tr></thead>
    <tbody>${rows.map(({ key, name, was, is }) => {
      const moved = BigInt(is) - BigInt(was);
      return html`<tr key=${key} class=${key === "bank" ? "bank-row" : ""}><th scope="row">${name}</th>
        <td class="number muted">${money(was, language())}</td><td class="number"><b>${money(is, language())}</b></td>
        <td class="number ${moved > 0n ? "up" : moved < 0n ? "down" : "muted"}">${change(moved, language())}</td></tr>`;
    })}</tbody></table>
    <h3>${t("money.entries")}</h3>
    ${books.state === "not_checked" ? html`<p class="muted">${t("money.behind")}</p>`
      : step.entries.length ? html`<ul class="entries">${step.entries.map((entry) => html`<${Entry} entry=${entry} />`)}</ul>`
      : html`<p class="muted">${t("money.no_entries")}</p>`}
    ${sofar.length > 0 && html`<details><summary>${t("money.all", { n: sofar.length })}</summary>
      <ul class="entries">${sofar.map((entry) => html`<${Entry} entry=${entry} />`)}</ul></details>`}
  </section>`;
}
