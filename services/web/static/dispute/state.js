// How a dispute stands, in the list as on its page: a word and a mark, never a colour alone.

import { html } from "/assets/vendor/preact.js";
import { moment, t } from "/assets/base/language.js";

const MARKS = { open: "○", judged: "◐", closed: "●" };

export function State({ dispute: { phase, outcome, overdue } }) {
  return html`<span class="phase ${phase}"><span aria-hidden="true">${MARKS[phase]}</span> ${t(`phase.${phase}`)}${outcome && `, ${t(`outcome.${outcome}`)}`}</span>
    ${overdue > 0 && html` <b class="late">! ${t("overdue", { n: overdue })}</b>`}`;
}

export const due = ({ phase, due_ms }) => (due_ms === null ? null : t(`due.${phase}`, { at: moment(due_ms) }));
