"""What the signals are, in one place: what is counted, and from where on it is listed. Source: T7, T11, T12, K15, K16.

Told from what all could see once the hand was over: words, cards played, results. A signal proves nothing: people look
at the hands that it rests on and decide. Hands are taken as they were recorded, whether or not corrected since (R5).

- `pair`: in a settled hand each player's purse rises or falls. What one lost to another there is his loss times the
  other's gain, divided by the greater of all losses and all gains of the hand, rounded down: the rest came from, or
  went to, the carried bank or the house. `chances`: settled hands dealt to both; `times`: those in which he lost to the
  other; `amount`: what he lost to him, `won`: what he won from him.
- `dumped`: at a trick he played last, so that all else of it lay open, and chose: by K15 he could have played a card
  that takes it from the other, and one that does not. `chances`: such choices; `times`: those in which he left the
  trick to the other; `amount`: the fines that he owed in these hands for want of tricks. What he held is known from
  what he played later; hands that end without play have none of it.
- `clock`: a decision is the first word, draw, discard or card of a command. `times`: those that the clock made when at
  least the time of a turn had passed since the decision was opened (T11); `chances`: these and his own. What the clock
  did earlier (no choice left, a leaver) is neither. `time_bank_ms`: what he used of the time bank.
- `short_purse`: T7. `chances`: settled hands in which he was in play; `times`: those with a bank that was more than
  what was left in his purse after his antes and top-ups, so that it could not have covered one bank, the least fine
  there is; `amount`: the fines, or parts of them, that he owed and did not pay.
- `voided`: T12. `times`: hands dealt to him that were voided, `by_ops` of them by two of ops; `chances`: his hands.
"""

from __future__ import annotations

from typing import Literal, get_args

Kind = Literal["pair", "dumped", "clock", "short_purse", "voided"]
KINDS: tuple[Kind, ...] = get_args(Kind)

PAIR_HANDS, PAIR_TIMES_WON = 10, 4
DUMPED_TRICKS = 3
CLOCK_DECISIONS, CLOCK_ONE_IN = 10, 10
SHORT_HANDS, SHORT_ONE_IN = 3, 4
VOIDED_HANDS = 3

LISTED_FROM = {
    "pair_hands": PAIR_HANDS,
    "pair_times_won": PAIR_TIMES_WON,
    "dumped_tricks": DUMPED_TRICKS,
    "clock_decisions": CLOCK_DECISIONS,
    "clock_one_in": CLOCK_ONE_IN,
    "short_hands": SHORT_HANDS,
    "short_one_in": SHORT_ONE_IN,
    "voided_hands": VOIDED_HANDS,
}
"""The bounds, as the query takes them."""

DEFINITIONS: dict[Kind, str] = {
    "pair": (
        f"Dealt in together {PAIR_HANDS} times or more, in at least half of the player's hands, and he lost to "
        f"the other at least {PAIR_TIMES_WON} times what he won from him. A loss is shared among those who gained."
    ),
    "dumped": (
        f"Playing last he could have taken a trick from the other, and chose a card that left it to him: "
        f"{DUMPED_TRICKS} tricks or more, and at least half of such choices. Fines: what he owed in these hands."
    ),
    "clock": (
        f"Decisions left to the clock until the time of the turn was over: {CLOCK_DECISIONS} or more, and at least one "
        f"in {CLOCK_ONE_IN} of his decisions."
    ),
    "short_purse": (
        f"In play with less in the purse than one bank, the least fine there is (T7): in {SHORT_HANDS} hands or more, "
        f"and at least one in {SHORT_ONE_IN} of those in which he was in play."
    ),
    "voided": f"Dealt into hands that were voided (T12): {VOIDED_HANDS} or more, or any by ops.",
}
"""The same in short, for each row."""
