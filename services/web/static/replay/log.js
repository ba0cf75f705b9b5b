// The log of the hand in words: each step a link to itself, with the clauses by which it came.

import { html, useEffect, useRef } from "/assets/vendor/preact.js";
import { language, t } from "/assets/base/language.js";
import { Clauses } from "/assets/replay/clauses.js";
import { Told } from "/assets/replay/telling.js";

export function Log({ steps, at }) {
  const list = useRef(null);
  useEffect(() => {
    // Only the list moves, never the page.
    const [box, item] = [list.current, list.current.children[at]];
    const top = item.offsetTop - box.offsetTop;
    if (top < box.scrollTop || top + item.offsetHeight > box.scrollTop + box.clientHeight) {
      box.scrollTop = top - box.clientHeight / 2;
    }
  }, [at]);
  return html`<section class="panel log" aria-labelledby="log"><h2 id="log">${t("log")}</h2>
    <ol ref=${list} tabindex="0" aria-labelledby="log">${steps.map((step, i) => html`<li key=${step.seq} class=${i === at ? "now" : i > at ? "later" : ""}
      aria-current=${i === at ? "step" : undefined}>
      <a href=${`#step=${i + 1}`} class="no" aria-label=${`${t("step")} ${i + 1}`}>${i + 1}</a>
      <span class="text"><${Told} step=${step} language=${language()} /> <${Clauses} clauses=${step.clauses} /></span></li>`)}</ol>
  </section>`;
}
