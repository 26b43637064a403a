"""Two lanes request by request: what one did with each, and behind it when the other was done."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from statistics import median

from tuiapp.lanes.axis import show_seconds
from tuiapp.lanes.lane import Lane
from tuiapp.lanes.raster import cell_of
from tuiapp.lanes.track import Passage, Track
from tuiapp.view.phases import Phase
from tuiapp.view.story import Story


class Tone(Enum):
    """What a cell shows; the phases by their own names."""

    NONE = "none"
    QUEUED = "queued"
    PREFILL = "prefill"
    DECODE = "decode"
    STALLED = "stalled"
    HELD = "held"
    EVICTED = "evicted"
    LAST = "last"
    GHOST = "ghost"
    GHOST_END = "ghost-end"


@dataclass(frozen=True, slots=True)
class Pair:
    """One request in both lanes.

    Attributes:
        tones: by cell.
        later: seconds by which the ghost answered later; None while one of them has not.
    """

    request_id: str
    tones: tuple[Tone, ...]
    later: float | None


def pair_up(base: Track, ghost: Track, span: float, width: int) -> list[Pair]:
    """A row for each request of the base, in the order of arrival."""
    others = _by_name(ghost)
    return [
        Pair(
            passage.request_id,
            tuple(_draw(passage, other, base.ended, span / width, width)),
            later(passage, other),
        )
        for passage in base.passages.values()
        for other in [others.get(_name(passage))]
    ]


def later(base: Passage, ghost: Passage | None) -> float | None:
    """Seconds by which the ghost's client had its whole answer later."""
    if ghost is None or not (base.is_over and ghost.is_over):
        return None
    return None if base.last is None or ghost.last is None else ghost.last - base.last


def tell_ghost(base: Lane, ghost: Lane) -> Story:
    """For how many requests which of the two was sooner, and by how much."""
    others = _by_name(ghost.track)
    found = [later(each, others.get(_name(each))) for each in base.track.passages.values()]
    known = [seconds for seconds in found if seconds is not None]
    if not known:
        return Story("No request", " has been answered in both lanes so far.")
    num_sooner, num_later = sum(s > 1e-9 for s in known), sum(s < -1e-9 for s in known)
    middle = median(known)
    word = "sooner" if middle >= 0 else "later"
    point = f"{base.name} answers {num_sooner} of {len(known)} requests sooner than {ghost.name}"
    rest = f", {num_later} later; the median answer comes {show_seconds(abs(middle))} {word}."
    return Story(point, rest)


def _by_name(track: Track) -> dict[str, Passage]:
    return {_name(passage): passage for passage in track.passages.values()}


def _name(passage: Passage) -> str:
    """What a preset calls the request: without the number of the time that it was played."""
    return passage.request_id.partition(".")[0]


def _draw(
    base: Passage, ghost: Passage | None, ended: float, size: float, width: int
) -> list[Tone]:
    tones = [Tone.NONE] * width
    if ghost:
        end = ghost.last if ghost.is_over and ghost.last is not None else ghost.arrival
        _paint(tones, base.arrival, end, Tone.GHOST, size)
    own_end = base.last if base.is_over and base.last is not None else ended
    if not base.is_over or base.last is not None:
        _paint(tones, base.arrival, own_end, Tone.QUEUED, size)
    for stretch in base.stretches:
        _paint(tones, stretch.began, stretch.ended, Tone(stretch.phase.value), size)
    if base.stretches and base.stretches[0].phase is Phase.PREFILL:
        tones[min(width - 1, int(base.stretches[0].began / size))] = Tone.PREFILL
    made = [s.ended for s in base.stretches if s.phase in (Phase.PREFILL, Phase.DECODE)]
    if made and base.reason is not None:
        tones[cell_of(made[-1], size, width)] = Tone.LAST
    if ghost and ghost.is_over and ghost.last is not None:
        tones[cell_of(ghost.last, size, width)] = Tone.GHOST_END
    return tones


def _paint(tones: list[Tone], began: float, ended: float, tone: Tone, size: float) -> None:
    if ended > began:
        width = len(tones)
        first, last = min(width - 1, int(began / size)), cell_of(ended, size, width)
        tones[first : last + 1] = [tone] * (last + 1 - first)
