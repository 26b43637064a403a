"""The KV cache, block by block: who owns what, as it lies in memory."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from itertools import groupby

from textual import events
from textual.content import Content

from tuiapp.text import one_line
from tuiapp.theme import OWNERS
from tuiapp.view.snapshot import Snapshot
from tuiapp.widgets.panel import Panel, Piece, Row
from tuiapp.widgets.picked import Picked

OWNED = "▪"
FREE = "·"
CACHED = "○"
MOST_COUNTED = 9
TITLE = "KV cache"


@dataclass(frozen=True, slots=True)
class Cell:
    """What one cell shows.

    Attributes:
        owner: of the first block in it that somebody holds.
        num_holders: of that block.
        is_cached: whether one of its blocks could be shared.
    """

    owner: str | None
    num_holders: int
    is_cached: bool


class KvMap(Panel):
    """One cell a block, as long as all that are in use fit; else one cell some blocks.

    The pool hands out low ids first, so the part of a large cache that is never touched lies at
    the end and need not be drawn; the title says how much of it is.
    """

    HELP = (
        "The KV cache block by block, in the order of memory: a colour and a name a request, a "
        "dot a free block. Where a cell is several blocks, one in use outdoes those that are "
        "free; of a large cache the end, which nobody has touched, is left out. With prefix "
        "caching a digit says how many requests share a block, and a ring marks one that is kept "
        "to be shared. A click opens the life of the owner."
    )

    def __init__(self, *, ascii_only: bool = False) -> None:
        super().__init__(TITLE, id="kv")
        self._title = TITLE
        self._cached = "o" if ascii_only else CACHED
        self._cells: list[list[Cell]] = []
        self._per_cell = 1

    def show(self, snapshot: Snapshot) -> None:
        """Draw a frame."""
        width, height = max(1, self.size.width), max(1, self.size.height)
        per_cell = _scale(snapshot, width * height)
        num_shown = min(snapshot.num_blocks, width * height * per_cell)
        blocks = range(num_shown)
        cells = [_cell(snapshot, blocks[at : at + per_cell]) for at in blocks[::per_cell]]
        self._cells = [cells[at : at + width] for at in range(0, len(cells), width)]
        self._per_cell = per_cell
        self._entitle(num_shown, snapshot.num_blocks)
        self.say([self._row(row) for row in self._cells], _describe(snapshot, per_cell))

    def _entitle(self, num_shown: int, num_blocks: int) -> None:
        """Say what is left out; a title that is set repaints all, so only where it changes."""
        part = f" · first {num_shown:,} of {num_blocks:,} blocks" if num_shown < num_blocks else ""
        if (title := f"{TITLE}{part}") != self._title:
            self._title = title
            self.border_title = Content(title)

    def on_click(self, event: events.Click) -> None:
        if (cell := self._at(event)[1]) and cell.owner is not None:
            self.post_message(Picked(cell.owner))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Say what lies under the mouse."""
        number, cell = self._at(event)
        if cell is None:
            self.tooltip = None
            return
        last = number + self._per_cell - 1
        blocks = f"block {number}" if self._per_cell == 1 else f"blocks {number} to {last}"
        self.tooltip = Content(f"{blocks}: {_name(cell)}")

    def _at(self, event: events.MouseEvent) -> tuple[int, Cell | None]:
        """The first block of the cell that an event points at, and the cell."""
        place = event.get_content_offset(self)
        if place is None or place.y >= len(self._cells) or place.x >= len(self._cells[place.y]):
            return 0, None
        number = (place.y * len(self._cells[0]) + place.x) * self._per_cell
        return number, self._cells[place.y][place.x]

    def _row(self, cells: list[Cell]) -> Row:
        return [self._run(cell, len([*run])) for cell, run in groupby(cells)]

    def _run(self, cell: Cell, length: int) -> Piece:
        if cell.owner is None:
            if cell.is_cached:
                return self._cached * length, "$muted"
            return FREE * length, "$faint"
        ink = style_of(cell.owner)
        if cell.num_holders > 1:
            return str(min(MOST_COUNTED, cell.num_holders)) * length, f"bold {ink}"
        name = one_line(cell.owner)
        text = name + OWNED * (length - len(name)) if length > len(name) else OWNED * length
        return text, ink


def _name(cell: Cell) -> str:
    """Whose blocks they are, in words."""
    if cell.owner is None:
        return "kept to be shared" if cell.is_cached else "free"
    others = cell.num_holders - 1
    return one_line(cell.owner) + (f" and {others} more" if others else "")


def _describe(snapshot: Snapshot, per_cell: int) -> str:
    if not snapshot.num_blocks:
        return "no blocks yet"
    used, size = snapshot.meters.num_used_blocks, snapshot.settings.block_size
    scale = f"1 cell = {per_cell} blocks · " if per_cell > 1 else ""
    if not snapshot.settings.enable_prefix_caching:
        return f"{scale}{used} of {snapshot.num_blocks} blocks × {size} tokens"
    num_idle = sum(snapshot.block_owners[block] is None for block in snapshot.cached_blocks)
    shared = f"{len(snapshot.block_sharing)} shared"
    return f"{scale}{used} of {snapshot.num_blocks} used, {shared} · {num_idle} cached"


def _scale(snapshot: Snapshot, num_cells: int) -> int:
    """Blocks a cell: the least power of two that brings all that hold something onto the map."""
    owners = snapshot.block_owners
    end = next((at for at in range(len(owners), 0, -1) if owners[at - 1]), 0)
    end = max(end, 1 + max(snapshot.cached_blocks, default=-1))
    scale = 1
    while end > num_cells * scale:
        scale *= 2
    return scale


def _cell(snapshot: Snapshot, blocks: range) -> Cell:
    """The first owner in it counts, so that even one block in use is seen."""
    for block in blocks:
        if owner := snapshot.block_owners[block]:
            return Cell(owner, snapshot.block_sharing.get(block, 1), is_cached=False)
    return Cell(None, 0, any(block in snapshot.cached_blocks for block in blocks))


def style_of(request_id: str) -> str:
    """Ink and paper of the request's blocks, the same wherever they are shown."""
    ink, paper = OWNERS[zlib.crc32(request_id.encode()) % len(OWNERS)]
    return f"{ink} on {paper}"
