// What of the hand was checked, as badges that open to the numbers.

import { html, useState } from "/assets/vendor/preact.js";
import { t } from "/assets/base/language.js";

const MARKS = { holds: "✓", sealed: "✓", fails: "✗", not_checked: "–", not_sealed: "–" };
const SEALED = { holds: "sealed", fails: "fails", not_checked: "not_sealed" };

const Facts = ({ facts }) => html`<dl class="facts">${facts.filter(([, value]) => value !== null && value !== undefined).map(
  ([name, value]) => html`<dt>${name}</dt><dd class="mono">${value}</dd>`)}</dl>`;
const Findings = ({ findings }) => findings.length > 0 && html`<ul class="findings">${findings.map(
  ({ field, message }) => html`<li><code>${field}</code> ${message}</li>`)}</ul>`;

function Rules({ rules }) {
  return html`<p>${t("proof.rules.text", { n: rules.actions })}</p><${Findings} findings=${rules.problems} />
    ${rules.not_checked.length > 0 && html`<p class="muted">${t("proof.rules.unseen")}</p><${Findings} findings=${rules.not_checked} />`}`;
}

function Books({ books }) {
  if (books.state === "fails") return html`<p>${t("proof.books.differs")}</p><p class="mono">${books.reason}</p>`;
  return html`<p>${books.state === "holds" ? t("proof.books.text", { n: books.entries }) : t("proof.books.behind")}</p>`;
}

const Chain = ({ chain, step }) => html`<p>${t("proof.chain.text")}</p><${Facts} facts=${[
  [t("proof.chain.stream"), chain.stream], [t("proof.chain.events"), `${chain.first_seq}–${chain.last_seq}`],
  [t("proof.chain.before"), chain.before], [t("proof.hash"), step.hash], [t("proof.chain.head"), chain.head],
  [t("proof.chain.broken"), chain.broken_at]]} />`;

const Shuffle = ({ shuffle }) => html`<p>${shuffle.server_seed === null ? t("proof.shuffle.closed") : t("proof.shuffle.text", { n: shuffle.deals })}</p>
  <${Findings} findings=${shuffle.problems} /><${Facts} facts=${[
    [t("proof.shuffle.commitment"), shuffle.commitment], [t("proof.shuffle.seed"), shuffle.server_seed],
    ...shuffle.client_seeds.map(({ player, seed }) => [t("proof.shuffle.client", { player }), seed || t("proof.shuffle.none")])]} />`;

function Checkpoint({ checkpoint }) {
  if (checkpoint.number === null) return html`<p>${t("proof.checkpoint.none")}</p>`;
  return html`<p>${t("proof.checkpoint.text", { n: checkpoint.path })}</p><${Facts} facts=${[
    [t("proof.checkpoint.number"), html`<a href=${`/v1/audit/checkpoints/${checkpoint.number}`}>${checkpoint.number}</a>`],
    [t("proof.checkpoint.at"), checkpoint.at], [t("proof.checkpoint.hash"), checkpoint.hash],
    [t("proof.checkpoint.place"), `${checkpoint.part} / ${checkpoint.pos}`], [t("proof.checkpoint.size"), checkpoint.size],
    [t("proof.checkpoint.root"), checkpoint.root]]} />`;
}

/** Each check with its state. */
export const proofStates = ({ rules, books, chain, shuffle, checkpoint }) => [
  ["rules", rules.state], ["books", books.state], ["chain", chain.state], ["shuffle", shuffle.state], ["checkpoint", SEALED[checkpoint.state]]];

export function Proofs({ replay, step }) {
  const [open, setOpen] = useState(null);
  const numbers = {
    rules: html`<${Rules} rules=${replay.rules} />`, books: html`<${Books} books=${replay.books} />`, chain: html`<${Chain} chain=${replay.chain} step=${step} />`,
    shuffle: html`<${Shuffle} shuffle=${replay.shuffle} />`, checkpoint: html`<${Checkpoint} checkpoint=${replay.checkpoint} />`,
  };
  const badges = proofStates(replay).map(([name, state]) => [name, state, numbers[name]]);
  const shown = badges.find(([name]) => name === open);
  return html`<section class="proofs" aria-label=${t("proofs")}>
    <div class="badges">${badges.map(([name, state]) => html`<button type="button" key=${name} class="badge ${state}" aria-expanded=${open === name}
      aria-controls="proof" onClick=${() => setOpen(open === name ? null : name)}><span class="mark" aria-hidden="true">${MARKS[state]}</span>
      <span>${t(`proof.${name}`)}</span> <small>${t(`state.${state}`)}</small></button>`)}</div>
    <div id="proof" class="panel" hidden=${!shown}>${shown && html`<h3>${t(`proof.${shown[0]}`)}: ${t(`state.${shown[1]}`)}</h3>${shown[2]}`}</div>
  </section>`;
}
