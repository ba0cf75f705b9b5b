"""Routes of the audit: the key, the checkpoints and proofs from them, for anyone; the bundle of a hand. DESIGN "Audit".

Outsiders keep what these say: it is what the log can be held against, and what proves an event without us.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from litestar import Controller, Request, Response, get
from litestar.params import FromQuery
from msgspec import Meta, Struct

from infra.audit import NotSealed
from infra.audit.checkpoint import CheckpointDocument, CheckpointHead, Hash, document, head_document, public_pem
from infra.audit.growth import GrowthDocument, growth_document
from services.api.examining import LOOK_REFUSALS, ended_hand, record_look
from services.api.forms import HandId, Text
from services.api.house import house
from services.api.operation import Operation, described
from services.api.problems import Rejection
from services.api.roles import ANYONE, COMPLIANCE

Incoming = Request[Any, Any, Any]
Part = Annotated[int, Meta(ge=0, le=32_766, description="a part of the log")]
CheckpointNumber = Annotated[int, Meta(ge=1, le=2**53 - 1, description="a checkpoint's number, from 1")]
After = Annotated[int, Meta(ge=0, le=2**53 - 1, description="a checkpoint's number; 0 for all")]
Position = Annotated[int, Meta(ge=1, le=2**53 - 1, description="an event's position in its part, from 1")]
Size = Annotated[int, Meta(ge=1, le=2**53 - 1, description="how many events a part's tree holds")]
Limit = Annotated[int, Meta(ge=1, le=200, description="how many at most")]

FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}
BUNDLE_JSON = Annotated[
    dict[str, Any],
    Meta(description="a dispute bundle, `khrap-bundle/1`, for `khrap audit check-bundle` or its file alone"),
]


class SigningKey(Struct, frozen=True, kw_only=True):
    """The public key that checkpoints are signed for: 32 bytes in hex, and the same in PEM."""

    algorithm: str
    public_key: Hash
    pem: str


class CheckpointPage(Struct, frozen=True, kw_only=True):
    """Checkpoints in order, without their parts. `next` is the number to go on `after`, null at the end."""

    checkpoints: tuple[CheckpointHead, ...]
    next: int | None


class InclusionProof(Struct, frozen=True, kw_only=True):
    """That the event at `pos` (from 1) with this `hash` is in the part's tree of `size` events with this `root`.

    RFC 6962, section 2.1.1, for leaf `pos` - 1, whose data is `hash`.
    """

    part: int
    pos: int
    size: int
    hash: Hash
    root: Hash
    path: tuple[Hash, ...]


class ConsistencyProof(Struct, frozen=True, kw_only=True):
    """That the part's tree of `first` events is the beginning of that of `second`. RFC 6962, section 2.1.2."""

    part: int
    first: int
    second: int
    first_root: Hash
    second_root: Hash
    path: tuple[Hash, ...]


class AuditRoutes(Controller):
    """`/v1/audit`, what anyone may have."""

    path = "/v1/audit"

    @get(
        "/key",
        opt=described(
            Operation(tag="audit", summary="The key that checkpoints are signed for", rule=ANYONE, answer=SigningKey)
        ),
    )
    async def audit_key(self, request: Incoming) -> SigningKey:
        """Keep it elsewhere: a key that is fetched with the checkpoint proves nothing."""
        key = house(request).checkpoints.key
        return SigningKey(algorithm="Ed25519", public_key=key.hex(), pem=public_pem(key))

    @get(
        "/checkpoints",
        opt=described(
            Operation(
                tag="audit",
                summary="Checkpoints, in order",
                description=(
                    "To be kept elsewhere: `khrap audit verify --checkpoint FILE` holds the log against an answer of "
                    "this. Each binds its parts by `sealed_hash` and the one before by `previous`."
                ),
                rule=ANYONE,
                answer=CheckpointPage,
            )
        ),
    )
    async def checkpoints(
        self, request: Incoming, after: FromQuery[After] = 0, limit: FromQuery[Limit] = 50
    ) -> CheckpointPage:
        """A page of them."""
        found = await house(request).checkpoints.page(after, limit + 1)
        shown = found[:limit]
        more = shown[-1].number if len(found) > limit else None
        return CheckpointPage(checkpoints=tuple(head_document(each) for each in shown), next=more)

    @get(
        "/checkpoints/{number:int}",
        opt=described(
            Operation(
                tag="audit",
                summary="A checkpoint, with its parts",
                rule=ANYONE,
                answer=CheckpointDocument,
                problems=("not_found",),
            )
        ),
    )
    async def checkpoint(self, request: Incoming, number: CheckpointNumber) -> Response[CheckpointDocument]:
        """It never changes."""
        found = await house(request).checkpoints.get(number)
        if found is None:
            raise Rejection("not_found", f"there is no checkpoint {number}")
        return Response(document(found), headers=FOR_EVER)

    @get(
        "/checkpoints/{number:int}/consistency",
        opt=described(
            Operation(
                tag="audit",
                summary="Prove that the log only grew since a checkpoint",
                description=(
                    "`khrap-consistency/1`, for `khrap audit check-consistency`: of all parts at once. `second` is a "
                    "later checkpoint's number; left out, that of the newest one."
                ),
                rule=ANYONE,
                answer=GrowthDocument,
                problems=("not_found",),
            )
        ),
    )
    async def growth(
        self, request: Incoming, number: CheckpointNumber, second: FromQuery[CheckpointNumber | None] = None
    ) -> GrowthDocument:
        """By the checkpoints' numbers."""
        try:
            return growth_document(await house(request).checkpoints.growth(number, second))
        except NotSealed as error:
            raise Rejection("not_found", str(error)) from None

    @get(
        "/parts/{part:int}/inclusion",
        opt=described(
            Operation(
                tag="audit",
                summary="Prove that an event is in the log",
                description="`size` is that of a checkpoint; left out, that of the newest one.",
                rule=ANYONE,
                answer=InclusionProof,
                problems=("not_found",),
            )
        ),
    )
    async def inclusion(
        self, request: Incoming, part: Part, pos: FromQuery[Position], size: FromQuery[Size | None] = None
    ) -> InclusionProof:
        """By position in its part."""
        try:
            (found,) = await house(request).checkpoints.inclusions(part, [pos], size)
        except NotSealed as error:
            raise Rejection("not_found", str(error)) from None
        return InclusionProof(
            part=part,
            pos=pos,
            size=found.size,
            hash=found.hash.hex(),
            root=found.root.hex(),
            path=_hex(found.path),
        )

    @get(
        "/parts/{part:int}/consistency",
        opt=described(
            Operation(
                tag="audit",
                summary="Prove that a part only grew between two sizes of its tree",
                description="`second` is the size of a checkpoint; left out, that of the newest one.",
                rule=ANYONE,
                answer=ConsistencyProof,
                problems=("not_found",),
            )
        ),
    )
    async def consistency(
        self, request: Incoming, part: Part, first: FromQuery[Size], second: FromQuery[Size | None] = None
    ) -> ConsistencyProof:
        """By the sizes of the part's trees."""
        try:
            found = await house(request).checkpoints.consistency(part, first, second)
        except NotSealed as error:
            raise Rejection("not_found", str(error)) from None
        return ConsistencyProof(
            part=part,
            first=first,
            second=found.second,
            first_root=found.first_root.hex(),
            second_root=found.second_root.hex(),
            path=_hex(found.path),
        )


@get(
    "/v1/hands/{hand_id:str}/bundle",
    opt=described(
        Operation(
            tag="audit",
            summary="A hand as evidence",
            description=(
                "All that proves a hand that is over to an outsider, every card included: `khrap-bundle/1`. The "
                "`reason` is recorded."
            ),
            rule=COMPLIANCE,
            answer=BUNDLE_JSON,
            refusals=LOOK_REFUSALS,
            problems=("not_found", "conflict"),
        )
    ),
)
async def hand_bundle(request: Incoming, hand_id: HandId, reason: FromQuery[Text | None] = None) -> Response[bytes]:
    """The look is recorded first."""
    row = await ended_hand(request, hand_id)
    await record_look(request, row, "bundle", reason)
    content = await house(request).bundles.of(row)
    name = f'attachment; filename="bundle-{hand_id}.json"'
    return Response(content, media_type="application/json", headers={"Content-Disposition": name})


def _hex(path: Sequence[bytes]) -> tuple[str, ...]:
    return tuple([each.hex() for each in path])
