// The course of a dispute: what was done and written, in its order.

import { html } from "/assets/vendor/preact.js";
import { language, t } from "/assets/base/language.js";
import { money } from "/assets/base/money.js";

const person = (entry) => entry.person ?? entry.reviewer ?? entry.opener;

function said(entry, currency) {
  const word = entry.outcome ?? entry.why;
  return t(`said.${entry.type}${word ? `.${word}` : ""}`, {
    person: person(entry), n: entry.proposal, player: entry.player,
    amount: entry.amount === undefined ? "" : `${money(entry.amount, language())} ${currency}`,
    first: entry.first_seq, last: entry.last_seq,
  });
}

const INTERNAL = ["compensation_proposed", "correction_proposed", "proposal_approved", "proposal_dropped"];

/** Whether the opener reads it: for reviewers to know. */
function readBy(entry) {
  if (INTERNAL.includes(entry.type)) return "internal";
  if (entry.type === "dispute_noted") return entry.shared ? "shared" : "internal";
  return null;
}

export function Course({ dispute, reviewing }) {
  return html`<section aria-labelledby="course"><h2 id="course">${t("course")}</h2>
    <ol class="course">${dispute.entries.map((entry) => {
      const read = reviewing && readBy(entry);
      return html`<li key=${entry.seq} class=${entry.type}>
        <p class="did"><time class="muted">${entry.at.slice(0, 10)} ${entry.at.slice(11, 19)} UTC</time> <b>${said(entry, dispute.currency)}</b>
          ${read && html` <small class="read">${t(`course.${read}`)}</small>`}</p>
        ${"text" in entry && (entry.text === null ? html`<p class="muted gone">${t("course.erased")}</p>` : html`<blockquote>${entry.text}</blockquote>`)}
      </li>`;
    })}</ol></section>`;
}

/** The proposals that wait, from the course. */
export function waiting(dispute) {
  const answered = new Set(dispute.entries.filter((e) => ["proposal_approved", "proposal_dropped"].includes(e.type)).map((e) => e.proposal));
  return dispute.entries.filter((e) => ["compensation_proposed", "correction_proposed"].includes(e.type) && !answered.has(e.proposal));
}
