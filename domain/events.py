"""What happened, as frozen records: every event of a table, an account, a dispute. Source: DESIGN "Streams and events".

The stored type of an event is its tag and never changes; a new meaning is a new `VERSION`. Amounts are minor
units, times milliseconds since 1970 UTC, ids UUIDv7 text, secrets and hashes lower-case hex. The fields named in
`SECRETS` are sealed at rest under the key of the hand that `hand_id` names.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from msgspec import Struct

from domain.cards import Card
from domain.options import Options

By = Literal["player", "clock"]
"""Who acted: the player himself, or the clock for him (T11)."""

Disclosure = Literal["after_hand", "compliance_only"]


class Event(Struct, frozen=True, gc=False, kw_only=True, tag_field="type", omit_defaults=True):
    """What all events share; the moment and the author stand beside the event, not in it."""

    VERSION: ClassVar[int] = 1


# --- what the events are made of


class Settings(Struct, frozen=True, gc=False, kw_only=True):
    """T1: what a table is, fixed when it opens. `options` names the game."""

    currency: str
    stake: int
    entry_limit: int
    max_seats: int
    commission_bps: int
    options: Options
    rules: int = 1
    turn_ms: int = 15_000
    time_bank_ms: int = 20_000
    pause_ms: int = 3_000
    seed_disclosure: Disclosure = "after_hand"
    spectators: bool = True
    spectator_delay_ms: int = 0

    @property
    def game(self) -> str:
        """The game's name, as the options are tagged."""
        return str(type(self.options).__struct_config__.tag)


class Seat(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """A seated player between hands. T2, T3, T11.

    `purse` is as of the last settled hand; while a hand runs the purse of a dealt-in player is in the hand.
    `idle_since_ms` is since when he has not been ready (sitting out or short), earlier such times since he was last
    dealt in added; while he is ready, their length alone. `idle_hands` is how many hands he was not dealt into.
    """

    seat: int
    player: str
    purse: int
    buy_in: int
    auto_top_up: bool = False
    sitting_out: bool = False
    leaving: bool = False
    expiries: int = 0
    idle_hands: int = 0
    idle_since_ms: int | None = None


class Departure(Struct, frozen=True, gc=False, kw_only=True):
    """T2: what a player took away, when, and which carried bank he left behind (`bank_no`)."""

    player: str
    purse: int
    at_ms: int
    bank_no: int


class DealtIn(Struct, frozen=True, gc=False, kw_only=True):
    """Who was dealt into a hand, for T13."""

    seat: int
    player: str


class Halt(Struct, frozen=True, gc=False, kw_only=True):
    """Why a table is halted. `fault`: an alarm of the books, not a wish of ops (T12)."""

    reason: str
    fault: bool


class TableRecord(Struct, frozen=True, gc=False, kw_only=True):
    """The whole state of a table but the hand: a fold may begin at an event that holds one.

    `dealer` is the seat that deals next, None before the first hand (T14). `bank_no` counts the banks that were
    played for (T2). `turn` is the last decision that was opened.
    """

    settings: Settings
    seats: tuple[Seat, ...] = ()
    carried_bank: int = 0
    bank_no: int = 0
    hand_no: int = 0
    dealer: int | None = None
    last_dealt_in: tuple[DealtIn, ...] = ()
    departures: tuple[Departure, ...] = ()
    turn: int = 0
    ready_at_ms: int | None = None
    halt: Halt | None = None
    closing: bool = False


class SeatAmount(Struct, frozen=True, gc=False, kw_only=True):
    """An amount of one seat's, in minor units."""

    seat: int
    amount: int


class PlayerResult(Struct, frozen=True, gc=False, kw_only=True):
    """H: one dealt-in player's part of a hand's result."""

    seat: int
    status: str
    tricks: int
    share: int
    commission: int
    fine_due: int
    fine_paid: int
    purse: int


Ending = Literal["played", "four_aces", "uncontested", "voided"]


class Result(Struct, frozen=True, gc=False, kw_only=True):
    """H: the result of a hand. `bank` is B (T6), `carried_bank` what the next hand finds."""

    ending: Ending
    bank: int
    carried_bank: int
    next_dealer: int
    players: tuple[PlayerResult, ...]


# --- a table and its seats


class TableOpened(Event, frozen=True, kw_only=True, tag="table_opened"):
    """T1: a table opens."""

    settings: Settings


class HandCommitted(Event, frozen=True, kw_only=True, tag="hand_committed"):
    """S2: the table's next hand: its id, the commitment to its seed, and to the key it is sealed under."""

    hand_id: str
    commitment: str
    key_commitment: str
    server_seed: str = ""


class ClientSeedSet(Event, frozen=True, kw_only=True, tag="client_seed_set"):
    """S2: a player's seed for the next hand, hidden until it starts."""

    hand_id: str
    player: str
    client_seed: str = ""


class PlayerSat(Event, frozen=True, kw_only=True, tag="player_sat"):
    """T2: a player sits down with `buy_in` from his account."""

    seat: int
    player: str
    buy_in: int
    auto_top_up: bool = False


class PurseToppedUp(Event, frozen=True, kw_only=True, tag="purse_topped_up"):
    """T3: `amount` from the account to the purse, between hands."""

    seat: int
    player: str
    amount: int


class PlayerSatOut(Event, frozen=True, kw_only=True, tag="player_sat_out"):
    """T3, T11: not dealt in from the next hand on."""

    seat: int
    player: str
    by: By = "player"


class PlayerReturned(Event, frozen=True, kw_only=True, tag="player_returned"):
    """T3: dealt in again from the next hand on."""

    seat: int
    player: str


class LeaveRequested(Event, frozen=True, kw_only=True, tag="leave_requested"):
    """T3: leaves after the running hand; until then the clock acts for him at once."""

    seat: int
    player: str


class PlayerLeft(Event, frozen=True, kw_only=True, tag="player_left"):
    """T3: gone; `purse` goes back to his account. `reason`: left, idle (T3), closed (T13)."""

    seat: int
    player: str
    purse: int
    reason: Literal["left", "idle", "closed"] = "left"


class DeadlinesRenewed(Event, frozen=True, kw_only=True, tag="deadlines_renewed"):
    """T11: the clock was away; the open decision gets its full time anew."""


class TableStateWritten(Event, frozen=True, kw_only=True, tag="table_state_written"):
    """The state of a table between hands, so that a fold need not begin further back."""

    table: TableRecord
    hand_id: str
    commitment: str
    server_seed: str = ""
    client_seeds: tuple[tuple[str, str], ...] = ()


class TableHalted(Event, frozen=True, kw_only=True, tag="table_halted"):
    """No hand starts and no purse leaves until the table is resumed."""

    reason: str
    fault: bool = False


class TableResumed(Event, frozen=True, kw_only=True, tag="table_resumed"):
    """The table goes on."""

    reason: str


class PlayerCorrected(Struct, frozen=True, gc=False, kw_only=True):
    """R5: what a correction owes a player, below zero what he had too much, and what of that was moved and where."""

    seat: int
    player: str
    due: int
    moved: int
    to: Literal["purse", "account"] = "purse"


CorrectionBasis = Literal["rules", "returned"]
"""R5: the result that the rules give for the words and cards as played, or all given back as T12 has it."""


class HandCorrected(Event, frozen=True, kw_only=True, tag="hand_corrected"):
    """R5: two reviewers put a wrongly settled hand right; `result` counts in place of the recorded one.

    `bank_due` is the bank's part, `bank_moved` what of it was moved; `commission_due` is the difference to the house's
    commission. `resumes`: whether the table goes on by it.
    """

    hand_id: str
    dispute_id: str
    reviewers: tuple[str, ...]
    basis: CorrectionBasis
    result: Result
    players: tuple[PlayerCorrected, ...] = ()
    bank_due: int = 0
    bank_moved: int = 0
    commission_due: int = 0
    resumes: bool = True


class TableClosing(Event, frozen=True, kw_only=True, tag="table_closing"):
    """The table closes after the running hand."""

    reason: str


class BankReturned(Event, frozen=True, kw_only=True, tag="bank_returned"):
    """T13: a part of the carried bank to the account of a player who was dealt into the last settled hand."""

    seat: int
    player: str
    amount: int


class TableClosed(Event, frozen=True, kw_only=True, tag="table_closed"):
    """Nobody sits, nothing is in the bank, nothing more will happen."""


# --- a hand


class HandStarted(Event, frozen=True, kw_only=True, tag="hand_started"):
    """T4, T5: a full opening state of table and hand, antes not yet taken off the purses in `table`.

    `client_seeds` (hex) are in the order of `dealt_in`; they are public from here on (S2).
    """

    hand_id: str
    commitment: str
    dealer: int
    dealt_in: tuple[int, ...]
    ante: int
    client_seeds: tuple[str, ...]
    table: TableRecord
    server_seed: str = ""


class CardsDealt(Event, frozen=True, kw_only=True, tag="cards_dealt"):
    """K2, F2: a deal of this hand; `deck` is all of it, the first card dealt first."""

    hand_id: str
    deal_no: int
    deck: tuple[Card, ...] = ()


class TrumpTurned(Event, frozen=True, kw_only=True, tag="trump_turned"):
    """K2, K9, F4: a card of the stock is turned up; `circle` counts those of this deal from 1."""

    card: Card
    circle: int


class CardsLooked(Event, frozen=True, kw_only=True, tag="cards_looked"):
    """F2: a player looks at his cards."""

    seat: int


class Declared(Event, frozen=True, kw_only=True, tag="declared"):
    """K3 to K8, F3 to F8: a word of a circle."""

    seat: int
    do: str
    by: By = "player"


class CardsDiscarded(Event, frozen=True, kw_only=True, tag="cards_discarded"):
    """K6 to K8, K11, F7, F8: cards that go away unseen by others, chosen or because the word says so."""

    hand_id: str
    seat: int
    count: int
    by: By = "player"
    cards: tuple[Card, ...] = ()


class CardsDrawn(Event, frozen=True, kw_only=True, tag="cards_drawn"):
    """K6 to K8, F7, F8: `count` cards from the stock, and where it is named the turned trump card, seen by all."""

    hand_id: str
    seat: int
    count: int
    trump_card: Card | None = None
    by: By = "player"
    cards: tuple[Card, ...] = ()


class BankToppedUp(Event, frozen=True, kw_only=True, tag="bank_topped_up"):
    """F4, F5, C4, K10: a player adds to the bank in the course of the hand."""

    seat: int
    amount: int


class TimeBankUsed(Event, frozen=True, kw_only=True, tag="time_bank_used"):
    """T11: what a decision took of the player's time bank."""

    seat: int
    ms: int


class FourAcesShown(Event, frozen=True, kw_only=True, tag="four_aces_shown"):
    """K12: who was dealt four aces takes all tricks without play."""

    seat: int
    cards: tuple[Card, ...]


class CardPlayed(Event, frozen=True, kw_only=True, tag="card_played"):
    """K14, K15, F9."""

    seat: int
    card: Card
    by: By = "player"


class TrickTaken(Event, frozen=True, kw_only=True, tag="trick_taken"):
    """K16: `trick` counts from 1."""

    seat: int
    trick: int


class SharePaid(Event, frozen=True, kw_only=True, tag="share_paid"):
    """T9, C5: from the bank to the purse."""

    seat: int
    tricks: int
    amount: int


class CommissionTaken(Event, frozen=True, kw_only=True, tag="commission_taken"):
    """T10: from the purse to the house."""

    seat: int
    share: int
    amount: int


class FinePaid(Event, frozen=True, kw_only=True, tag="fine_paid"):
    """T7: from the purse to the bank of the next hand; `paid` may be less than `due`."""

    seat: int
    due: int
    paid: int


class HandSettled(Event, frozen=True, kw_only=True, tag="hand_settled"):
    """The whole result of a hand; the money has moved by the events before it."""

    hand_id: str
    result: Result


class VoidProposed(Event, frozen=True, kw_only=True, tag="void_proposed"):
    """T12: one of ops proposes to void the running hand; another must confirm."""

    hand_id: str
    reason: str
    proposer: str


class HandVoided(Event, frozen=True, kw_only=True, tag="hand_voided"):
    """T12: antes and top-ups go back. `cause`: no declarer, or two named ops (`ops`)."""

    hand_id: str
    cause: Literal["no_declarer", "ops"]
    reason: str
    returned: tuple[SeatAmount, ...]
    result: Result
    ops: tuple[str, ...] = ()


class SeedDisclosed(Event, frozen=True, kw_only=True, tag="seed_disclosed"):
    """S6: the hand's server seed is open from now on, to those whom the table's `seed_disclosure` names."""

    hand_id: str
    to: Disclosure
    used: bool = True
    server_seed: str = ""


# --- an account


class AccountOpened(Event, frozen=True, kw_only=True, tag="account_opened"):
    """T2: a player's account in one currency."""

    player: str
    currency: str


class Deposited(Event, frozen=True, kw_only=True, tag="deposited"):
    """Money from outside; `balance` is the one after, in every account event."""

    amount: int
    balance: int
    reference: str = ""


class Withdrawn(Event, frozen=True, kw_only=True, tag="withdrawn"):
    """Money to the outside."""

    amount: int
    balance: int
    reference: str = ""


class BoughtIn(Event, frozen=True, kw_only=True, tag="bought_in"):
    """T2, T3: from the account to the purse at a table."""

    table_id: str
    amount: int
    balance: int


class CashedOut(Event, frozen=True, kw_only=True, tag="cashed_out"):
    """T3, T13: a purse, or a part of a carried bank, back to the account."""

    table_id: str
    amount: int
    balance: int
    kind: Literal["purse", "bank"] = "purse"


class Adjusted(Event, frozen=True, kw_only=True, tag="adjusted"):
    """A compensation or correction by two reviewers; negative takes back. From `house:compensation`."""

    amount: int
    balance: int
    reason: str
    dispute_id: str = ""


# --- access to hidden cards


class HandExamined(Event, frozen=True, kw_only=True, tag="hand_examined"):
    """DESIGN "Audit": a privileged look at the hidden cards of a hand that is over: who, which hand, why."""

    hand_id: str
    table_id: str
    person: str
    what: Literal["view", "file", "bundle"]
    reason: str


class LogRestored(Event, frozen=True, kw_only=True, tag="log_restored"):
    """DESIGN "Streams and events": the log was restored from an older backup, and two named ops set it going again.

    `events` were in it then, and `vector` is the SHA-256 (hex) over the positions of its parts; `lost` is how many
    events are known to be lost, by who had passed them. `signature` (hex, Ed25519 under `key`) is over all of it.
    """

    ops: tuple[str, str]
    reason: str
    events: int
    vector: str
    lost: int
    key: str
    signature: str


class LogRestoreFinished(Event, frozen=True, kw_only=True, tag="log_restore_finished"):
    """DESIGN "Streams and events": all that follows from the `LogRestored` before it is done, and play may go on.

    `voided` hands were running; at `committed` tables the commitment of the next hand was made anew.
    """

    ops: tuple[str, str]
    voided: int
    committed: int


class KeyLost(Event, frozen=True, kw_only=True, tag="key_lost"):
    """S7: the master key is lost, and two named ops set the log going again under another.

    `events` were in it then, and `vector` is the SHA-256 (hex) over the positions of its parts. `signature` (hex,
    Ed25519 under `key`) is over all of it.
    """

    ops: tuple[str, str]
    reason: str
    events: int
    vector: str
    key: str
    signature: str


class KeyLossFinished(Event, frozen=True, kw_only=True, tag="key_loss_finished"):
    """S7: all that follows from the `KeyLost` before it is done, and play may go on.

    `voided` hands were running, at `committed` tables the commitment of the next hand was made anew, in the run of the
    command that came to the end; of an earlier one that did not, the tables tell.
    """

    ops: tuple[str, str]
    voided: int
    committed: int


class SessionOpened(Event, frozen=True, kw_only=True, tag="session_opened"):
    """A page's one-time code was used, by the first who came with it; its stream can be begun only once."""

    person: str
    role: str


class SessionEnded(Event, frozen=True, kw_only=True, tag="session_ended"):
    """The person of a page's session signed out: its cookie speaks for nobody any more."""

    person: str


# --- a dispute: `statement` and `text` hold what people wrote, sealed under the dispute's own key (R6)

OpenedAs = Literal["player", "reviewer"]
Outcome = Literal["upheld", "rejected"]
ErasedFor = Literal["request", "retention", "order"]
"""R6: a person asked for it, the time for which it is kept is over, or an authority ordered it."""


class DisputeOpened(Event, frozen=True, kw_only=True, tag="dispute_opened"):
    """R1: a player of a hand that is over, or a reviewer, disputes it. `players` were dealt in; `due_ms`: R3."""

    hand_id: str
    table_id: str
    currency: str
    opener: str
    role: OpenedAs
    players: tuple[DealtIn, ...]
    due_ms: int
    statement: str


class EvidenceFrozen(Event, frozen=True, kw_only=True, tag="evidence_frozen"):
    """R1: the hand is events `first_seq` to `last_seq` of its table's stream, whose hash is then `hash`.

    `head_seq` and `head_hash` are where the stream stood when the dispute was opened.
    """

    first_seq: int
    last_seq: int
    hash: str
    head_seq: int
    head_hash: str


class DisputeNoted(Event, frozen=True, kw_only=True, tag="dispute_noted"):
    """R3: a note of the opener or of a reviewer; the opener reads a reviewer's where it is `shared`."""

    person: str
    role: OpenedAs
    text: str
    shared: bool = False


class VerdictGiven(Event, frozen=True, kw_only=True, tag="verdict_given"):
    """R3: a named reviewer decides; `due_ms`: until when it is made good."""

    reviewer: str
    outcome: Outcome
    due_ms: int
    text: str


class CompensationProposed(Event, frozen=True, kw_only=True, tag="compensation_proposed"):
    """R4: one reviewer proposes to pay a player of the hand from the house; `proposal` counts from 1."""

    proposal: int
    reviewer: str
    player: str
    amount: int
    due_ms: int
    text: str


class CorrectionProposed(Event, frozen=True, kw_only=True, tag="correction_proposed"):
    """R5: one reviewer proposes to have the hand put right by the rules."""

    proposal: int
    reviewer: str
    due_ms: int
    text: str


class ProposalApproved(Event, frozen=True, kw_only=True, tag="proposal_approved"):
    """R4, R5: another reviewer approves; the same command moves the money."""

    proposal: int
    reviewer: str


class ProposalDropped(Event, frozen=True, kw_only=True, tag="proposal_dropped"):
    """R4, R5: nothing comes of a proposal: its author took it back, another reviewer declined, or it lapsed."""

    proposal: int
    why: Literal["withdrawn", "declined", "lapsed"]
    due_ms: int
    reviewer: str = ""


class DisputeOverdue(Event, frozen=True, kw_only=True, tag="dispute_overdue"):
    """R3: there is no verdict in time. The dispute stays open, until `due_ms` anew."""

    due_ms: int


class DisputeClosed(Event, frozen=True, kw_only=True, tag="dispute_closed"):
    """R3: nothing more is decided: a reviewer is done, the opener withdrew, or the time after the verdict is over."""

    why: Literal["done", "withdrawn", "expired"]
    person: str = ""


class TextsErased(Event, frozen=True, kw_only=True, tag="texts_erased"):
    """R6: the dispute's key is destroyed; its events stay, and their texts can be read by nobody."""

    person: str
    ground: ErasedFor


TableEvent = (
    TableOpened
    | HandCommitted
    | ClientSeedSet
    | PlayerSat
    | PurseToppedUp
    | PlayerSatOut
    | PlayerReturned
    | LeaveRequested
    | PlayerLeft
    | DeadlinesRenewed
    | TableStateWritten
    | TableHalted
    | TableResumed
    | HandCorrected
    | TableClosing
    | BankReturned
    | TableClosed
    | HandStarted
    | CardsDealt
    | TrumpTurned
    | CardsLooked
    | Declared
    | CardsDiscarded
    | CardsDrawn
    | BankToppedUp
    | TimeBankUsed
    | FourAcesShown
    | CardPlayed
    | TrickTaken
    | SharePaid
    | CommissionTaken
    | FinePaid
    | HandSettled
    | VoidProposed
    | HandVoided
    | SeedDisclosed
)

AccountEvent = AccountOpened | Deposited | Withdrawn | BoughtIn | CashedOut | Adjusted

DisputeEvent = (
    DisputeOpened
    | EvidenceFrozen
    | DisputeNoted
    | VerdictGiven
    | CompensationProposed
    | CorrectionProposed
    | ProposalApproved
    | ProposalDropped
    | DisputeOverdue
    | DisputeClosed
    | TextsErased
)

TABLE_EVENTS: tuple[type[Event], ...] = TableEvent.__args__
ACCOUNT_EVENTS: tuple[type[Event], ...] = AccountEvent.__args__
ACCESS_EVENTS: tuple[type[Event], ...] = (HandExamined, SessionOpened, SessionEnded)
DISPUTE_EVENTS: tuple[type[Event], ...] = DisputeEvent.__args__
LOG_EVENTS: tuple[type[Event], ...] = (LogRestored, LogRestoreFinished, KeyLost, KeyLossFinished)
EVENTS = TABLE_EVENTS + ACCOUNT_EVENTS + ACCESS_EVENTS + DISPUTE_EVENTS + LOG_EVENTS

SECRETS: dict[type[Event], tuple[str, ...]] = {
    HandCommitted: ("server_seed",),
    ClientSeedSet: ("client_seed",),
    TableStateWritten: ("server_seed", "client_seeds"),
    HandStarted: ("server_seed",),
    CardsDealt: ("deck",),
    CardsDiscarded: ("cards",),
    CardsDrawn: ("cards",),
    SeedDisclosed: ("server_seed",),
}
"""Which fields of an event are sealed at rest; each of these events has a `hand_id`."""

OPENINGS: tuple[type[Event], ...] = (TableOpened, TableStateWritten, HandStarted)
"""Events at which a fold of a table may begin."""
