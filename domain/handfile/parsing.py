"""JSON to a hand file, strictly: what is wrong is named with what would be right, and nothing is guessed.

Shapes and ranges are read here, and what one field says of another; whether the actions are legal is for
`domain.handfile.replaying`. Source: rulebook H1 to H7.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, Raw, UnsetType

from domain.cards import ALL_CARDS, RANKS, SUITS, Card, deck
from domain.events import Result
from domain.games import newest
from domain.games.game import Game
from domain.handfile.explaining import explained, refuse_duplicate_keys
from domain.handfile.file import (
    Audience,
    FileAction,
    FileRefusal,
    FileSeat,
    FileShuffle,
    FileVoid,
    HandFile,
    HandFileError,
)
from domain.handfile.shapes import ActionShape, FileShape, ShuffleShape
from domain.options import Options
from domain.shuffle import HAND_ID_BYTES, MAX_CLIENT_SEED_BYTES, SERVER_SEED_BYTES

_DECODER = msgspec.json.Decoder(FileShape)


def parse(data: bytes) -> HandFile:
    """The hand file that the bytes of one JSON object hold. Raises HandFileError, which names the field."""
    try:
        raw = _DECODER.decode(data)
    except msgspec.ValidationError as error:
        raise explained(str(error), FileShape) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise HandFileError("", f"not a JSON object: {error}") from None
    except RecursionError:
        raise HandFileError("", "nested too deeply") from None
    refuse_duplicate_keys(data)
    game = newest(raw.game)
    view = None if raw.view is UNSET else raw.view
    seats = _seats(raw, game)
    options = _options(raw.options, game)
    size = game.deck_size(options, len(seats))
    for i, cards in enumerate(raw.deals):
        _check_deck(f"deals[{i}]", cards, size, view)
    actions = tuple([_action(f"actions[{i}]", action, view) for i, action in enumerate(raw.actions)])
    _check_ending(raw)
    return HandFile(
        game=raw.game,
        currency=raw.currency,
        stake=raw.stake,
        commission_bps=game.default_commission_bps if raw.commission_bps is UNSET else raw.commission_bps,
        options=options,
        rules=raw.rules,
        seats=seats,
        dealer=_dealt_in("dealer", raw.dealer, seats),
        carried_bank=raw.carried_bank,
        deals=raw.deals,
        actions=actions,
        shuffle=None if raw.shuffle is UNSET else _shuffle(raw.shuffle, len(seats), view),
        view=_dealt_in("view", view, seats) if isinstance(view, int) else view,
        void=None if raw.void is UNSET else FileVoid(reason=raw.void.reason),
        result=None if raw.result is UNSET else msgspec.convert(raw.result, Result, from_attributes=True),
        refusal=None if raw.refusal is UNSET else FileRefusal(code=raw.refusal.code, clause=raw.refusal.clause),
        name=msgspec.json.decode(raw.name, type=str) if bytes(raw.name).startswith(b'"') else "",
    )


def _seats(raw: FileShape, game: Game) -> tuple[FileSeat, ...]:
    """H1, T4."""
    if not 2 <= len(raw.seats) <= game.max_seats:
        raise HandFileError("seats", f"{len(raw.seats)} players; {game.name} has 2 to {game.max_seats}")
    before = -1
    for i, s in enumerate(raw.seats):
        if s.seat <= before:
            raise HandFileError(f"seats[{i}].seat", f"{s.seat} after {before}; seats are ascending, each once")
        if s.purse < raw.stake:
            raise HandFileError(f"seats[{i}].purse", f"{s.purse} is below the stake of {raw.stake}: not dealt in (T4)")
        before = s.seat
    return tuple([FileSeat(seat=s.seat, player=s.player, purse=s.purse) for s in raw.seats])


def _dealt_in(field: str, seat: int, seats: tuple[FileSeat, ...]) -> int:
    if all(s.seat != seat for s in seats):
        dealt_in = ", ".join(str(s.seat) for s in seats)
        raise HandFileError(field, f"seat {seat} is not dealt in; dealt in are {dealt_in}")
    return seat


def _options(raw: Raw | UnsetType, game: Game) -> Options:
    """H1: the game's own options, each with its default."""
    if raw is UNSET:
        return game.options()
    try:
        options: Options = msgspec.json.decode(raw, type=game.options)
        given = msgspec.json.decode(raw, type=dict[str, Raw])
    except msgspec.ValidationError as error:
        raise explained(str(error), game.options, "options") from None
    # In events the options are tagged with the game's name, and None stands for a deck that was not chosen.
    if "game" in given:
        raise HandFileError("options.game", f"no option of {game.name}; `game` stands beside `options`")
    for name, value in given.items():
        if bytes(value) == b"null":
            raise HandFileError(f"options.{name}", "null; leave it out for the default")
    return options


_DECKS = {size: frozenset(deck(size)) for size in (32, 36, 52)}


def _check_deck(field: str, cards: tuple[Card | None, ...], size: int, view: Audience | None) -> None:
    """H1, H5, H7: each card of the deck once, unseen ones aside."""
    whole = _DECKS[size]
    if len(cards) == size and whole == set(cards):
        return
    seen: dict[Card, int] = {}
    for i, card in enumerate(cards):
        if card is None:
            _check_unseen(f"{field}[{i}]", view)
            continue
        _check_card(f"{field}[{i}]", card)
        if card not in whole:
            raise HandFileError(f"{field}[{i}]", f"{card} is not in a deck of {size}, with which this hand is played")
        if card in seen:
            raise HandFileError(f"{field}[{i}]", f"{card} a second time; it stands at [{seen[card]}] already")
        seen[card] = i
    if len(cards) != size:
        missing = " ".join(card for card in deck(size) if card not in seen)
        lacks = f"; missing: {missing}" if len(cards) < size and view is None else ""
        raise HandFileError(field, f"{len(cards)} cards, where the deck has {size}{lacks}")


def _check_card(field: str, card: str) -> None:
    if card not in ALL_CARDS:
        raise HandFileError(field, f"{card!r} is no card; a rank of {RANKS} and a suit of {SUITS} make one")


def _check_unseen(field: str, view: Audience | None) -> None:
    if view is None:
        raise HandFileError(field, "null, which only a file with a `view` may hold (H7); name the card")


def _action(field: str, raw: ActionShape, view: Audience | None) -> FileAction:
    """H2: the word and the cards that go with it."""
    wants = {"play": "card", "discard": "cards", "draw": "cards"}.get(raw.do)
    for given in ("card", "cards"):
        there = getattr(raw, given) is not UNSET
        if there and given != wants:
            raise HandFileError(f"{field}.{given}", f"{raw.do!r} takes {f'`{wants}`' if wants else 'no cards'}")
        if given == wants and not there:
            raise HandFileError(f"{field}.{given}", f"missing; {raw.do!r} takes it")
    card, cards = raw.card or None, raw.cards if raw.cards is not UNSET else None
    if raw.card is not UNSET:
        _check_card(f"{field}.card", raw.card)
    for i, named in enumerate(cards or ()):
        if named is None:
            _check_unseen(f"{field}.cards[{i}]", view)
        else:
            _check_card(f"{field}.cards[{i}]", named)
    return FileAction(seat=raw.seat, do=raw.do, cards=cards, card=card, by=raw.by)


def _check_ending(raw: FileShape) -> None:
    """H3, H6: a result or a refusal; what is voided ends in neither a play nor a refusal."""
    if raw.refusal is UNSET:
        return
    if raw.result is not UNSET:
        raise HandFileError("refusal", "beside a `result`; a file holds one of them at most (H3)")
    if raw.void is not UNSET:
        raise HandFileError("refusal", "beside `void`; a voided hand has the result of T12 (H6)")
    if not raw.actions:
        raise HandFileError("refusal", "there is no action that could be refused; the last of `actions` is it (H3)")


def _shuffle(raw: ShuffleShape, players: int, view: Audience | None) -> FileShuffle:
    """H4, S1, S2: hex of the right lengths, one client seed per dealt-in player."""
    if raw.server_seed is None:
        _check_unseen("shuffle.server_seed", view)
    else:
        _check_hex("shuffle.server_seed", raw.server_seed, SERVER_SEED_BYTES)
    _check_hex("shuffle.hand_id", plain_hand_id(raw.hand_id), HAND_ID_BYTES)
    _check_hex("shuffle.commitment", raw.commitment, 32)
    if len(raw.client_seeds) != players:
        raise HandFileError("shuffle.client_seeds", f"{len(raw.client_seeds)} seeds for {players} players")
    for i, seed in enumerate(raw.client_seeds):
        _check_hex(f"shuffle.client_seeds[{i}]", seed, None)
    return FileShuffle(
        server_seed=raw.server_seed,
        hand_id=raw.hand_id,
        commitment=raw.commitment,
        client_seeds=raw.client_seeds,
    )


_HEX = frozenset("0123456789abcdefABCDEF")
_HYPHENS = (8, 13, 18, 23)


def plain_hand_id(text: str) -> str:
    """A hand id without its hyphens, which stand where a UUID has them or nowhere."""
    if len(text) == 36 and all(text[i] == "-" for i in _HYPHENS):
        return "".join(c for i, c in enumerate(text) if i not in _HYPHENS)
    return text


def _check_hex(field: str, text: str, size: int | None) -> None:
    """`size` bytes in hex, or where it is None a client seed's 0 to 64."""
    right = len(text) == 2 * size if size is not None else len(text) in range(0, 2 * MAX_CLIENT_SEED_BYTES + 1, 2)
    if not right or not _HEX.issuperset(text):
        wanted = str(size) if size is not None else f"0 to {MAX_CLIENT_SEED_BYTES}"
        raise HandFileError(field, f"{text!r} is not {wanted} bytes in hex")
