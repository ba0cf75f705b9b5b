// A table in the care of ops: halted, resumed, its hand voided by two. The table shown stands in the address: #table=….

import { html, useEffect, useRef, useState } from "/assets/vendor/preact.js";
import { get, send } from "/assets/base/api.js";
import { fragment, setFragment } from "/assets/base/fragment.js";
import { isId } from "/assets/base/ids.js";
import { language, t } from "/assets/base/language.js";
import { money } from "/assets/base/money.js";
import { Loading, ProblemBox } from "/assets/base/page.js";

const EVERY_MS = 2000;

/** The table that the address names, or null. */
export const opened = () => {
  const id = fragment().get("table");
  return id !== null && isId(id) ? id : null;
};

function open(id) {
  setFragment({ table: id });
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function Halted({ status }) {
  const { halted, tables } = status;
  const more = (tables?.halted ?? 0) - halted.length;
  return html`<section aria-labelledby="halted"><h2 id="halted">${t("halted")}</h2>
    ${halted.length === 0 && html`<p class="muted">${t("halted.none")}</p>`}
    <ul class="waits">${halted.map(({ table_id, reason }) => html`<li key=${table_id} class="panel halted">
      <div><code>${table_id}</code><p>${reason}</p></div>
      <a class="button" href=${`#table=${table_id}`}>${t("halted.open")}<span class="hidden"> ${table_id}</span></a></li>`)}</ul>
    ${more > 0 && html`<p class="muted">${t("halted.more", { n: more })}</p>`}</section>`;
}

export function Care({ table, session, moved }) {
  const [text, setText] = useState("");
  const [bad, setBad] = useState(false);
  const find = (event) => {
    event.preventDefault();
    const id = text.trim().toLowerCase();
    setBad(!isId(id));
    if (isId(id)) open(id);
  };
  return html`<section class="panel" aria-labelledby="care"><h2 id="care">${t("care")}</h2>
    <form class="find" onSubmit=${find}><label class="field"><span>${t("care.id")}</span>
      <input name="table" autocomplete="off" spellcheck=${false} value=${text} aria-invalid=${bad} aria-describedby="bad-id"
        placeholder="018f0000-0000-7000-8000-000000000001" onInput=${(e) => setText(e.target.value)} /></label>
      <button>${t("care.show")}</button></form>
    <p id="bad-id" class="bad" role="alert" hidden=${!bad}>${bad && `! ${t("care.bad")}`}</p>
    ${table && html`<${Cared} key=${table} id=${table} session=${session} moved=${moved} />`}
  </section>`;
}

function Cared({ id, session, moved }) {
  const [state, setState] = useState({});
  const [asked, ask] = useState(null);
  const [said, say] = useState("");
  const look = () => get(`/v1/ops/tables/${id}`).then((value) => setState({ value }), (problem) => setState({ problem }));
  useEffect(() => {
    look();
    const timer = setInterval(() => document.hidden || look(), EVERY_MS);
    return () => clearInterval(timer);
  }, [id]);
  const { value, problem } = state;
  const done = (what) => {
    ask(null);
    say(t(`done.${what}`));
    look();
    moved();
  };
  return html`<div class="cared"><p><code>${id}</code> <button type="button" class="quiet" onClick=${() => open(null)}>${t("care.close")}</button></p>
    <p role="status" class="good said">${said}</p>
    ${problem && html`<${ProblemBox} problem=${problem} retry=${look} />`}
    ${!value && !problem && html`<${Loading} />`}
    ${value && html`<${State} table=${value} /><${Acts} table=${value} session=${session} ask=${ask} />`}
    ${asked && html`<${Ask} key=${asked.what} what=${asked.what} id=${id} done=${done} leave=${() => ask(null)} />`}
  </div>`;
}

function State({ table }) {
  const { halt, voiding, closed, closing } = table;
  const going = closed ? t("care.closed") : halt ? t("care.is_halted") : t("care.goes_on");
  return html`<dl class="facts">
    <dt>${t("care.game")}</dt><dd>${t(`game.${table.game}`)}, ${money(table.stake, language())} ${table.currency}, ${t("care.seats", { n: table.seats })}</dd>
    <dt>${t("care.hand")}</dt><dd>${table.hand_id === null ? t("care.no_hand") : html`<code>${table.hand_id}</code>`}</dd>
    <dt>${t("care.state")}</dt><dd><b class=${halt ? "bad" : "good"}>${going}</b>${closing && !closed && ` · ${t("care.closing")}`}
      ${halt && html`<p>${t(halt.fault ? "care.fault" : "care.wish")}: ${halt.reason}</p>`}</dd>
    ${voiding && html`<dt>${t("care.proposed")}</dt><dd>${t("care.proposed.by", voiding)}</dd>`}
  </dl>`;
}

function Acts({ table, session, ask }) {
  if (table.closed) return null;
  const mine = table.voiding?.by === session.subject;
  const voids = table.voiding ? "confirm" : "void";
  return html`<div class="acts">
    ${table.halt
      ? html`<button type="button" onClick=${() => ask({ what: "resume" })}>${t("do.resume")}</button>`
      : html`<button type="button" onClick=${() => ask({ what: "halt" })}>${t("do.halt")}</button>`}
    ${table.hand_id !== null && html`<button type="button" disabled=${mine} aria-describedby=${mine ? "by-you" : undefined}
      onClick=${() => ask({ what: voids })}>${t(`do.${mine ? "void" : voids}`)}</button>`}
    ${mine && html`<p id="by-you" class="muted">${t("care.by_you")}</p>`}</div>`;
}

const ROUTES = { halt: "halt", resume: "resume", void: "void", confirm: "void" };

/** One act, asked for in a dialog with its reason. Its key is made once: sent again after a fault, it is done once. */
function Ask({ what, id, done, leave }) {
  const dialog = useRef(null);
  const key = useRef(crypto.getRandomValues(new Uint32Array(4)).join("-"));
  const [reason, setReason] = useState("");
  const [problem, setProblem] = useState(null);
  const [sending, setSending] = useState(false);
  useEffect(() => dialog.current.showModal(), []);
  const submit = async (event) => {
    event.preventDefault();
    setSending(true);
    try {
      await send("POST", `/v1/tables/${id}/${ROUTES[what]}`, { reason: reason.trim() }, key.current);
      dialog.current.close();
      done(what);
    } catch (error) {
      setProblem(error);
      // What the rules refused was not done: another reason is another act.
      if (error.status < 500 && error.status > 0) key.current = crypto.getRandomValues(new Uint32Array(4)).join("-");
      setSending(false);
    }
  };
  return html`<dialog ref=${dialog} aria-labelledby="ask" onClose=${leave}>
    <form onSubmit=${submit}><h2 id="ask">${t(`do.${what}`)}</h2><p><code>${id}</code></p><p>${t(`do.${what}.text`)}</p>
      ${problem && html`<${ProblemBox} problem=${problem} />`}
      <label class="field"><span>${t("do.reason")}</span><input name="reason" required minlength="3" maxlength="200" pattern=".*\\S.*" autocomplete="off"
        value=${reason} onInput=${(e) => setReason(e.target.value)} autofocus /></label>
      <div class="acts"><button class="main" disabled=${sending}>${t(`do.${what}`)}</button>
        <button type="button" onClick=${() => dialog.current.close()}>${t("do.cancel")}</button></div></form>
  </dialog>`;
}
