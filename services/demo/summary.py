"""What a demo run came to: for a program as one object, for people as a page."""

from __future__ import annotations

from msgspec import Struct


class Player(Struct, frozen=True):
    """One of the demo's players: the id, and the account in minor units at the end."""

    id: str
    account: int


class Summary(Struct, frozen=True, kw_only=True):
    """The demo's result. Amounts in minor units.

    `hands` and `players` are this run's. All else is of the whole log, in the demo's currency. `deposited` is less what
    was withdrawn; it and the four that it comes to are from account streams and table folds. `trial_balance` is what
    all ledger accounts sum to; `ledger_mismatches` counts accounts that log and ledger see differently, and streams
    that the ledger would not post.
    """

    hands: int
    events: int
    deposited: int
    in_accounts: int
    in_purses: int
    in_banks: int
    commission: int
    players: tuple[Player, ...]
    trial_balance: int
    ledger_mismatches: int
    chain: str
    seconds: float

    @property
    def is_balanced(self) -> bool:
        """Whether every minor unit that came in is somewhere."""
        return self.deposited == self.in_accounts + self.in_purses + self.in_banks + self.commission


class Told(Struct, frozen=True, kw_only=True):
    """What only people read: the last hand's lines, its id, the table's, and what became of each player."""

    currency: str
    table_id: str
    hand_id: str
    lines: tuple[str, ...]
    actions: dict[str, int]
    top_ups: dict[str, int]
    brought: dict[str, int]
    differences: tuple[str, ...]


def print_summary(summary: Summary, told: Told) -> None:
    """The page."""
    from services.cli.output import amount, console, print_table, several

    out = console()
    out.print(f"\n[bold]The last hand[/bold], {told.hand_id}")
    for line in told.lines:
        out.print(line, soft_wrap=True)
    out.print(f"\n[bold]The players[/bold], after {several(summary.hands, 'hand')}")
    out.print("  The table is closed: what was in purses, and what was left in the bank (T13), is in the accounts.")
    print_table(
        ("player", "actions", "top-ups", "deposited", "account", "won or lost"),
        (
            (
                p.id,
                told.actions[p.id],
                told.top_ups[p.id],
                amount(told.brought[p.id]),
                amount(p.account),
                amount(p.account - told.brought[p.id]),
            )
            for p in summary.players
        ),
        numbers=("actions", "top-ups", "deposited", "account", "won or lost"),
    )
    out.print(f"[bold]The money[/bold] of the whole log, {told.currency}")
    out.print(f"  deposited      {amount(summary.deposited):>18}")
    out.print(f"  in accounts    {amount(summary.in_accounts):>18}")
    out.print(f"  in purses      {amount(summary.in_purses):>18}")
    out.print(f"  in banks       {amount(summary.in_banks):>18}")
    out.print(f"  commission     {amount(summary.commission):>18}")
    out.print(f"  {_verdict(summary.is_balanced, 'every unit is somewhere', 'the sums differ')}")
    out.print("\n[bold]The books and the log[/bold]")
    ledger = summary.trial_balance == 0 and summary.ledger_mismatches == 0
    out.print(f"  trial balance {summary.trial_balance}, {summary.ledger_mismatches} mismatches between log and ledger")
    for difference in told.differences:
        out.print(f"    {difference}")
    out.print(f"  {_verdict(ledger, 'the books balance', 'the books are wrong')}")
    out.print(f"  {summary.events:,} events walked; the chain is {summary.chain}")
    out.print(f"  {_verdict(summary.chain == 'intact', 'nothing was changed', 'the log was changed')}")
    out.print(f"\n{summary.seconds:.1f} s. [bold]Look further:[/bold]")
    for command in (
        f"khrap hand show {told.hand_id} --reason 'a first look'",
        f"khrap hand export {told.hand_id} --reason 'a first look' > hand.json && .venv/bin/khrap hand check hand.json",
        f"khrap ledger statement player:{summary.players[0].id}",
        "khrap ledger trial-balance",
        "khrap audit verify",
        "khrap serve",
    ):
        out.print(f"  .venv/bin/{command}", soft_wrap=True)


def _verdict(holds: bool, good: str, bad: str) -> str:
    return f"[green]✓[/green] {good}" if holds else f"[red]✗ {bad}[/red]"
