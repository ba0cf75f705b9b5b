// Disputes: a player's own, all for reviewers; open ones first, what is overdue on top.

import { html } from "/assets/vendor/preact.js";
import { addWords, language, moment, t } from "/assets/base/language.js";
import { money } from "/assets/base/money.js";
import { Loading, ProblemBox } from "/assets/base/page.js";
import { State, due } from "/assets/dispute/state.js";
import { WORDS } from "/assets/dispute/words.js";
import { usePages } from "/assets/review/paged.js";

addWords(WORDS);

const PHASES = ["open", "judged", "closed"];
const PAGE = 25;

export function Disputes({ session }) {
  const phase = PHASES.find((each) => each === new URLSearchParams(location.search).get("phase"));
  const { found, problem, busy, next, more, again } = usePages("/v1/disputes", { phase, limit: PAGE }, (page) => page.disputes);
  const own = session.role === "player";
  return html`<h1>${t(own ? "disputes.mine" : "disputes")}</h1><p class="muted">${t(own ? "disputes.order.mine" : "disputes.order")}</p>
    <form class="panel search narrow" action="/review"><input type="hidden" name="show" value="disputes" />
      <label class="field"><span>${t("disputes.phase")}</span><select name="phase">
        <option value="">${t("disputes.all")}</option>
        ${PHASES.map((each) => html`<option value=${each} selected=${each === phase}>${t(`phase.${each}`)}</option>`)}</select></label>
      <div class="buttons"><button class="main">${t("disputes.show")}</button></div></form>
    ${problem && html`<${ProblemBox} problem=${problem} retry=${again} />`}
    ${!found && !problem && html`<${Loading} />`}
    ${found && html`<section aria-live="polite">${found.length === 0 && html`<p class="muted">${t("disputes.none")}</p>`}
      <ul class="hands">${found.map((each) => html`<${Row} key=${each.dispute_id} dispute=${each} />`)}</ul>
      ${next && html`<button type="button" disabled=${busy} onClick=${more}>${t("disputes.more")}</button>`}</section>`}`;
}

function Row({ dispute }) {
  const { opener, role, opened_ms, proposals, paid, currency, corrected } = dispute;
  return html`<li class="panel hand dispute">
    <div class="top"><a href=${`/disputes/${dispute.dispute_id}`}><b>${t("dispute.title", { hand: dispute.hand_id.slice(-8) })}</b></a>
      <span><${State} dispute=${dispute} /></span>
      <span>${t("dispute.by", { opener, role: t(`as.${role}`) })}</span><time class="muted">${t("dispute.opened")} ${moment(opened_ms)}</time>
      ${dispute.due_ms !== null && html`<span>${due(dispute)}</span>`}</div>
    ${proposals > 0 && html`<p class="wait">! ${t("waiting", { n: proposals })}</p>`}
    ${(paid > 0 || corrected) && html`<ul class="marks">${paid > 0 && html`<li>${t("paid", { amount: `${money(paid, language())} ${currency}` })}</li>`}
      ${corrected && html`<li>${t("dispute.corrected")}</li>`}</ul>`}
  </li>`;
}
