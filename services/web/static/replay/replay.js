// A hand that is over, step by step: /hands/{id}.

import { html, useEffect, useLayoutEffect, useRef, useState } from "/assets/vendor/preact.js";
import { Problem, get } from "/assets/base/api.js";
import { isId } from "/assets/base/ids.js";
import { addWords, language, moment, t } from "/assets/base/language.js";
import { money } from "/assets/base/money.js";
import { Loading, ProblemBox, show, useAnswer } from "/assets/base/page.js";
import { InlineCard } from "/assets/base/cards.js";
import { ClauseDialog, Clauses } from "/assets/replay/clauses.js";
import { Log } from "/assets/replay/log.js";
import { Money } from "/assets/replay/money.js";
import { Proofs, proofStates } from "/assets/replay/proofs.js";
import { Table } from "/assets/replay/table.js";
import { Told } from "/assets/replay/telling.js";
import { Transport, useTransport } from "/assets/replay/transport.js";
import { Working } from "/assets/replay/working.js";
import { WORDS } from "/assets/replay/words.js";

addWords(WORDS);

const HAND = location.pathname.split("/").at(-1);
const REASON = "khrap_reason";
const PHONE = "(max-width: 48rem)";

function Hand({ session }) {
  const [reason, setReason] = useState(null);
  if (session === null) return html`<${ProblemBox} problem=${new Problem({ code: "not_authenticated" })} />`;
  if (!READERS.includes(session.role)) return html`<${ProblemBox} problem=${new Problem({ code: "not_allowed", title: "", detail: t("hand.roles") })} />`;
  if (!isId(HAND)) return html`<${ProblemBox} problem=${new Problem({ code: "no_hand_id", status: 404 })}><${Back} /><//>`;
  if (session.role === "compliance" && reason === null) return html`<${Reason} give=${setReason} />`;
  return html`<${Replayed} session=${session} reason=${reason} />`;
}

const READERS = ["player", "compliance"];
const Back = () => html`<a href="/review">${t("hand.back")}</a>`;

/** A look of compliance is recorded with its reason: nothing is asked for before there is one. */
function Reason({ give }) {
  const [text, setText] = useState(sessionStorage.getItem(REASON) ?? "");
  const submit = (event) => {
    event.preventDefault();
    sessionStorage.setItem(REASON, text.trim());
    give(text.trim());
  };
  return html`<form class="panel reason" onSubmit=${submit}>
    <h1>${t("reason.title")}</h1><p class="muted">${t("reason.text")}</p>
    <label class="field"><span>${t("reason.label")}</span>
      <input name="reason" required minlength="3" maxlength="200" pattern=".*\\S.*" autocomplete="off" placeholder=${t("reason.placeholder")} value=${text}
        onInput=${(e) => setText(e.target.value)} autofocus /></label>
    <button class="main">${t("reason.open")}</button>
  </form>`;
}

function Replayed({ session, reason }) {
  const [seat, setSeat] = useState(null);
  const { value, problem, again } = useAnswer((signal) => get(`/v1/hands/${HAND}/replay`, { reason, seat }, signal), [seat, reason]);
  const [shown, setShown] = useState(null);
  useEffect(() => {
    if (value) setShown(value);
  }, [value]);
  if (problem) return html`<${ProblemBox} problem=${problem} retry=${again}><${Back} /><//>`;
  if (!shown) return html`<${Loading} />`;
  return html`<${Steps} key=${shown.hand.hand_id} replay=${shown} session=${session} reason=${reason} setSeat=${setSeat} />`;
}

function Steps({ replay, session, reason, setSeat }) {
  const { steps, hand, seat } = replay;
  const transport = useTransport(steps.length);
  const { at } = transport;
  const step = steps[at];
  const mine = hand.players.find((p) => p.player === session.subject)?.seat;
  const phone = useMedia(PHONE);
  const board = useRef(null);
  // On a phone the table is looked at, with the seat below it and the transport, before what stands above.
  useLayoutEffect(() => {
    if (phone) board.current.scrollIntoView({ block: board.current.offsetHeight > innerHeight ? "end" : "start" });
  }, []);
  const tools = html`<${Tools} replay=${replay} session=${session} reason=${reason} mine=${mine} setSeat=${setSeat} />`;
  return html`
    <div class="title"><${Title} replay=${replay} />${!phone && tools}</div>
    ${phone ? html`<${Folded} replay=${replay}>${tools}<${Proofs} replay=${replay} step=${step} /><//>` : html`<${Proofs} replay=${replay} step=${step} />`}
    <div class="stage">
      <div class="board" ref=${board}>
        <div class="telling" aria-live=${transport.playing ? "off" : "polite"} aria-atomic="true">
          <p class="sentence"><${Told} step=${step} language=${language()} /></p>
          <p class="why"><${Clauses} clauses=${step.clauses} /><${Offered} step=${step} /><time class="muted mono">${step.at.slice(11, 23)}</time></p>
        </div>
        <${Table} step=${step} before=${steps[at - 1]} first=${seat ?? mine ?? hand.players[0].seat} language=${language()} />
        <${Transport} transport=${transport} language=${language()} />
        ${step.stock?.length > 0 && html`<p class="stock"><span class="muted">${t("stock.open")}:</span> ${step.stock.map((card) => html`<${InlineCard} card=${card} /> `)}</p>`}
      </div>
      <div class="side"><${Log} steps=${steps} at=${at} language=${language()} /><${Money} replay=${replay} at=${at} language=${language()} /></div>
    </div>
    <${Working} working=${replay.working} corrected=${replay.corrected} language=${language()} />
    <${ClauseDialog} />`;
}

/** Whether the window is so. */
function useMedia(query) {
  const [so, setSo] = useState(matchMedia(query).matches);
  useEffect(() => {
    const asked = matchMedia(query);
    const changed = () => setSo(asked.matches);
    asked.addEventListener("change", changed);
    return () => asked.removeEventListener("change", changed);
  }, [query]);
  return so;
}

/** On a phone: checks and tools behind a line that says how many hold; open where one fails. */
function Folded({ replay, children }) {
  const states = proofStates(replay).map(([, state]) => state);
  const fails = states.filter((state) => state === "fails").length;
  const hold = states.filter((state) => ["holds", "sealed"].includes(state)).length;
  return html`<details class="folded" open=${fails > 0}><summary>${t("tools")} · ${fails > 0
    ? html`<b class="bad">✗ ${t("proofs.fail", { n: fails, all: states.length })}</b>`
    : html`<span class=${hold === states.length ? "good" : ""}>✓ ${t("proofs.hold", { n: hold, all: states.length })}</span>`}</summary>${children}</details>`;
}

/** What the player could have chosen, where that may be known. */
function Offered({ step }) {
  if (!step.offered?.length) return null;
  const did = step.event.do ?? { card_played: "play", cards_discarded: "discard", cards_drawn: "draw", cards_looked: "look" }[step.event.type];
  return html`<span class="offered"><span class="muted">${t("offered")}:</span> ${step.offered.map((offer) => html`<span class=${offer.do === did ? "chosen" : ""}>${
    t(`word.${offer.do}`)}${offer.do === "play" ? html` ${offer.cards.map((card) => html`<${InlineCard} card=${card} />`)}` : ""}</span> `)}</span>`;
}

const Title = ({ replay: { hand } }) => html`<div><h1>${t("hand.title", { game: t(`game.${hand.game}`), no: hand.hand_no })}</h1>
  <p class="muted">${t("hand.stake")} ${money(hand.stake, language())} ${hand.currency} · ${t("hand.started")} ${moment(hand.started_ms)} ·
    <span title=${hand.hand_id}> <code>${hand.hand_id}</code></span></p></div>`;

function Tools({ replay, session, reason, mine, setSeat }) {
  const { hand, seat, open } = replay;
  const own = session.role === "player";
  const download = (what) => `/v1/hands/${hand.hand_id}/${what}${reason === null ? "" : `?${new URLSearchParams({ reason })}`}`;
  return html`<div class="tools">
      ${open ? html`<label class="eyes"><span aria-hidden="true">${t("eyes")}</span><select aria-label=${t("eyes")} value=${seat ?? ""} onChange=${(e) => setSeat(e.target.value === "" ? null : Number(e.target.value))}>
          <option value="">${t("eyes.all")}</option>
          ${hand.players.filter((p) => !own || p.seat === mine).map((p) => html`<option value=${p.seat}>${own ? t("eyes.own") : t("eyes.seat", { player: p.player })}</option>`)}
        </select></label>` : html`<p class="closed muted">${t("eyes.closed")}</p>`}
      <a class="button" href=${download("file")} download=${`hand-${hand.hand_id}.json`}>${t("hand.file")}</a>
      ${!own && html`<a class="button" href=${download("bundle")} download=${`bundle-${hand.hand_id}.json`}>${t("hand.bundle")}</a>`}
      <a class="button" href=${`/disputes/new?hand=${hand.hand_id}`}>${t("hand.dispute")}</a>
    </div>`;
}

show(Hand, () => `${t("hand")} …${HAND.slice(-6)}`);
