// The settlement worked out line by line, beside what was recorded. Every figure is the service's; only what a void
// gave back (T12) is added up here, player by player.

import { html } from "/assets/vendor/preact.js";
import { language, t } from "/assets/base/language.js";
import { money } from "/assets/base/money.js";
import { Clauses } from "/assets/replay/clauses.js";

const sum = (minor) => money(minor, language());
const percent = (bps) => (bps / 100).toLocaleString(language());

/** The lines of one player: {word, how, clauses, field}. */
function playerLines(working, player) {
  if (working.result.ending === "voided") {
    return [{ word: "purse", field: "purse", clauses: ["T12"],
      how: t("working.purse.void", { before: sum(player.purse_before), paid: sum(player.paid_in), returned: sum(player.returned) }) }];
  }
  const { per_trick } = working;
  const share = per_trick === null ? t("working.share.bank") : t("working.share.how", { n: player.tricks, each: sum(per_trick) });
  const commission = t(`working.commission.${player.commission_because}`,
    { rate: percent(working.commission_bps), share: sum(player.share), stake: sum(working.stake) });
  const lines = [
    { word: "share", field: "share", how: share, clauses: working.share_clauses },
    { word: "commission", field: "commission", how: commission, clauses: ["T10"] },
    { word: "fine_due", field: "fine_due", clauses: working.fine_clauses,
      how: player.fine_times ? t("working.fine.how", { n: player.fine_times, bank: sum(working.bank) }) : t("working.fine.none") },
  ];
  if (player.fine_times) {
    lines.push({ word: "fine_paid", field: "fine_paid", clauses: ["T7"],
      how: t("working.fine_paid.how", { due: sum(player.fine_due), funds: sum(player.fine_funds) }) });
  }
  lines.push({ word: "purse", field: "purse", clauses: [],
    how: t("working.purse.how", { before: sum(player.purse_before), paid: sum(player.paid_in), share: sum(player.share),
      commission: sum(player.commission), fine: sum(player.fine_paid) }) });
  return lines;
}

const Equal = ({ same }) => html`<td class="equal ${same ? "good" : "bad"}"><span aria-hidden="true">${same ? "✓" : "✗"}</span>
  <span class="hidden">${same ? t("yes") : t("no")}</span></td>`;

const Line = ({ label, how, clauses, ours, theirs, show, words }) => html`<tr>
  <th scope="row"><span>${label}</span> <${Clauses} clauses=${clauses} /><small>${how}</small></th>
  <td class="number ${words ?? ""}">${show(ours)}</td><td class="number ${words ?? ""}">${show(theirs)}</td><${Equal} same=${ours === theirs} /></tr>`;

const Group = ({ name, note, children }) => html`<table class="grid lines">
  <caption><b>${name}</b>${note && html` <span class="muted">${note}</span>`}</caption>
  <thead><tr><th scope="col">${t("working.what")}</th><th scope="col" class="number">${t("working.rules")}</th>
    <th scope="col" class="number">${t("working.recorded")}</th><th scope="col"><span class="hidden">${t("working.equal")}</span></th></tr></thead>
  <tbody>${children}</tbody></table>`;

export function Working({ working, corrected }) {
  const { result, recorded, differences, players } = working;
  const named = (seat) => players.find((p) => p.seat === seat)?.player ?? seat;
  const isVoid = result.ending === "voided";
  const returned = players.reduce((all, player) => all + BigInt(player.returned), 0n);
  const bank = t(isVoid ? "working.bank.void" : "working.bank.how", { carried: sum(working.carried_before), paid: sum(working.paid_in), returned: sum(returned) });
  const carried = isVoid ? t("working.carried.void") : t("working.carried.how", { bank: sum(working.bank), shares: sum(working.shares), fines: sum(working.fines_paid) });
  const left = isVoid || !working.remainder ? "" : `; ${t("working.remainder", { amount: sum(working.remainder) })}`;
  return html`<section class="panel working" aria-labelledby="working"><h2 id="working">${t("working")}</h2>
    ${corrected && html`<p class="verdict">${t("working.corrected")}</p>`}
    <p class="verdict ${differences.length ? "bad" : "good"}"><span aria-hidden="true">${differences.length ? "✗" : "✓"}</span>
      ${differences.length ? t("working.differs", { n: differences.length }) : t("working.equal.all")}</p>
    <div class="groups">
      <${Group} name=${t("working.all")}>
        <${Line} label=${t("working.bank")} clauses=${isVoid ? ["T12"] : ["T6"]} ours=${result.bank} theirs=${recorded.bank} show=${sum} how=${bank} />
        ${working.per_trick !== null && html`<tr><th scope="row"><span>${t("working.per_trick")}</span> <${Clauses} clauses=${working.share_clauses} />
          <small>${t("working.per_trick.how", { bank: sum(working.bank), n: working.tricks })}</small></th>
          <td class="number">${sum(working.per_trick)}</td><td></td><td></td></tr>`}
        <${Line} label=${t("working.carried")} clauses=${working.end_clauses} how=${carried + left} show=${sum}
          ours=${result.carried_bank} theirs=${recorded.carried_bank} />
        <${Line} label=${t("working.next")} clauses=${[]} ours=${result.next_dealer} theirs=${recorded.next_dealer} show=${named} words="names" />
        <${Line} label=${t("working.end")} clauses=${[]} ours=${result.ending} theirs=${recorded.ending} show=${(e) => t(`ending.${e}`)} words="words" />
      <//>
      ${players.map((player) => html`<${Group} key=${player.seat} name=${player.player}
          note=${isVoid ? "" : t(`status.${player.status}`) + (player.status === "passed" ? "" : `, ${t("tricks", { n: player.tricks })}`)}>
        ${playerLines(working, player).map(({ word, how, clauses, field }) => html`<${Line} key=${field} label=${t(`working.${word}`)} how=${how} clauses=${clauses}
          ours=${result.players.find((p) => p.seat === player.seat)[field]} show=${sum}
          theirs=${recorded.players.find((p) => p.seat === player.seat)?.[field] ?? 0} />`)}<//>`)}
    </div>
  </section>`;
}
