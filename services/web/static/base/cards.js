// Cards as people know them: drawn, so that no font or emoji decides what they look like; read aloud by name.

import { html } from "/assets/vendor/preact.js";
import { addWords, language, t } from "/assets/base/language.js";

addWords({
  en: {
    "suit.s": "spades", "suit.h": "hearts", "suit.d": "diamonds", "suit.c": "clubs",
    "rank.J": "jack", "rank.Q": "queen", "rank.K": "king", "rank.A": "ace", "card": "{rank} of {suit}",
    "card.down": "a card face down",
  },
  ru: {
    "suit.s": "пик", "suit.h": "червей", "suit.d": "бубён", "suit.c": "треф",
    "rank.J": "валет", "rank.Q": "дама", "rank.K": "король", "rank.A": "туз", "card": "{rank} {suit}",
    "card.down": "карта рубашкой вверх",
  },
});

const PIPS = {
  s: "M12 2c2.600 4.300 8.500 6.900 8.500 11.800a4.300 4.300 0 0 1-7.400 3c.1 2 .8 3.600 2.400 5.200h-7c1.600-1.600 2.300-3.200 2.400-5.200a4.300 4.300 0 0 1-7.400-3C3.500 8.900 9.400 6.300 12 2z",
  h: "M12 21.500C9 17.800 2.500 14 2.500 8.300A4.900 4.900 0 0 1 12 6.200a4.900 4.900 0 0 1 9.500 2.100C21.500 14 15 17.800 12 21.500z",
  d: "M12 1.500c2 3.800 4.600 7.300 7.600 10.500-3 3.200-5.600 6.700-7.600 10.500-2-3.800-4.600-7.300-7.600-10.500 3-3.200 5.600-6.700 7.600-10.500z",
  c: "M12 2a4.600 4.600 0 0 1 4 6.900 4.700 4.700 0 1 1-3.100 7.900c.1 2 .8 3.600 2.400 5.200H8.700c1.600-1.600 2.300-3.200 2.400-5.200A4.700 4.700 0 1 1 8 8.900 4.600 4.600 0 0 1 12 2z",
};
const RANKS = {
  en: { T: "10" },
  ru: { T: "10", J: "В", Q: "Д", K: "К", A: "Т" },
};

export const rankOf = (card) => RANKS[language()][card[0]] ?? card[0];
export const cardName = (card) =>
  t("card", { rank: t(`rank.${card[0]}`).startsWith("rank.") ? rankOf(card) : t(`rank.${card[0]}`), suit: t(`suit.${card[1]}`) });

export const Pip = ({ suit }) =>
  html`<svg class="pip" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${PIPS[suit]} /></svg>`;

/** A card face up; null is one face down. `note` joins its name for who hears the page. */
export function Card({ card, small, dim, lit, note }) {
  const classes = `card${small ? " small" : ""}${dim ? " dim" : ""}${lit ? " lit" : ""}`;
  if (card === null) return html`<span class="${classes} down" role="img" aria-label=${t("card.down")}></span>`;
  const label = note ? `${cardName(card)}, ${note}` : cardName(card);
  return html`<span class="${classes} suit-${card[1]}" role="img" aria-label=${label}>
    <span class="corner"><b>${rankOf(card)}</b><${Pip} suit=${card[1]} /></span>
    <${Pip} suit=${card[1]} />
  </span>`;
}

/** A card in running text. */
export const InlineCard = ({ card }) =>
  html`<span class="inline-card suit-${card[1]}" role="img" aria-label=${cardName(card)}>${rankOf(card)}<${Pip} suit=${card[1]} /></span>`;
