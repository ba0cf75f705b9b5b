"""The forms of ids, amounts and texts that the service takes. Source: DESIGN "Streams and events", rulebook T1, S2.

A pattern ends in `(?!\\n)` because `$` alone lets a line end through.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from domain.money import TABLE_LIMIT

UUID7 = r"^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$(?!\n)"
PLAYER = r"^[a-z0-9_-]{1,64}$(?!\n)"
LINE = r"^[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]*$(?!\n)"
"""No control character, no line end of any alphabet, and nothing that turns the direction of what follows."""
CURRENCY = r"^[A-Z]{3}$(?!\n)"
CARD = "^[2-9TJQKA][shdc]$"
HEX = r"^([0-9a-f]{2}){1,64}$(?!\n)"
CURSOR = r"^[A-Za-z0-9_-]+$(?!\n)"
CODE = r"^[A-Za-z0-9._-]+$(?!\n)"
CONSOLE_PREFIX = "os-"
"""What the command line puts before the login of its user; no token speaks for such a subject."""
_BLANK = (
    r" \xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u202f\u205f-\u2065\u206a-\u206f"
    r"\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""What a reader does not see: spaces of every width, joiners, fillers, selectors, tags."""
_NEITHER = r"\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069"
SAID = rf"^(?:[{_BLANK}]*[^{_NEITHER}{_BLANK}]){{3}}[^{_NEITHER}]*$(?!\n)"
"""A line in which three characters at least can be seen."""
WRITTEN = (
    rf"^(?:[\n{_BLANK}]*[^{_NEITHER}{_BLANK}]){{3}}[^\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]*$(?!\n)"
)
"""The same, of several lines."""
IN_WORDS = {
    UUID7: "that is a UUIDv7 in lower case",
    PLAYER: "of 1 to 64 of a-z, 0-9, _ and -",
    LINE: "of one line, without control characters",
    SAID: "of one line, without control characters, with 3 that can be seen at least",
    WRITTEN: "without control characters but line ends, with 3 that can be seen at least",
    CURRENCY: "of three capital letters, such as RUB",
    CARD: "that is a card: rank (2-9, T, J, Q, K, A) and suit (s, h, d, c), such as As",
    HEX: "of 1 to 64 bytes in lower-case hex",
    CURSOR: "that is the `next` of the page before, unchanged",
    CODE: "that is a one-time code, unchanged",
}
"""What a refusal says instead of a pattern."""
EXAMPLE_DISPUTE = "018f0000-0000-7000-8000-0000000000dd"
EXAMPLE_TABLE = "018f0000-0000-7000-8000-000000000001"
EXAMPLE_HAND = "018f0000-0000-7000-8000-0000000000aa"

TableId = Annotated[str, Meta(pattern=UUID7, description="a table's id, a UUIDv7", examples=[EXAMPLE_TABLE])]
HandId = Annotated[str, Meta(pattern=UUID7, description="a hand's id, a UUIDv7", examples=[EXAMPLE_HAND])]
PlayerId = Annotated[str, Meta(pattern=PLAYER, description="a player: the subject of his token", examples=["anna"])]
Currency = Annotated[str, Meta(pattern=CURRENCY, description="a currency's three letters", examples=["RUB"])]
Amount = Annotated[
    int, Meta(ge=1, le=TABLE_LIMIT, description="an amount in minor units, a whole number", examples=[100_000])
]
Text = Annotated[
    str,
    Meta(
        min_length=3,
        max_length=200,
        pattern=SAID,
        description="one line of text",
        examples=["asked for by both players"],
    ),
]
Writing = Annotated[
    str,
    Meta(
        min_length=3,
        max_length=4_000,
        pattern=WRITTEN,
        description="text, which may have several lines",
        examples=["The six of hearts was mine, and the trick went to boris."],
    ),
]
DisputeId = Annotated[str, Meta(pattern=UUID7, description="a dispute's id", examples=[EXAMPLE_DISPUTE])]
ProposalNo = Annotated[int, Meta(ge=1, le=1_000, description="a proposal's number in its dispute", examples=[1])]
Turn = Annotated[
    int, Meta(ge=0, le=2**53 - 1, description="the number of the decision that is answered", examples=[17])
]
Seat = Annotated[int, Meta(ge=0, le=11, description="a seat's number, from 0", examples=[2])]
CardText = Annotated[str, Meta(pattern=CARD, max_length=2, description="rank and suit", examples=["As"])]
ClientSeed = Annotated[
    str,
    Meta(
        pattern=HEX,
        description="1 to 64 bytes in hex, fresh and random (S2)",
        examples=["6b1f0c55a2d94e01"],
    ),
]
PageSize = Annotated[int, Meta(ge=1, le=200, description="how many at most")]
Number = Annotated[int, Meta(ge=0, le=2**53 - 1, description="an event's number in its stream")]
Stored = Annotated[int, Meta(ge=-(2**62), le=2**62)]
"""A balance of the books, in a cursor: with room for what is added to it."""
IDEMPOTENCY_KEY = r"^[\x21-\x7e]{1,128}$(?!\n)"
LATEST = 2**53 - 1
Moment = Annotated[int, Meta(ge=0, le=LATEST, description="milliseconds since 1970 UTC")]
Bank = Annotated[int, Meta(ge=0, le=LATEST, description="the bank that was played for (T6), in minor units")]
Cursor = Annotated[str, Meta(min_length=1, max_length=400, pattern=CURSOR, description="`next` of the page before")]
