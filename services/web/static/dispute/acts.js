// What may be done in a dispute, each asked for in a dialog. A write's key is made once: sent again, it is done once.

import { html, useEffect, useRef, useState } from "/assets/vendor/preact.js";
import { get, send } from "/assets/base/api.js";
import { language, t } from "/assets/base/language.js";
import { change, money, parseMoney } from "/assets/base/money.js";
import { Loading, ProblemBox, useAnswer } from "/assets/base/page.js";
import { waiting } from "/assets/dispute/course.js";

export const newKey = () => crypto.getRandomValues(new Uint32Array(4)).join("-");
export const MOST = 4000;
/** R6: so long after its close the texts of a dispute stay. */
const ERASE_AFTER_MS = 30 * 24 * 60 * 60 * 1000;

/** By what is done: its path behind the dispute's, its fields, and the body from them. */
const ACTS = {
  note: { path: "notes", fields: ["text"], body: ({ text, shared }) => ({ text, shared: shared === "on" }) },
  withdraw: { path: "withdraw", fields: [], body: () => undefined },
  verdict: { path: "verdict", fields: ["outcome", "reasons"], body: ({ outcome, reasons }) => ({ outcome, text: reasons }) },
  compensation: { path: "compensations", fields: ["player", "amount", "reasons"],
    body: ({ player, amount, reasons }) => ({ player, amount: parseMoney(amount), text: reasons }) },
  correction: { path: "corrections", fields: ["reasons"], body: ({ reasons }) => ({ text: reasons }) },
  approve: { path: ({ proposal }) => `proposals/${proposal}/approve`, fields: [], body: () => undefined },
  drop: { path: ({ proposal }) => `proposals/${proposal}/drop`, fields: [], body: () => undefined },
  close: { path: "close", fields: [], body: () => undefined },
  erase: { path: "erase", fields: ["ground"], body: ({ ground }) => ({ ground }) },
};

/** What this visitor may try, as the dispute stands; who is no party to it only the service knows. */
function offered(dispute, session) {
  const { phase, outcome, corrected, erased } = dispute;
  if (session.role === "player") return { open: ["note", "withdraw"], judged: ["note"], closed: [] }[phase];
  if (phase === "open") return ["verdict", "note"];
  if (phase === "closed") return !erased && Date.now() >= Date.parse(dispute.entries.at(-1).at) + ERASE_AFTER_MS ? ["erase"] : [];
  const proposed = waiting(dispute);
  const corrects = !corrected && !proposed.some((p) => p.type === "correction_proposed");
  return [...(outcome === "upheld" ? ["compensation", ...(corrects ? ["correction"] : [])] : []), "note", ...(proposed.length ? [] : ["close"])];
}

export function Acts({ dispute, session, moved }) {
  const [asked, ask] = useState(null);
  const [done, setDone] = useState("");
  const choices = offered(dispute, session);
  const proposals = session.role === "player" ? [] : waiting(dispute);
  return html`<p role="status" class="done">${done}</p>
    ${proposals.length > 0 && html`<section class="panel" aria-labelledby="proposals"><h2 id="proposals">${t("proposals")}</h2>
      <ul class="proposals">${proposals.map((each) => html`<${Waiting} key=${each.proposal} proposal=${each} dispute=${dispute} session=${session} ask=${ask} />`)}</ul></section>`}
    <section class="panel" aria-labelledby="acts"><h2 id="acts">${t("acts")}</h2>
      ${session.role === "player" && dispute.phase === "open" && html`<p class="muted">${t("acts.wait")}</p>`}
      ${choices.length === 0 && html`<p class="muted">${t("acts.none")}</p>`}
      <div class="acts">${choices.map((what, i) => html`<button type="button" key=${what} class=${i === 0 ? "main" : ""} onClick=${() => ask({ what })}>${t(`do.${what}`)}</button>`)}</div></section>
    ${asked && html`<${Ask} key=${asked.what} ...${asked} dispute=${dispute} session=${session} leave=${() => ask(null)} did=${() => {
      setDone(t(`done.${asked.what}`));
      moved();
    }} />`}`;
}

const described = (proposal, dispute) => t(`proposal.${proposal.type.split("_")[0]}`, {
  n: proposal.proposal, player: proposal.player, amount: proposal.amount === undefined ? "" : `${money(proposal.amount, language())} ${dispute.currency}`,
});

function Waiting({ proposal, dispute, session, ask }) {
  const mine = proposal.reviewer === session.subject;
  const note = `mine-${proposal.proposal}`;
  return html`<li><p><b>${described(proposal, dispute)}</b> <span class="muted">${t("proposal.by", { person: proposal.reviewer })}</span></p>
    <div class="acts"><button type="button" class="main" disabled=${mine} aria-describedby=${mine ? note : undefined} onClick=${() => ask({ what: "approve", proposal })}>${t("do.approve")}</button>
      <button type="button" onClick=${() => ask({ what: "drop", proposal })}>${t(mine ? "do.drop.mine" : "do.drop")}</button>
      ${mine && html`<p id=${note} class="muted">${t("proposal.mine")}</p>`}</div></li>`;
}

function Field({ name, dispute, session }) {
  const area = (label) => html`<label class="field"><span>${label}</span><textarea name=${name} required minlength="3" maxlength=${MOST} rows="5"></textarea></label>`;
  if (name === "text") {
    return html`${area(t("field.text"))}${session.role !== "player" && html`<label class="check"><input type="checkbox" name="shared" /> ${t("field.shared")}</label>`}`;
  }
  if (name === "reasons") return area(t("field.reasons"));
  if (name === "outcome") return html`<fieldset><legend>${t("field.outcome")}</legend>${["upheld", "rejected"].map(
    (value) => html`<label class="check"><input type="radio" name="outcome" value=${value} required /> ${t(`outcome.${value}`)}</label>`)}</fieldset>`;
  if (name === "player") return html`<label class="field"><span>${t("field.player")}</span><select name="player">${dispute.players.map(
    (player) => html`<option value=${player} selected=${player === dispute.opener}>${player}</option>`)}</select></label>`;
  if (name === "amount") return html`<label class="field"><span>${t("field.amount", dispute)}</span><input name="amount" required inputmode="decimal" autocomplete="off"
    pattern="[0-9 \\u00a0\\u202f]{1,16}([.,][0-9]{1,2})?" title=${t("field.bad_amount")} /></label>`;
  return html`<label class="field"><span>${t("field.ground")}</span><select name="ground">${["request", "retention", "order"].map(
    (value) => html`<option value=${value}>${t(`ground.${value}`)}</option>`)}</select></label>`;
}

/** R5: what a correction comes to, for who signs it, or why it cannot be. Every figure is the service's. */
function Preview({ dispute, refuse }) {
  const { value, problem } = useAnswer((signal) => get(`/v1/disputes/${dispute.dispute_id}/correction`, {}, signal), []);
  useEffect(() => refuse(Boolean(problem)), [problem]);
  if (problem) return html`<${ProblemBox} problem=${problem} />`;
  if (!value) return html`<${Loading} />`;
  const sum = (minor) => change(minor, language());
  const rows = [...value.players.map((p) => [p.player, p.due, p.moved, t(`preview.to.${p.to}`)]), [t("preview.bank"), value.bank_due, value.bank_moved, ""],
    ...(value.commission_due ? [[t("preview.commission"), value.commission_due, value.commission_due, ""]] : [])];
  return html`<p>${t(`preview.basis.${value.basis}`)}</p><div class="scroll" tabindex="0" role="region" aria-label=${t("preview")}><table class="grid">
    <thead><tr><th scope="col">${t("preview.who")}</th><th scope="col" class="number">${t("preview.due")}</th><th scope="col" class="number">${t("preview.moved")}</th></tr></thead>
    <tbody>${rows.map(([who, due, moved, to]) => html`<tr key=${who}><th scope="row">${who}</th><td class="number">${sum(due)}</td><td class="number">${sum(moved)} <small class="muted">${to}</small></td></tr>`)}</tbody></table></div>
    <p class="muted">${t("preview.house")} ${t(value.resumes ? "preview.resumes" : "preview.halted")}</p>`;
}

function Ask({ what, proposal, dispute, session, leave, did }) {
  const dialog = useRef(null);
  const key = useRef(newKey());
  const [problem, setProblem] = useState(null);
  const [sending, setSending] = useState(false);
  const [refused, refuse] = useState(false);
  useEffect(() => dialog.current.showModal(), []);
  const act = ACTS[what];
  const submit = async (event) => {
    event.preventDefault();
    const given = Object.fromEntries([...new FormData(event.target)].map(([name, value]) => [name, value.replaceAll("\r\n", "\n").trim()]));
    const path = typeof act.path === "string" ? act.path : act.path(proposal);
    setSending(true);
    try {
      await send("POST", `/v1/disputes/${dispute.dispute_id}/${path}`, act.body(given), key.current);
      dialog.current.close();
      did();
    } catch (error) {
      setProblem(error);
      // What was refused was not done: sent again it is another act.
      if (error.status < 500 && error.status > 0) key.current = newKey();
      setSending(false);
    }
  };
  const mine = proposal?.reviewer === session.subject;
  const name = what === "drop" && mine ? "do.drop.mine" : `do.${what}`;
  return html`<dialog ref=${dialog} aria-labelledby="ask" onClose=${leave}>
    <form onSubmit=${submit}><h2 id="ask">${t(name)}</h2>
      ${proposal && html`<p><b>${described(proposal, dispute)}</b></p>`}<p class="muted">${t(`do.${what}.text`)}</p>
      ${(what === "correction" || (what === "approve" && proposal.type === "correction_proposed")) && html`<${Preview} dispute=${dispute} refuse=${refuse} />`}
      ${problem && html`<${ProblemBox} problem=${problem} />`}
      ${!refused && act.fields.map((field) => html`<${Field} key=${field} name=${field} dispute=${dispute} session=${session} />`)}
      <div class="acts"><button class="main" disabled=${sending || refused}>${t(name)}</button>
        <button type="button" onClick=${() => dialog.current.close()}>${t("do.cancel")}</button></div></form>
  </dialog>`;
}
