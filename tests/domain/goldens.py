"""Golden hands: whole hands as readable text, each about clauses of the rulebook.

A hand is told in `tests/domain/golden/*.txt`. What is put in stands at the margin: the head (`clauses:`, `game:`, …),
the cards (`seat 0 anna 100000: As Kd 7c 6h`, `trump:`, `stock:`, and for a later deal `deal 2` with `anna: …`), and
what is done (`> anna khrap`, `> anna pass (the clock)`, `> ops void: why`, and with `!` what is tried and refused).
What comes of it is set in by two spaces. Cards of the deck that are not named lie below the named stock, in
canonical order. KHRAP_GOLDEN=write writes what comes of it anew: then read the difference, line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
from msgspec import Struct

from domain.actions import Action, Do
from domain.cards import Card, deck
from domain.evolve import evolve
from domain.evolve_hand import HANDLERS, evolve_hand
from domain.games import newest
from domain.games.game import Game
from domain.hand import Hand, find
from domain.handfile import FileAction, HandFile, Step, replay
from domain.handfile.file import FileSeat, FileVoid, action_of
from domain.legal import judge
from domain.telling import Telling

FOLDER = Path(__file__).parent / "golden"
TELLING = Telling()
_SEAT = re.compile(r"^seat (\d+) (\S+) (\d+): (.*)$")
_DONE = re.compile(r"^[>!] (\S+) (\S+)((?: [2-9TJQKA][shdc])*)( \(the clock\))?$")


class Golden(Struct, frozen=True):
    """What a text puts in: its clauses, the hand, and the lines that do something."""

    clauses: frozenset[str]
    file: HandFile
    done: tuple[str, ...]


def read(text: str) -> Golden:
    """The hand of a golden text; what comes of it is passed over."""
    lines = [line for line in text.splitlines() if line and not line.startswith("  ")]
    done = tuple(line for line in lines if line[0] in ">!")
    head = dict(line.split(": ", 1) for line in lines if re.match(r"^[a-z_]+: ", line) and line[0] not in ">!")
    seats = [match for line in lines if (match := _SEAT.match(line))]
    places = {match[2]: int(match[1]) for match in seats}
    game = newest(head["game"])
    options = msgspec.convert(dict(_option(word) for word in head.get("options", "").split()), game.options)
    size = game.deck_size(options, len(seats))
    blocks = _blocks(lines)
    file = HandFile(
        game=game.name,  # type: ignore[arg-type]
        currency="RUB",
        stake=int(head["stake"]),
        commission_bps=int(head.get("commission_bps", game.default_commission_bps)),
        options=options,
        rules=game.rules,
        seats=tuple(FileSeat(seat=int(m[1]), player=m[2], purse=int(m[3])) for m in seats),
        dealer=places[head["dealer"]],
        carried_bank=int(head.get("carried", 0)),
        deals=tuple(_deck(game, block, places, places[head["dealer"]], size) for block in blocks),
        actions=tuple(read_action(line, places) for line in done if line[0] == ">" and not line.startswith("> ops")),
        void=next((FileVoid(reason=line[12:]) for line in done if line.startswith("> ops void: ")), None),
    )
    return Golden(frozenset(head["clauses"].split()), file, done)


def _option(word: str) -> tuple[str, Any]:
    name, value = word.split("=")
    return name, {"true": True, "false": False}.get(value, int(value) if value.isdigit() else value)


def _blocks(lines: list[str]) -> list[dict[str, list[Card]]]:
    """The named cards of each deal: by player, and of `trump` and `stock`."""
    blocks: list[dict[str, list[Card]]] = [{}]
    for line in lines:
        seat = _SEAT.match(line)
        named = re.match(r"^(\S+):((?: [2-9TJQKA][shdc])+)$", line)
        if line.startswith("deal "):
            blocks.append({})
        elif seat is not None:
            blocks[-1][seat[2]] = [Card(c) for c in seat[4].split()]
        elif named is not None:
            blocks[-1][named[1]] = [Card(c) for c in named[2].split()]
    return blocks


def _deck(game: Game, block: dict[str, list[Card]], places: dict[str, int], dealer: int, size: int) -> tuple[Card, ...]:
    """K2: one card at a time clockwise from the dealer's left, then the trump card, then the stock."""
    order = sorted(places, key=lambda player: (places[player] <= dealer, places[player]))
    dealt = [block[player][i] for i in range(game.hand_size) for player in order]
    named = [*dealt, *block["trump"], *block.get("stock", [])]
    assert len(set(named)) == len(named), "a card is named twice"
    return (*named, *(c for c in deck(size) if c not in named))


def read_action(line: str, places: dict[str, int]) -> FileAction:
    """The action that a line does or tries: `> anna discard 8s 7s (the clock)`."""
    found = _DONE.match(line)
    assert found is not None, line
    do: Do = found[2]  # type: ignore[assignment]
    assert do in [word for part in get_args(Do) for word in (get_args(part) or (part,))], line
    cards = tuple(Card(c) for c in found[3].split())
    return FileAction(
        seat=places[found[1]],
        do=do,
        cards=cards if do in ("discard", "draw") else None,
        card=cards[0] if do == "play" else None,
        by="clock" if found[4] else "player",
    )


def told(text: str) -> str:
    """The text with what comes of it by the rules."""
    golden = read(text)
    places = {s.player: s.seat for s in golden.file.seats}
    steps = replay(golden.file)
    opening = next(steps)
    first = text.index("\n" + golden.done[0]) + 1
    setup = [line for line in text[:first].splitlines() if not line.startswith("  ")]
    lines = ["\n".join(setup).rstrip(), "", *_told(opening, None)]
    hand = opening.hand
    for line in golden.done:
        lines.append(line)
        if line[0] == "!":
            entry = read_action(line, places)
            lines.append(_refused(hand, entry.seat, action_of(entry)))
            continue
        step = next(steps)
        lines += _told(step, hand)
        hand = step.hand
    assert next(steps, None) is None
    return "\n".join(lines) + "\n"


def _told(step: Step, before: Hand | None) -> Iterator[str]:
    """The lines of a step; `before` is None for the opening, whose first event starts the hand."""
    hand = before
    for event in step.events:
        if hand is None:
            hand = _started(step)
        elif type(event) in HANDLERS:
            hand = evolve_hand(hand, event)
        for head, line in TELLING.lines(hand, event):
            yield f"  {head:<9} {line}"


def _started(step: Step) -> Hand:
    hand = evolve(None, step.events[0], 0).hand
    assert hand is not None
    return hand


def _refused(hand: Hand, seat: int, action: Action) -> str:
    assert find(hand, seat) is not None
    refused = judge(hand, seat, action)
    assert refused is not None, (seat, action)
    return f"  {'refused':<9} {refused.code} ({refused.clause}): {refused.detail}"
