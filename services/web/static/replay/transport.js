// Moving through the hand: buttons, slider, keyboard, play at a speed, and the step in the address.

import { html, useEffect, useLayoutEffect, useRef, useState } from "/assets/vendor/preact.js";
import { fragment, setFragment } from "/assets/base/fragment.js";
import { t } from "/assets/base/language.js";

const STEP_MS = 1100;
const SPEEDS = [0.5, 1, 2, 4];
const ADDRESS_MS = 200; // browsers forbid writing the address too often

const clamp = (value, last) => Math.min(Math.max(value, 0), last);
const addressed = (last, url) => clamp((Number.parseInt(fragment(url).get("step"), 10) || 1) - 1, last);

/** The step that is shown, from 0, and the acts that change it. */
export function useTransport(count) {
  const last = count - 1;
  const [at, setAt] = useState(addressed(last));
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);
  const go = (to) => {
    setPlaying(false);
    setAt((now) => clamp(typeof to === "function" ? to(now) : to, last));
  };
  const toggle = () => {
    if (!playing && at === last) setAt(0);
    setPlaying(!playing);
  };
  useEffect(() => {
    // By the event's own address: the one of the page may be written anew before the event comes.
    const jump = ({ newURL }) => fragment(newURL).has("step") && go(addressed(last, newURL));
    addEventListener("hashchange", jump);
    return () => removeEventListener("hashchange", jump);
  }, [last]);
  useEffect(() => {
    const writing = setTimeout(() => setFragment({ step: at + 1 }), ADDRESS_MS);
    return () => clearTimeout(writing);
  }, [at]);
  useEffect(() => {
    if (!playing) return undefined;
    if (at === last) return setPlaying(false);
    const next = setTimeout(() => setAt(at + 1), STEP_MS / speed);
    return () => clearTimeout(next);
  }, [playing, at, speed]);
  const acts = { go, toggle, back: () => go((now) => now - 1), forward: () => go((now) => now + 1), first: () => go(0), end: () => go(last) };
  useKeys(acts);
  return { at, last, playing, speed, setSpeed, ...acts };
}

/** ← → Home End Space, wherever the focus is but in what has a use of its own for them. */
function useKeys(acts) {
  const current = useRef(acts);
  current.current = acts;
  // Before the table is seen, so that no key pressed then is lost.
  useLayoutEffect(() => {
    const pressed = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      const { back, forward, first, end, toggle } = current.current;
      const act = { ArrowLeft: back, ArrowRight: forward, Home: first, End: end, " ": toggle }[event.key];
      const on = event.target.closest("input:not([type=range]), select, textarea, button, a, summary");
      if (!act || (on && (event.key === " " || !on.matches("button, a, summary")))) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

const ICONS = {
  first: "M6 5h2.500v14H6zM19 5v14L9.500 12z", back: "M16 5v14L6.500 12z", play: "M8 5v14l11-7z", pause: "M7 5h3.500v14H7zM13.500 5H17v14h-3.500z",
  forward: "M8 5v14l9.500-7z", last: "M15.500 5H18v14h-2.500zM5 5v14l9.500-7z",
  link: "M10.600 13.400a4 4 0 0 1 0-5.700l3-3a4 4 0 0 1 5.700 5.700l-1.500 1.500-1.400-1.400 1.500-1.500a2 2 0 1 0-2.900-2.900l-3 3a2 2 0 0 0 0 2.900zm2.800-2.800a4 4 0 0 1 0 5.700l-3 3a4 4 0 0 1-5.700-5.700l1.500-1.500 1.400 1.400-1.500 1.500a2 2 0 1 0 2.900 2.900l3-3a2 2 0 0 0 0-2.900z",
};
const Icon = ({ name }) => html`<svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><path fill="currentColor" d=${ICONS[name]} /></svg>`;

export function Transport({ transport }) {
  const { at, last, playing, speed, setSpeed, go, toggle, back, forward, first, end } = transport;
  const [said, say] = useState("");
  const copy = async () => {
    setFragment({ step: at + 1 });
    say(await navigator.clipboard.writeText(location.href).then(() => t("link.copied"), () => t("copy.failed")));
    setTimeout(() => say(""), 4000);
  };
  const button = (name, label, act, off) => html`<button type="button" class="icon ${name}" title=${label} aria-label=${label} disabled=${off}
    onClick=${act}><${Icon} name=${name} /></button>`;
  return html`<div class="transport" role="toolbar" aria-label=${t("step")}>
    <input type="range" min="1" max=${last + 1} value=${at + 1} aria-label=${t("step")} aria-valuetext=${t("step.of", { n: at + 1, all: last + 1 })}
      onInput=${(e) => go(Number(e.target.value) - 1)} />
    <div class="buttons">
      ${button("first", t("first"), first, at === 0)}${button("back", t("back"), back, at === 0)}
      ${button(playing ? "pause" : "play", playing ? t("pause") : t("play"), toggle)}
      ${button("forward", t("forward"), forward, at === last)}${button("last", t("last"), end, at === last)}
      <output class="count">${t("step.of", { n: at + 1, all: last + 1 })}</output>
      <label class="speed"><span class="hidden">${t("speed")}</span><select value=${speed} onChange=${(e) => setSpeed(Number(e.target.value))}>${
        SPEEDS.map((each) => html`<option value=${each}>× ${each}</option>`)}</select></label>
      ${button("link", t("link"), copy)}
      <span class="told muted" role="status">${said}</span>
      <span class="keys muted">${t("keys")}</span>
    </div>
  </div>`;
}
