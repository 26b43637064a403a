"""The KV cache, block by block: who owns what, as it lies in memory."""

from __future__ import annotations

import zlib
from itertools import groupby

from textual.content import Content

from tuiapp.snapshot import Snapshot
from tuiapp.text import one_line
from tuiapp.theme import OWNER_COLOURS
from tuiapp.widgets.panel import Panel

OWNED = "▪"
FREE = "·"


class KvMap(Panel):
    """One cell a block, as long as all that are in use fit; else one cell some blocks.

    The pool hands out low ids first, so the part of a large cache that is never touched lies at
    the end and need not be drawn.
    """

    def __init__(self) -> None:
        super().__init__("KV cache", id="kv")

    def show(self, snapshot: Snapshot) -> None:
        """Draw a frame."""
        width, height = max(1, self.size.width), max(1, self.size.height)
        owners = snapshot.block_owners
        per_cell = _scale(owners, width * height)
        shown = owners[: width * height * per_cell]
        cells = [_owner(shown[at : at + per_cell]) for at in range(0, len(shown), per_cell)]
        rows = (cells[at : at + width] for at in range(0, len(cells), width))
        size = snapshot.settings.block_size
        scale = f"{per_cell} blocks a cell · " if per_cell > 1 else ""
        used = snapshot.meters.num_used_blocks
        self.say(
            Content("\n").join(_row(row) for row in rows),
            f"{scale}{used} of {len(owners)} blocks × {size} tokens",
        )


def _scale(owners: tuple[str | None, ...], num_cells: int) -> int:
    """Blocks a cell: the least power of two that brings all owned blocks onto the map."""
    end = next((at for at in range(len(owners), 0, -1) if owners[at - 1]), 0)
    scale = 1
    while end > num_cells * scale:
        scale *= 2
    return scale


def _owner(blocks: tuple[str | None, ...]) -> str | None:
    """Whose a cell is: the first owner in it, so that even one block in use is seen."""
    return next((owner for owner in blocks if owner), None)


def _row(cells: list[str | None]) -> Content:
    return Content("").join(_run(owner, sum(1 for _ in run)) for owner, run in groupby(cells))


def _run(owner: str | None, length: int) -> Content:
    if owner is None:
        return Content.styled(FREE * length, "$faint")
    name = one_line(owner)
    text = name + OWNED * (length - len(name)) if length > len(name) else OWNED * length
    return Content.styled(text, f"#101418 on {colour(owner)}")


def colour(request_id: str) -> str:
    """The request's colour on the map, the same wherever it is shown."""
    return OWNER_COLOURS[zlib.crc32(request_id.encode()) % len(OWNER_COLOURS)]
