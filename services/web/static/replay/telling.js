// A step in words.

import { html } from "/assets/vendor/preact.js";
import { InlineCard } from "/assets/base/cards.js";
import { hasWords, language, pieces, t } from "/assets/base/language.js";
import { money } from "/assets/base/money.js";
import { playerAt } from "/assets/replay/table.js";

const name = (player) => html`<b>${player}</b>`;
const amount = (minor) => html`<span class="amount">${money(minor, language())}</span>`;
const cardsOf = (cards) => cards.map((card) => html`<${InlineCard} card=${card} /> `);

/** Which message tells the event, and what stands in its places. `hand` is the hand after it. */
function message(event, hand) {
  const at = (seat) => name(playerAt(hand, seat).player);
  const who = event.player !== undefined ? name(event.player) : event.seat !== undefined && playerAt(hand, event.seat) ? at(event.seat) : "";
  const told = (key, given = {}) => [`log.${key}`, { player: who, ...given }];
  const some = event.cards ? cardsOf(event.cards) : t("cards.count", { n: event.count ?? 0 });
  switch (event.type) {
    case "hand_started": return told(event.type, { dealer: at(event.dealer), bank: amount(hand.bank) });
    case "cards_dealt": return event.deal_no > 1 ? told("cards_dealt.again", { n: event.deal_no }) : told(event.type);
    case "trump_turned": {
      const card = html`<${InlineCard} card=${event.card} />`;
      return event.circle > 1 ? told("trump_turned.again", { card, n: event.circle }) : told(event.type, { card });
    }
    case "declared": return told(event.type, { word: html`<em>${t(`word.${event.do}`)}</em>` });
    case "cards_discarded": return event.count ? told(event.type, { cards: some }) : told("cards_discarded.none");
    case "cards_drawn": {
      if (!event.count && !event.trump_card) return told("cards_drawn.none");
      if (!event.trump_card) return told(event.type, { cards: some });
      const card = html`<${InlineCard} card=${event.trump_card} />`;
      return event.count ? told("cards_drawn.both", { card, cards: some }) : told("cards_drawn.trump", { card });
    }
    case "time_bank_used": return told(event.type, { s: (event.ms / 1000).toFixed(1) });
    case "four_aces_shown": return told(event.type, { cards: cardsOf(event.cards) });
    case "card_played": return told(event.type, { card: html`<${InlineCard} card=${event.card} />` });
    case "trick_taken": return told(event.type, { n: event.trick });
    case "fine_paid": return event.paid === event.due
      ? told(event.type, { amount: amount(event.paid) })
      : told("fine_paid.capped", { due: amount(event.due), amount: amount(event.paid) });
    case "hand_settled":
      return told(event.type, { amount: amount(event.result.carried_bank), dealer: at(event.result.next_dealer) });
    default: {
      const given = {};
      if (event.amount !== undefined) given.amount = amount(event.amount);
      if (event.reason !== undefined) given.reason = event.reason;
      return told(event.type, given);
    }
  }
}

/** The sentence of a step, as elements. */
export function Told({ step }) {
  const [key, given] = message(step.event, step.hand);
  if (!hasWords(key)) return html`<span>${step.event.type.replaceAll("_", " ")}</span>`;
  return html`<span>${pieces(key, given)}${step.event.by === "clock" && html` <span class="muted">(${t("by.clock")})</span>`}</span>`;
}
