// The page of ops: how the whole service stands, asked for every two seconds, and tables in their care.

import { html, useEffect, useRef, useState } from "/assets/vendor/preact.js";
import { Problem, get } from "/assets/base/api.js";
import { addWords, moment, t } from "/assets/base/language.js";
import { Loading, ProblemBox, show } from "/assets/base/page.js";
import { Alarms, Now } from "/assets/ops/now.js";
import { Books } from "/assets/ops/books.js";
import { Care, Halted, opened } from "/assets/ops/care.js";
import { Projections } from "/assets/ops/projections.js";
import { Waiting } from "/assets/ops/waiting.js";
import { WORDS } from "/assets/ops/words.js";

addWords(WORDS);

const EVERY_MS = 2000;

/** The newest status and those before it (for rates); asked for while the page is seen and not paused. */
function useStatus(going) {
  const [state, setState] = useState({ seen: [] });
  const asking = useRef(null);
  const ask = async () => {
    if (asking.current || document.hidden) return;
    asking.current = new AbortController();
    try {
      const value = await get("/v1/ops/status", {}, asking.current.signal);
      setState(({ seen }) => ({ seen: [...seen, value].slice(-6) }));
    } catch (problem) {
      if (problem.name !== "AbortError") setState(({ seen }) => ({ seen, problem }));
    } finally {
      asking.current = null;
    }
  };
  useEffect(() => {
    if (!going) return undefined;
    ask();
    const timer = setInterval(ask, EVERY_MS);
    addEventListener("visibilitychange", ask);
    return () => {
      clearInterval(timer);
      removeEventListener("visibilitychange", ask);
      asking.current?.abort();
    };
  }, [going]);
  return { ...state, again: ask };
}

function Ops({ session }) {
  if (session === null) return html`<${ProblemBox} problem=${new Problem({ code: "not_authenticated" })} />`;
  if (session.role !== "ops") return html`<${ProblemBox} problem=${new Problem({ code: "not_allowed" })} />`;
  return html`<${Situation} session=${session} />`;
}

function Situation({ session }) {
  const [going, setGoing] = useState(true);
  const [table, setTable] = useState(opened());
  const { seen, problem, again } = useStatus(going);
  useEffect(() => {
    const followed = () => setTable(opened());
    addEventListener("hashchange", followed);
    return () => removeEventListener("hashchange", followed);
  }, []);
  const status = seen.at(-1);
  const away = problem && html`<${ProblemBox} problem=${problem} retry=${again} />`;
  if (!status) return html`<h1>${t("ops.title")}</h1>${away || html`<${Loading} />`}`;
  return html`
    <div class="top"><h1>${t("ops.title")}</h1>
      <p class="muted asof">${t("ops.asof", { at: moment(status.at_ms) })}</p>
      <button type="button" aria-pressed=${!going} onClick=${() => setGoing(!going)}>${t(going ? "ops.pause" : "ops.go_on")}</button></div>
    ${away}
    ${away && html`<p class="muted">${t("ops.stale", { at: moment(status.at_ms) })}</p>`}
    ${!going && html`<p class="paused" role="status">${t("ops.paused")}</p>`}
    <${Alarms} status=${status} />
    <${Now} seen=${seen} />
    <${Projections} seen=${seen} />
    <div class="columns">
      <div><${Care} table=${table} session=${session} moved=${again} />
        <${Halted} status=${status} />
        <${Waiting} status=${status} /></div>
      <${Books} status=${status} />
    </div>`;
}

show(Ops, () => t("ops.title"));
