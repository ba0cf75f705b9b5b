// The rulebook at hand: a clause opens to its text.

import { html, useEffect, useRef, useState } from "/assets/vendor/preact.js";
import { get } from "/assets/base/api.js";
import { language, t } from "/assets/base/language.js";

let opened = () => {};
let rules = null;

export const Clauses = ({ clauses }) => html`<span class="clauses">${clauses.map((clause) => html`<button
  type="button" class="clause" aria-label=${t("clause.open", { clause })} onClick=${() => opened(clause)}>${clause}</button>`)}</span>`;

/** One dialog for the page; a clause that stands in the text opens in its turn. */
export function ClauseDialog() {
  const dialog = useRef(null);
  const [shown, setShown] = useState(null);
  useEffect(() => {
    opened = async (clause) => {
      rules ??= await get("/assets/rules.json").catch(() => null);
      setShown(clause);
      dialog.current.open || dialog.current.showModal();
    };
  }, []);
  const text = shown && rules?.[shown];
  return html`<dialog ref=${dialog} class="rule" aria-label=${shown && t("clause.open", { clause: shown })}
      onClick=${(e) => e.target === dialog.current && dialog.current.close()}>
    <div><h2>${shown}</h2><p lang="en">${text ? linked(text) : "–"}</p>
    <form method="dialog"><button>${t("close")}</button></form></div>
  </dialog>`;
}

const linked = (text) =>
  text.split(/\b([TKFCSHR]\d{1,2})\b/).map((piece, i) =>
    i % 2 && rules[piece] ? html`<button type="button" class="clause" onClick=${() => opened(piece)}>${piece}</button>` : piece);
