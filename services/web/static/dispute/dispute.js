// A dispute of a hand: /disputes/{id}; a new one of a hand: /disputes/new?hand={id}.

import { html, useEffect, useRef, useState } from "/assets/vendor/preact.js";
import { Problem, get, send } from "/assets/base/api.js";
import { isId } from "/assets/base/ids.js";
import { addWords, language, moment, t } from "/assets/base/language.js";
import { Loading, ProblemBox, show, useAnswer } from "/assets/base/page.js";
import { Acts, MOST, newKey } from "/assets/dispute/acts.js";
import { Course } from "/assets/dispute/course.js";
import { State, due } from "/assets/dispute/state.js";
import { WORDS } from "/assets/dispute/words.js";

addWords(WORDS);

const ID = location.pathname.split("/").at(-1);
const HAND = new URLSearchParams(location.search).get("hand");

function Visit({ session }) {
  if (session === null) return html`<${ProblemBox} problem=${new Problem({ code: "not_authenticated" })} />`;
  if (!["player", "compliance"].includes(session.role)) return html`<${ProblemBox} problem=${new Problem({ code: "not_allowed", title: "", detail: t("dispute.roles") })} />`;
  if (ID !== "new" && !isId(ID)) return html`<${ProblemBox} problem=${new Problem({ code: "no_dispute_id", status: 404 })}><${Back} /><//>`;
  return ID === "new" ? html`<${New} session=${session} />` : html`<${Dispute} session=${session} />`;
}

const Back = () => html`<a href="/review?show=disputes">${t("dispute.all")}</a>`;

function Dispute({ session }) {
  const { value, problem, again } = useAnswer((signal) => get(`/v1/disputes/${ID}`, {}, signal), []);
  const [dispute, setDispute] = useState(null);
  useEffect(() => {
    if (value) setDispute(value);
  }, [value]);
  if (problem) return html`<${ProblemBox} problem=${problem} retry=${again}><${Back} /><//>`;
  if (!dispute) return html`<${Loading} />`;
  const reviewing = session.role === "compliance";
  return html`<p class="back"><${Back} /></p>
    <div class="title"><h1>${t("dispute.title", { hand: dispute.hand_id.slice(-8) })}</h1><p><${State} dispute=${dispute} /></p></div>
    <div class="columns"><div>
        ${dispute.erased && html`<p class="erased">${t("dispute.erased")}</p>`}
        <${Course} dispute=${dispute} reviewing=${reviewing} language=${language()} /></div>
      <div class="side"><${Acts} dispute=${dispute} session=${session} moved=${again} /><${Facts} dispute=${dispute} /></div></div>`;
}

function Facts({ dispute }) {
  const frozen = dispute.entries.find((entry) => entry.type === "evidence_frozen");
  return html`<section class="panel"><dl class="facts">
    <dt>${t("dispute.who")}</dt><dd>${t("dispute.by", { opener: dispute.opener, role: t(`as.${dispute.role}`) })}<br /><time class="muted">${moment(dispute.opened_ms)}</time></dd>
    ${dispute.due_ms !== null && html`<dt>${t("dispute.due")}</dt><dd>${due(dispute)}</dd>`}
    <dt>${t("dispute.players")}</dt><dd>${dispute.players.join(", ")}</dd>
    <dt>${t("dispute.hand")}</dt><dd><a href=${`/hands/${dispute.hand_id}`}>${t("dispute.open_hand")}</a><br /><code>${dispute.hand_id}</code>
      ${dispute.corrected && html`<br /><b>✓ ${t("dispute.corrected")}</b>`}</dd>
    <dt>${t("dispute.table")}</dt><dd><code>${dispute.table_id}</code></dd></dl>
    ${frozen && html`<h3>${t("dispute.evidence")}</h3><p>${t("dispute.evidence.text", { first: frozen.first_seq, last: frozen.last_seq })}</p>
      <dl class="facts"><dt>${t("dispute.evidence.hash")}</dt><dd><code>${frozen.hash}</code></dd>
        <dt>${t("dispute.evidence.head")}</dt><dd><code>${t("dispute.evidence.head.text", { seq: frozen.head_seq, hash: frozen.head_hash })}</code></dd></dl>`}
  </section>`;
}

function New({ session }) {
  if (!isId(HAND ?? "")) return html`<${ProblemBox} problem=${new Problem({ code: "no_hand_named", detail: t("new.no_hand"), title: t("new.no_hand.title") })}><a href="/review">${t("new.hands")}</a><//>`;
  return html`<p class="back"><a href=${`/hands/${HAND}`}>${t("dispute.open_hand")}</a></p>
    <h1>${t("new.title", { hand: HAND.slice(-8) })}</h1><${There} /><${Statement} session=${session} />`;
}

/** What is disputed already: a player's own, all for reviewers. */
function There() {
  const { value } = useAnswer((signal) => get("/v1/disputes", { hand_id: HAND }, signal), []);
  if (!value?.disputes.length) return null;
  return html`<section class="panel" aria-labelledby="there"><h2 id="there">${t("new.there")}</h2><ul class="there">${value.disputes.map((each) => html`<li key=${each.dispute_id}>
    <a href=${`/disputes/${each.dispute_id}`}>${t("dispute")} …${each.dispute_id.slice(-8)}</a> ${each.opener} <${State} dispute=${each} /></li>`)}</ul></section>`;
}

function Statement({ session }) {
  const key = useRef(newKey());
  const [problem, setProblem] = useState(null);
  const [sending, setSending] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    setSending(true);
    try {
      const statement = event.target.elements.statement.value.trim();
      const { dispute_id } = await send("POST", "/v1/disputes", { hand_id: HAND, statement }, key.current);
      location.assign(`/disputes/${dispute_id}`);
    } catch (error) {
      setProblem(error);
      if (error.status < 500 && error.status > 0) key.current = newKey();
      setSending(false);
    }
  };
  return html`<form class="panel statement" onSubmit=${submit}><p class="muted">${t(session.role === "player" ? "new.text" : "new.text.reviewer")}</p>
    ${problem && html`<${ProblemBox} problem=${problem} />`}
    <label class="field"><span>${t("field.statement")}</span><textarea name="statement" required minlength="3" maxlength=${MOST} rows="7" placeholder=${t("new.statement")}></textarea></label>
    <div class="acts"><button class="main" disabled=${sending}>${t("new.open")}</button></div></form>`;
}

show(Visit, () => t("dispute"));
