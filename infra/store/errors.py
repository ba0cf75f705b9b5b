"""What the store says when its log is not as it should be."""

from infra.faults import Fault


class StoreGap(Fault):
    """A part has a hole: after `pos` comes `found`, or nothing though the part's counter is higher."""

    def __init__(self, part: int, pos: int, found: int | None) -> None:
        comes = "nothing" if found is None else f"position {found}"
        super().__init__("store_gap", f"part {part}: after position {pos} comes {comes}; run `khrap audit verify`")
        self.part = part
        self.pos = pos
        self.found = found
