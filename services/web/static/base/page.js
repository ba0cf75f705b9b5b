// What every page has: the head with its links and switches, the visitor's session, and how a problem is shown.

import { html, render, useEffect, useState } from "/assets/vendor/preact.js";
import { Problem, get, send } from "/assets/base/api.js";
import { fragment, setFragment } from "/assets/base/fragment.js";
import { LANGUAGES, addWords, hasWords, language, moment, setLanguage, t } from "/assets/base/language.js";
import { WORDS } from "/assets/base/words.js";

addWords(WORDS);

const SUITS = "khrap_suits";

/** Links of the head, and who is shown them; null is anybody. */
export const LINKS = [
  { path: "/", word: "nav.home", roles: null },
  { path: "/review", word: "nav.review", roles: ["player", "compliance"] },
  { path: "/reports", word: "nav.reports", roles: ["operator", "compliance"] },
  { path: "/ops", word: "nav.ops", roles: ["ops"] },
];

/** Show `View`, which is given `session` ({subject, role, expires_ms}, or null), as this page; `title()` names it. */
export function show(View, title) {
  render(html`<${Page} view=${View} title=${title} />`, document.getElementById("page"));
}

/** A one-time code in the address is exchanged for the session, and taken out of the address before it is sent. */
async function signedIn() {
  const code = fragment().get("code");
  if (code !== null) {
    setFragment({ code: null });
    await send("POST", "/v1/session", { code });
  }
  const session = await get("/v1/session");
  return session.subject === null ? null : session;
}

function Page({ view: View, title }) {
  const [spoken, speak] = useState(language());
  const [session, setSession] = useState(undefined);
  const [problem, setProblem] = useState(null);
  const [four, setFour] = useState(localStorage.getItem(SUITS) === "four");
  const enter = () => {
    setProblem(null);
    signedIn().then(setSession, (error) => {
      setProblem(error);
      get("/v1/session").then((s) => setSession(s.subject === null ? null : s), () => setSession(null));
    });
  };
  useEffect(enter, []);
  useEffect(() => {
    // A sign-in link opened in a tab that is here already changes the fragment alone.
    const entered = () => fragment().has("code") && enter();
    addEventListener("hashchange", entered);
    return () => removeEventListener("hashchange", entered);
  }, []);
  useEffect(() => {
    document.title = `${title()} · ${t("site")}`;
  }, [spoken]);
  useEffect(() => {
    document.documentElement.dataset.suits = four ? "four" : "two";
    localStorage.setItem(SUITS, four ? "four" : "two");
  }, [four]);
  const leave = () => send("DELETE", "/v1/session").then(() => location.assign("/"), setProblem);
  const choose = (chosen) => {
    setLanguage(chosen);
    speak(chosen);
  };
  return html`
    <a class="skip" href="#content">${t("skip")}</a>
    <header class="head">
      <a class="brand" href="/"><img src="/assets/base/icon.svg" alt="" width="28" height="28" />${t("site")}</a>
      <nav aria-label=${t("nav")}>${LINKS.filter(({ roles }) => roles === null || roles.includes(session?.role)).map(
        ({ path, word }) =>
          html`<a href=${path} aria-current=${location.pathname === path ? "page" : undefined}>${t(word)}</a>`,
      )}</nav>
      <div class="switches">
        <label class="switch"><input type="checkbox" checked=${four} onChange=${(e) => setFour(e.target.checked)} />
          <span>${t("suits")}</span></label>
        <div class="languages" role="group" aria-label=${t("language")}>${Object.entries(LANGUAGES).map(
          ([code, name]) => html`<button type="button" lang=${code} title=${name} aria-label=${name}
            aria-pressed=${spoken === code} onClick=${() => choose(code)}>${code.toUpperCase()}</button>`,
        )}</div>
        ${session && html`<span class="who" title=${t("session.until", { at: moment(session.expires_ms) })}>
          <b>${session.subject}</b> <span class="role">${t(`role.${session.role}`)}</span></span>
          <button type="button" class="quiet" onClick=${leave}>${t("session.out")}</button>`}
        ${session === null && html`<span class="who muted">${t("session.none")}</span>`}
      </div>
    </header>
    <main id="content" tabindex="-1">
      ${problem && html`<${ProblemBox} problem=${problem} />`}
      ${session === undefined ? html`<${Loading} />` : html`<${View} session=${session} language=${spoken} />`}
    </main>`;
}

export const Loading = () => html`<p class="loading" role="status">${t("loading")}</p>`;

const FOR_GOOD = [400, 401, 403, 404, 422]; // the same request is answered the same

/** What went wrong, in words; `retry`, where it may help; `children`, where to go instead. */
export function ProblemBox({ problem, retry, children }) {
  const known = problem instanceof Problem;
  if (!known) console.error(problem);
  const code = known ? problem.code : "unreadable";
  const title = hasWords(`problem.${code}`) ? t(`problem.${code}`) : problem.title;
  const detail = hasWords(`problem.${code}.detail`) ? t(`problem.${code}.detail`) : problem.detail;
  return html`<div class="problem" role="alert">
    <strong>${title}</strong>
    <p>${detail}${problem.clause && html` <span class="clause">${problem.clause}</span>`}</p>
    ${children && html`<p>${children}</p>`}
    ${retry && !FOR_GOOD.includes(problem.status) && html`<button type="button" onClick=${retry}>${t("retry")}</button>`}
  </div>`;
}

/** The state of something that was asked for: {value}, {problem} or neither yet; asked anew when `wanted` changes. */
export function useAnswer(ask, wanted) {
  const [answer, setAnswer] = useState({});
  const [round, setRound] = useState(0);
  useEffect(() => {
    const given = new AbortController();
    setAnswer({});
    ask(given.signal).then(
      (value) => given.signal.aborted || setAnswer({ value }),
      (problem) => given.signal.aborted || setAnswer({ problem }),
    );
    return () => given.abort();
  }, [...wanted, round]);
  return { ...answer, again: () => setRound(round + 1) };
}
