// Signals for reviewers: what was counted, by which definition, and the hands that it rests on. People decide.

import { html } from "/assets/vendor/preact.js";
import { addWords, language, moment, t } from "/assets/base/language.js";
import { money } from "/assets/base/money.js";
import { Loading, ProblemBox } from "/assets/base/page.js";
import { usePages } from "/assets/review/paged.js";
import { WORDS } from "/assets/review/signal_words.js";

addWords(WORDS);

const KINDS = ["pair", "dumped", "clock", "short_purse", "voided"];
const PAGE = 25;

export function Signals() {
  const asked = new URLSearchParams(location.search);
  const kind = KINDS.find((each) => each === asked.get("kind"));
  const player = asked.get("player") ?? "";
  const { found, problem, busy, next, more, again } = usePages("/v1/signals", { kind, player, limit: PAGE }, (page) => page.signals);
  return html`<h1>${t("signals")}</h1><p class="muted">${t("signals.text")}</p>
    <details class="about"><summary>${t("signals.about")}</summary><div class="scroll" tabindex="0" role="region" aria-label=${t("signals.about")}><table class="grid">
      <thead><tr><th scope="col">${t("signals.kind")}</th><th scope="col">${t("signals.definition")}</th></tr></thead>
      <tbody>${KINDS.map((each) => html`<tr key=${each}><th scope="row">${t(`signal.${each}`)}</th><td>${t(`signal.${each}.definition`)}</td></tr>`)}</tbody></table></div></details>
    <form class="panel search" role="search" action="/review"><input type="hidden" name="show" value="signals" />
      <label class="field"><span>${t("signals.kind")}</span><select name="kind"><option value="">${t("signals.all")}</option>
        ${KINDS.map((each) => html`<option value=${each} selected=${each === kind}>${t(`signal.${each}`)}</option>`)}</select></label>
      <label class="field"><span>${t("signals.player")}</span><input name="player" value=${player} pattern="[a-z0-9_\\-]{1,64}" autocomplete="off" spellcheck="false" placeholder="anna" /></label>
      <div class="buttons"><button class="main">${t("signals.show")}</button></div></form>
    ${problem && html`<${ProblemBox} problem=${problem} retry=${again} />`}
    ${!found && !problem && html`<${Loading} />`}
    ${found && html`<section aria-live="polite">${found.length === 0 && html`<p class="muted">${t("signals.none")}</p>`}
      <ul class="signals">${found.map((each) => html`<${Row} key=${[each.kind, each.player, each.other, each.currency].join()} signal=${each} />`)}</ul>
      ${next && html`<button type="button" disabled=${busy} onClick=${more}>${t("signals.more")}</button>`}</section>`}`;
}

/** What of a signal's numbers its kind counts, each with its word. */
function numbers(signal) {
  const { kind, times, chances, hands, amount, won, time_bank_ms, by_ops, currency } = signal;
  const sum = (minor) => `${money(minor, language())} ${currency}`;
  const counted = [[`signal.${kind}.times`, t("signals.of", { n: times, all: chances })]];
  if (kind === "pair") counted.push(["signals.together", t("signals.of", { n: chances, all: hands })], ["signals.lost", sum(amount)], ["signals.won", sum(won)]);
  if (kind === "dumped") counted.push(["signals.fines", sum(amount)]);
  if (kind === "short_purse") counted.push(["signals.unpaid", sum(amount)]);
  if (kind === "clock") counted.push(["signals.time_bank", t("signals.seconds", { s: (time_bank_ms / 1000).toLocaleString(language()) })]);
  if (kind === "voided") counted.push(["signals.by_ops", by_ops]);
  return counted;
}

function Row({ signal }) {
  const { kind, player, other, rests_on, hands_seen } = signal;
  const more = hands_seen - rests_on.length;
  return html`<li class="panel signal"><h2><a href=${`/review?${new URLSearchParams({ player })}`}>${player}</a>
      ${other && html`<span><span aria-hidden="true">→</span><span class="hidden">${t("signals.and")}</span> <a href=${`/review?${new URLSearchParams({ player: other })}`}>${other}</a></span>`}
      <span class="kind">${t(`signal.${kind}`)}</span></h2>
    <p class="muted">${t(`signal.${kind}.definition`)}</p>
    <dl class="numbers">${numbers(signal).map(([word, value]) => html`<div key=${word}><dt>${t(word)}</dt><dd>${value}</dd></div>`)}</dl>
    <details open=${rests_on.length <= 4}><summary>${t("signals.rests", { n: hands_seen })}</summary>
      <ul class="rests">${rests_on.map((hand) => html`<li key=${hand.hand_id}><a href=${`/hands/${hand.hand_id}`}>…${hand.hand_id.slice(-8)}</a> <time class="muted">${moment(hand.ended_ms)}</time></li>`)}
        ${more > 0 && html`<li class="muted">${t("signals.rests.more", { n: more })}</li>`}</ul></details>
  </li>`;
}
