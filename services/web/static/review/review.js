// Hands that are over: /review, and beside them disputes and signals. What is searched for stands in the address, so that
// a search is a link.

import { html, useEffect, useState } from "/assets/vendor/preact.js";
import { Problem, get } from "/assets/base/api.js";
import { Id, UUID } from "/assets/base/ids.js";
import { addWords, language, moment, t } from "/assets/base/language.js";
import { change, money, parseMoney } from "/assets/base/money.js";
import { Loading, ProblemBox, show } from "/assets/base/page.js";
import { Disputes } from "/assets/review/disputes.js";
import { Signals } from "/assets/review/signals.js";
import { WORDS } from "/assets/review/words.js";

addWords(WORDS);

/** By `?show=`: what is shown, and to whom. */
const VIEWS = {
  hands: { view: Search, path: "/review", roles: ["player", "compliance"] },
  disputes: { view: Disputes, path: "/review?show=disputes", roles: ["player", "compliance"] },
  signals: { view: Signals, path: "/review?show=signals", roles: ["compliance"] },
};

const FLAGS = ["fined", "fine_capped", "redrawn", "helicopter", "blind", "four_aces", "uncontested", "voided", "voided_by_ops"];
const FIELDS = ["player", "table_id", "hand_id", "from", "to", "min", "max", "flag"];
const PAGE = 25;
const DAY_MS = 24 * 3600 * 1000;

const asked = () => Object.fromEntries(FIELDS.map((name) => [name, new URLSearchParams(location.search).get(name) ?? ""]));

/** The API's query; days are whole ones of UTC, the last one included. */
const queryOf = ({ player, table_id, from, to, min, max, flag }) => ({
  player, table_id, flag,
  from_ms: from && Date.parse(from), to_ms: to && Date.parse(to) + DAY_MS,
  min_bank: min && parseMoney(min), max_bank: max && parseMoney(max), limit: PAGE,
});

function Review({ session }) {
  if (session === null) return html`<${ProblemBox} problem=${new Problem({ code: "not_authenticated" })} />`;
  if (!["player", "compliance"].includes(session.role)) return html`<${ProblemBox} problem=${new Problem({ code: "not_allowed", title: "", detail: t("review.roles") })} />`;
  const open = Object.entries(VIEWS).filter(([, { roles }]) => roles.includes(session.role));
  const [shown, { view: View }] = open.find(([name]) => name === new URLSearchParams(location.search).get("show")) ?? open[0];
  return html`<nav class="tabs" aria-label=${t("review.views")}>${open.map(([name, { path }]) => html`<a key=${name} href=${path}
      aria-current=${name === shown ? "page" : undefined}>${t(`review.view.${name}`)}</a>`)}</nav>
    <${View} session=${session} language=${language()} />`;
}

function Search({ session }) {
  const [wanted, setWanted] = useState(asked());
  useEffect(() => {
    const returned = () => setWanted(asked());
    addEventListener("popstate", returned);
    return () => removeEventListener("popstate", returned);
  }, []);
  const search = (fields) => {
    const given = Object.entries(fields).filter(([, value]) => value !== "");
    history.pushState(null, "", given.length ? `/review?${new URLSearchParams(given)}` : "/review");
    setWanted(fields);
  };
  return html`<h1>${t(`review.title.${session.role}`)}</h1>
    <${Form} key=${JSON.stringify(wanted)} wanted=${wanted} search=${search} session=${session} />
    <${Found} key=${`found ${JSON.stringify(wanted)}`} wanted=${wanted} session=${session} />`;
}

const AMOUNT = "[0-9 \\u00a0\\u202f]{1,16}([.,][0-9]{1,2})?";

function Form({ wanted, search, session }) {
  const submit = (event) => {
    event.preventDefault();
    const fields = Object.fromEntries(FIELDS.map((name) => [name, event.target.elements[name]?.value.trim() ?? ""]));
    if (fields.hand_id) location.assign(`/hands/${fields.hand_id}`);
    else search(fields);
  };
  const field = (name, label, more = {}) => html`<label class="field"><span>${label}</span>
    <input name=${name} value=${wanted[name]} autocomplete="off" spellcheck="false" ...${more} /></label>`;
  const some = Object.values(wanted).some((value) => value !== "");
  return html`<details class="panel" open=${some || matchMedia("(min-width: 40rem)").matches}><summary>${t("review.form")}</summary>
  <form class="search" role="search" aria-label=${t("review.form")} onSubmit=${submit}>
    ${session.role === "compliance" && field("player", t("review.player"), { pattern: "[a-z0-9_\\-]{1,64}", placeholder: "anna" })}
    ${field("table_id", t("review.table"), { pattern: UUID, title: t("review.bad_table"), placeholder: "018f0000-…" })}
    ${field("hand_id", t("review.hand"), { pattern: UUID, title: t("review.bad_hand"), placeholder: "018f0000-…" })}
    <label class="field"><span>${t("review.flag")}</span><select name="flag">
      <option value="">${t("review.any")}</option>
      ${FLAGS.map((flag) => html`<option value=${flag} selected=${wanted.flag === flag}>${t(`flag.${flag}`)}</option>`)}</select></label>
    ${field("from", t("review.from"), { type: "date" })}${field("to", t("review.to"), { type: "date" })}
    ${field("min", t("review.min"), { inputmode: "decimal", pattern: AMOUNT, title: t("review.bad_amount") })}
    ${field("max", t("review.max"), { inputmode: "decimal", pattern: AMOUNT, title: t("review.bad_amount") })}
    <div class="buttons"><button class="main">${t("review.search")}</button>
      <button type="button" onClick=${() => search(Object.fromEntries(FIELDS.map((name) => [name, ""])))}>${t("review.clear")}</button></div>
  </form></details>`;
}

function Found({ wanted, session }) {
  const [pages, setPages] = useState([]);
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const next = pages.at(-1)?.next;
  const load = (cursor, signal) => {
    setBusy(true);
    setProblem(null);
    get("/v1/hands", { ...queryOf(wanted), cursor }, signal)
      .then((page) => setPages((before) => [...before, page]), (error) => signal?.aborted || setProblem(error))
      .finally(() => signal?.aborted || setBusy(false));
  };
  useEffect(() => {
    const given = new AbortController();
    load(undefined, given.signal);
    return () => given.abort();
  }, []);
  const hands = pages.flatMap((page) => page.hands);
  if (problem && !pages.length) return html`<${ProblemBox} problem=${problem} retry=${() => load(undefined)} />`;
  if (!pages.length) return html`<${Loading} />`;
  return html`<section aria-live="polite">
    <p class="muted">${hands.length === 0 ? t("review.none") : next ? t("review.found.more", { n: hands.length }) : t("review.found", { n: hands.length })}</p>
    <ul class="hands">${hands.map((hand) => html`<${Row} key=${hand.hand_id} hand=${hand} session=${session} />`)}</ul>
    ${problem && html`<${ProblemBox} problem=${problem} />`}
    ${next && html`<button type="button" disabled=${busy} onClick=${() => load(next)}>${t("review.more")}</button>`}
  </section>`;
}

const purseChange = (player) => BigInt(player.purse_after) - BigInt(player.purse_before);
const toned = (minor) => (minor > 0n ? "up" : minor < 0n ? "down" : "muted");

/** What is uncommon in a hand, from its results. */
function marks(hand) {
  const statuses = new Set(hand.players.map((p) => p.status));
  const found = [];
  if (hand.ending !== "played") found.push(t(`ending.${hand.ending}`));
  if (statuses.has("helicopter")) found.push(t("flag.helicopter"));
  if (statuses.has("frap_blind")) found.push(t("flag.blind"));
  for (const p of hand.players.filter((each) => each.fine_due)) {
    const paid = money(p.fine_paid, language());
    found.push(`${p.player}: ${p.fine_paid === p.fine_due ? t("review.fine", { paid }) : t("review.fine.capped", { paid, due: money(p.fine_due, language()) })}`);
  }
  return found;
}

function Row({ hand, session }) {
  const mine = session.role === "player" && hand.players.find((p) => p.player === session.subject);
  return html`<li class="panel hand">
    <div class="top"><a href=${`/hands/${hand.hand_id}`}><b>${t(`game.${hand.game}`)} №${hand.hand_no}</b></a>
      <time class="muted">${moment(hand.ended_ms)}</time>
      <span class="muted">${t("review.table_short")} <${Id} id=${hand.table_id} /></span>
      <span>${t("review.bank")} <b>${money(hand.bank, language())}</b> ${hand.currency}</span>
      ${mine && html`<span class="mine">${t("review.mine")} <b class=${toned(purseChange(mine))}>${change(purseChange(mine), language())}</b></span>`}</div>
    <ul class="players">${hand.players.map((p) => html`<li key=${p.seat}>
      <b>${p.player}</b> ${p.tricks > 0 && html`<span class="muted" aria-hidden="true" title=${t("tricks", { n: p.tricks })}>${"▮".repeat(p.tricks)}</span><span class="hidden">${t("tricks", { n: p.tricks })}</span> `}<span class=${toned(purseChange(p))}>${change(purseChange(p), language())}</span></li>`)}</ul>
    ${marks(hand).length > 0 && html`<ul class="marks">${marks(hand).map((mark) => html`<li>${mark}</li>`)}</ul>`}
  </li>`;
}

show(Review, () => t("nav.review"));
