"""`Recorded`: the requests of a trace, as a table of a preset asks for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Literal

from engine.checks import require, require_natural, require_positive
from engine.config import ConfigError
from engine.generate.arrivals import AnyArrivals
from engine.generate.choosing import Choice, Window
from engine.generate.draft import Draft
from engine.generate.drafting import Drafting, ZeroOutput
from engine.generate.fallback import Fallback
from engine.generate.fitting import Fit, FitOutput
from engine.generate.streams import stream
from engine.traces import Row, RowError, Tally, TraceFile
from engine.traces.stamps import SECOND


class Sessions(Enum):
    """What a request has to do with those of its session."""

    INDEPENDENT = "independent"  # nothing: it comes when the trace says
    ORDERED = "ordered"  # it also waits for the answer to the one before it


@dataclass(frozen=True, slots=True)
class Reading:
    """The requests of a trace.

    Attributes:
        tally: what became of its rows; None where the file was not there.
        notice: what the user has to know; empty for nothing.
    """

    drafts: tuple[Draft, ...]
    tally: Tally | None = None
    notice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """Requests that somebody once sent, from a file that the user brings.

    Rows that cannot be used are dropped first; then come the window, `every`, `limit`, and the
    change of times.

    Attributes:
        path: from the folder of the preset, the user's folder of traces, or the current one.
        format: one of `engine.traces.FORMATS`, or `auto`.
        sha256: checksum of the file, if it matters.
        ordered: its rows are in order of time; with a `limit` no more is read than is played.
        every: of the rows in the window, each so-manieth.
        limit: so many rows at most.
        time_scale: what times are multiplied by; or `target_rate`: requests a second to reach.
        jitter_s: a random time up to this is added, for stamps that came in ticks.
        arrivals: the trace's own, or a process in their place.
        where: only rows with these values, by the names in the file.
        fallback: what is played where there is no such file; without it that is an error.
    """

    name: str
    path: str
    format: str = "auto"
    sha256: str = ""
    ordered: bool = False
    window: Window | None = None
    every: int = 1
    limit: int | None = None
    time_scale: float | None = None
    target_rate: float | None = None
    jitter_s: float = 0.0
    arrivals: Literal["trace"] | AnyArrivals = "trace"
    prompt: Fit = field(default_factory=Fit)
    output: FitOutput = field(default_factory=FitOutput)
    zero_output: ZeroOutput = ZeroOutput.DROP
    sessions: Sessions = Sessions.INDEPENDENT
    where: Mapping[str, str] = field(default_factory=dict)
    fallback: Fallback | None = None

    def __post_init__(self) -> None:
        require(bool(self.name), "name must not be empty")
        require(bool(self.path), "path must not be empty")
        require_positive(every=self.every, limit=1 if self.limit is None else self.limit)
        is_one = self.time_scale is None or self.target_rate is None
        require(is_one, "time_scale and target_rate cannot be together")
        for key, value in (("time_scale", self.time_scale), ("target_rate", self.target_rate)):
            require_positive(**{key: 1.0 if value is None else value})
        require_natural(jitter_s=self.jitter_s)

    def read(self, seed: int, folders: Sequence[Path], context: int = 0) -> Reading:
        """Draft the requests.

        Args:
            folders: where the path may begin, in the order to look.
            context: prompt and output together at most; 0 for no such bound.

        Raises:
            ConfigError: the file is wrong, or not there and nothing stands in for it.
            ValueError: the table asks for what the file has not.
        """
        places = [folder / Path(self.path).expanduser() for folder in folders]
        path = next((place for place in places if place.is_file()), None)
        if path is None:
            return self._fall_back(seed, places)
        trace, tally = self._open(path), Tally()
        keeps_empty = self.zero_output is not ZeroOutput.DROP
        choice = Choice(self.window, self.every, self.limit, keeps_empty, self.ordered)
        drafting = Drafting(self.name, self.prompt, self.output, self.zero_output, context)
        drafts: list[tuple[Draft, Row]] = []
        for placed in choice.rows(trace, tally):
            try:
                drafts.append((drafting.draft(placed, len(drafts), tally), placed[1]))
            except RowError as reason:
                tally.dropped[str(reason)] += 1
        moved = self._move([draft for draft, _ in drafts], seed)
        if self.sessions is Sessions.ORDERED:
            moved = _link(moved, [row for _, row in drafts])
        return Reading(tuple(moved), tally)

    def _open(self, path: Path) -> TraceFile:
        """Look at the file.

        Raises:
            ConfigError: it is not the one that is meant, or is no trace.
            ValueError: it has no times, and none are given.
        """
        trace = TraceFile(path, self.format, self.where)
        if self.sha256 and (found := trace.sha256()) != self.sha256.lower():
            raise ConfigError(f"is not that of {path}, which is {found}", ("sha256",))
        has_times = trace.format.has_stamps or self.arrivals != "trace"
        require(has_times, f"arrivals are needed: a trace like {trace.format_name} has no times")
        return trace

    def _fall_back(self, seed: int, places: Sequence[Path]) -> Reading:
        """Draw what stands in for the file.

        Raises:
            ConfigError: nothing does.
        """
        if self.fallback is None:
            looked = ", ".join(str(place) for place in places)
            raise ConfigError(f"names no file; looked for {looked}", ("path",))
        notice = (
            f"{self.name}: {self.path} is not there; requests drawn from the fallback of the "
            "preset stand in for it"
        )
        return Reading(tuple(self.fallback.as_class(self.name).drafts(seed)), notice=notice)

    def _move(self, drafts: list[Draft], seed: int) -> list[Draft]:
        """The drafts with their final times, from the first on."""
        if not drafts:
            return []
        rng = stream(seed, self.name, "arrival")
        if self.arrivals != "trace":
            times = self.arrivals.times(rng, len(drafts), None)
        else:
            begin = self.window.from_s if self.window else 0.0
            scale = self._scale(drafts[-1].arrival - drafts[0].arrival, len(drafts))
            jitter = stream(seed, self.name, "jitter").random(len(drafts)) * self.jitter_s
            times = [
                (draft.arrival - begin) * scale + float(extra)
                for draft, extra in zip(drafts, jitter, strict=True)
            ]
        return [replace(draft, arrival=at) for draft, at in zip(drafts, times, strict=False)]

    def _scale(self, span: float, count: int) -> float:
        if self.target_rate is None or not span:
            return self.time_scale or 1.0
        return count / self.target_rate / span


def _link(drafts: Sequence[Draft], rows: Sequence[Row]) -> list[Draft]:
    """Let each request of a session wait for the answer to the one before it."""
    newest: dict[str, str] = {}
    linked = []
    for draft, row in zip(drafts, rows, strict=True):
        before = newest.get(row.before, "")
        delay = (row.delay or 0) / SECOND if before else 0.0
        linked.append(replace(draft, follows=before, delay=delay))
        if row.key:
            newest[row.key] = draft.id
    return linked
