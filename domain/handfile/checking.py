"""A hand file, replayed and compared with what it claims. Source: rulebook H3, H4, H6, H7."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from domain import shuffle
from domain.events import Result
from domain.hand import Over
from domain.handfile.completing import complete
from domain.handfile.file import Finding, HandFile, HandFileError
from domain.handfile.replaying import Step, replay_whole, shuffled
from domain.seeds import hand_bytes

Compared = Literal["result", "refusal", "shuffles", "nothing"]


class Report(Struct, frozen=True, kw_only=True):
    """What a check found. `compared` is what the file let it compare, `unchecked` what the file does not show (H7)."""

    problems: tuple[Finding, ...] = ()
    compared: Compared = "nothing"
    unchecked: tuple[Finding, ...] = ()
    actions: int = 0

    @property
    def holds(self) -> bool:
        """Nothing contradicts the rules."""
        return not self.problems


def check(file: HandFile) -> Report:
    """H3: replay by the rules, and compare with the file's result or refusal and its shuffle."""
    compared: Compared = "nothing"
    if file.result is not None or file.refusal is not None:
        compared = "result" if file.result is not None else "refusal"
    problems, unchecked = _compare_shuffle(file)
    try:
        whole = complete(file)
        unchecked += tuple(Finding(field, message) for field, message in whole.notes)
        *_, last = replay_whole(whole.file, whole.unjudged)
        found = _compare(file, last)
    except HandFileError as error:
        found = (Finding(error.field, error.message),)
    if found and _hangs_on_unseen_cards(file):
        found, unchecked = (), (*unchecked, Finding("refusal.code", "hangs on cards that are not shown"))
    return Report(problems=problems + found, compared=compared, unchecked=unchecked, actions=len(file.actions))


def _hangs_on_unseen_cards(file: HandFile) -> bool:
    """H7: whether the refusal is one of a seat whose cards the file's audience does not know."""
    if file.view is None or file.refusal is None or file.actions[-1].seat == file.view:
        return False
    return file.refusal.code not in ("hand_over", "not_in_hand", "not_your_turn")


def _compare(file: HandFile, last: Step) -> tuple[Finding, ...]:
    if file.refusal is not None:
        return _compare_refusal(file, last)
    assert isinstance(last.hand.phase, Over)
    if file.result is None:
        return ()
    return tuple(differences(file.result, last.hand.phase.result))


def _compare_refusal(file: HandFile, last: Step) -> tuple[Finding, ...]:
    """H3: the code decides."""
    assert file.refusal is not None
    if last.refused is None:
        return (Finding(f"actions[{last.index}]", f"is legal; the file has it refused with {file.refusal.code}"),)
    if last.refused.code == file.refusal.code:
        return ()
    by_rules = f"{last.refused.code} by the rules ({last.refused.clause}: {last.refused.detail})"
    return (Finding("refusal.code", f"{file.refusal.code} in the file, {by_rules}"),)


def differences(claimed: Result, right: Result) -> list[Finding]:
    """Where a claimed result is not the `right` one, field by field."""
    findings = _fields("result", claimed, right, ("ending", "bank", "carried_bank", "next_dealer"))
    if len(claimed.players) != len(right.players):
        return [*findings, _differs("result.players", f"{len(claimed.players)} players", f"{len(right.players)}")]
    for i, (theirs, ours) in enumerate(zip(claimed.players, right.players, strict=True)):
        findings += _fields(f"result.players[{i}]", theirs, ours, ours.__struct_fields__)
    return findings


def _fields(path: str, claimed: Struct, right: Struct, fields: tuple[str, ...]) -> list[Finding]:
    pairs = ((f, getattr(claimed, f), getattr(right, f)) for f in fields)
    return [_differs(f"{path}.{f}", theirs, ours) for f, theirs, ours in pairs if theirs != ours]


def _differs(field: str, theirs: object, ours: object) -> Finding:
    return Finding(field, f"{theirs} in the file, {ours} by the rules")


def _compare_shuffle(file: HandFile) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """H4: problems, and what could not be compared."""
    given = file.shuffle
    if given is None:
        return (), ()
    if given.server_seed is None:
        return (), (Finding("shuffle.server_seed", "not shown: commitment and decks were not compared (S2 to S5)"),)
    seed, hand_id = bytes.fromhex(given.server_seed), hand_bytes(given.hand_id)
    problems: list[Finding] = []
    commitment = shuffle.commitment(seed, hand_id).hex()
    if commitment != given.commitment.lower():
        problems.append(Finding("shuffle.commitment", f"{given.commitment} in the file, {commitment} by S2"))
    for i, cards in enumerate(file.deals):
        for j, (theirs, ours) in enumerate(zip(cards, shuffled(file, given, i + 1), strict=True)):
            if theirs is not None and theirs != ours:
                problems.append(Finding(f"deals[{i}][{j}]", f"{theirs} in the file, {ours} by the shuffle (S5)"))
                break
    return tuple(problems), ()
