// The table as it stood after a step: drawn from the step alone, with the one before it for what has just gone.

import { html } from "/assets/vendor/preact.js";
import { Card, InlineCard, Pip } from "/assets/base/cards.js";
import { language, t } from "/assets/base/language.js";
import { money } from "/assets/base/money.js";
import { places } from "/assets/replay/places.js";

/** The trick that lies on the table; the step that gives it away still shows it, and who took it. */
function trickOf(step, before) {
  const taken = step.event.type === "trick_taken";
  return { cards: taken && before ? before.hand.trick : step.hand.trick, winner: taken ? step.event.seat : null };
}

export function Table({ step, before, first }) {
  const { hand, held } = step;
  const open = new Map(held.map((each) => [each.seat, each.cards]));
  const start = Math.max(0, hand.players.findIndex((p) => p.seat === first));
  const around = [...hand.players.slice(start), ...hand.players.slice(0, start)];
  const { rows, of, trick: lies } = places(around.length);
  const place = new Map(around.map((p, i) => [p.seat, of[i]]));
  const lying = new Map(around.map((p, i) => [p.seat, lies[i]]));
  const trick = trickOf(step, before);
  return html`<div class="table${rows === 2 ? " two-rows" : rows === 3 ? " three-rows" : ""}${rows > 4 ? " long" : ""}${around.length > 6 ? " crowd" : ""}" style=${{ "--rows": rows }} role="group" aria-label=${t("table")}>
    <div class="felt"></div>
    <${Middle} hand=${hand} />
    ${trick.cards.map(({ seat, card }) => html`<div class="played" key=${card} style=${lying.get(seat)}>
      <${Card} card=${card} small lit=${trick.winner === seat}
        note=${`${playerAt(hand, seat).player}${trick.winner === seat ? `, ${t("won")}` : ""}`} /></div>`)}
    <ul class="seats">${around.map((player) => html`<${Seat} key=${player.seat} player=${player} hand=${hand}
      cards=${open.get(player.seat)} event=${step.event} place=${place.get(player.seat)} />`)}</ul>
  </div>`;
}

export const playerAt = (hand, seat) => hand.players.find((p) => p.seat === seat);

function Middle({ hand }) {
  return html`<div class="middle">
    <div class="pile">
      ${hand.trump_card && html`<figure><${Card} card=${hand.trump_card} small dim=${hand.trump_taken} />
        <figcaption>${t("trump")} <span class="suit-mark suit-${hand.trump_card[1]}"><${Pip} suit=${hand.trump_card[1]} /></span>
          ${hand.trump_taken && html`<br />${t("trump.taken")}`}</figcaption></figure>`}
      ${hand.stock > 0 && html`<figure><span class="deck"><${Card} card=${null} small /></span>
        <figcaption><span aria-hidden="true">× ${hand.stock}</span>
          <span class="hidden">${t("stock")}: ${t("stock.cards", { n: hand.stock })}</span></figcaption></figure>`}
    </div>
    <p class="bank"><span>${t("bank")}</span> <b>${money(hand.bank, language())}</b></p>
    ${hand.deal_no > 0 && html`<p class="where">${hand.deal_no > 1 && `${t("deal.no", { n: hand.deal_no })}, `}${
      hand.circle > 0 && t("circle.no", { n: hand.circle })}</p>`}
  </div>`;
}

const LENGTHY = 13; // a name with more letters is written smaller

function Seat({ player, hand, cards, event, place }) {
  const acts = event.seat === player.seat;
  const out = player.status === "passed" && player.cards === 0;
  const shown = cards ?? Array(player.cards).fill(null);
  const status = player.status && player.status !== "passed" ? t(`status.${player.status}`) : player.status === "passed" ? t("status.passed") : "";
  return html`<li class="seat${acts ? " acts" : ""}${player.status === "passed" ? " out" : ""}${
    hand.declarer === player.seat ? " declarer" : ""}" style=${place}>
    <div class="name${player.player.length > LENGTHY ? " lengthy" : ""}">${hand.dealer === player.seat && html`<span class="button" title=${t("dealer")} role="img" aria-label=${t("dealer")}>D</span>`}
      <b title=${player.player}>${player.player}</b></div>
    ${shown.length > 0 && html`<div class="fan" style=${{ "--n": shown.length }}>${shown.map(
      (card, i) => html`<${Card} key=${card ?? i} card=${card} small />`)}</div>`}
    ${!out && shown.length === 0 && html`<div class="fan empty"></div>`}
    <div class="state">${status && html`<span class="status" title=${status}>${status}</span>`}
      ${player.tricks > 0 && html`<span class="tricks">${t("tricks", { n: player.tricks })}</span>`}</div>
    <div class="purse"><span class="hidden">${t("purse")} </span>${money(player.purse, language())}</div>
    ${acts && html`<${Said} event=${event} />`}
  </li>`;
}

/** What the step's player has just done, at his seat. */
function Said({ event }) {
  const said = saying(event);
  return said && html`<div class="said" aria-hidden="true">${said}${event.by === "clock" && html` <${Clock} />`}</div>`;
}

const Clock = () => html`<svg class="pip" viewBox="0 0 24 24"><path d="M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm0 2.200a7.800 7.800 0 1 1 0 15.600 7.800 7.800 0 0 1 0-15.600zM11 7v6l4.600 2.700 1-1.700-3.600-2.100V7z" /></svg>`;

function saying(event) {
  switch (event.type) {
    case "declared": return t(`word.${event.do}`);
    case "cards_looked": return t("word.look");
    case "cards_discarded": return `− ${event.count}`;
    case "cards_drawn": return event.trump_card
      ? html`+ <${InlineCard} card=${event.trump_card} />${event.count > 0 && ` ${event.count}`}` : `+ ${event.count}`;
    case "trick_taken": return t("won");
    case "share_paid": return `+ ${money(event.amount, language())}`;
    case "commission_taken": return `− ${money(event.amount, language())}`;
    case "fine_paid": return `− ${money(event.paid, language())}`;
    case "bank_topped_up": return `− ${money(event.amount, language())}`;
    default: return null;
  }
}
