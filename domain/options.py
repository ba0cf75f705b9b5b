"""The options of the three games, with their defaults. Source: rulebook T, K, F, C and H1."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

GameName = Literal["khrap", "frap", "khrap5"]
AntePolicy = Literal["every_hand", "empty_bank"]
MaxDeals = Annotated[int, Meta(ge=1, le=64)]


class KhrapOptions(Struct, frozen=True, kw_only=True, tag="khrap", tag_field="game", forbid_unknown_fields=True):
    """T5, K5, K8, K9, K10, K17, T12."""

    ante_policy: AntePolicy = "every_hand"
    redeal_ante: bool = False
    max_trump_changes: Literal[2, 3] = 3
    helicopter_limit: Annotated[int, Meta(ge=0, le=2**63 - 1)] = 6
    draw_limit: Literal["stock", "one_each"] = "stock"
    declarer_fine: Literal["flat", "graded"] = "flat"
    max_deals: MaxDeals = 8


class FrapOptions(Struct, frozen=True, kw_only=True, tag="frap", tag_field="game", forbid_unknown_fields=True):
    """T5, F1, T12. `deck` has its effect with five and six players only."""

    ante_policy: AntePolicy = "every_hand"
    deck: Literal[36, 52] | None = None
    max_deals: MaxDeals = 8


class Khrap5Options(Struct, frozen=True, kw_only=True, tag="khrap5", tag_field="game", forbid_unknown_fields=True):
    """T5, T12."""

    ante_policy: AntePolicy = "every_hand"
    max_deals: MaxDeals = 8


Options = KhrapOptions | FrapOptions | Khrap5Options
