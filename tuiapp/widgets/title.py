"""`Title`: the top line of the live screen, in as many words as have room."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from engine.events import EngineInfo
from engine.settings import EngineSettings
from tuiapp.text import one_line
from tuiapp.view.snapshot import Snapshot
from tuiapp.widgets.lines import Line, describe

NAME = "▚ batchscope"
WIDE = 100  # cells, from which on the parts stand further apart
DOT = " · "
FEWEST_CELLS = 10  # in which the name of what plays still says something


class Title(Line):
    """On the left the batcher and which moment is shown; on the right how far the run is."""

    def show(
        self,
        snapshot: Snapshot,
        settings: EngineSettings,
        workload: str,
        *,
        is_paused: bool,
        is_replay: bool = False,
        moment: tuple[int, int] | None = None,
    ) -> None:
        """Draw a frame.

        Args:
            workload: what plays, and how fast; empty for nothing.
            moment: the earlier pass that is shown and the newest one; None for the newest state.
        """
        room = self.screen.size.width - self.gutter.width
        gap = "   " if room >= WIDE else "  "
        state = _state(moment, is_paused=is_paused)
        numbers = [] if moment else [f"pass {snapshot.num_passes}"]
        words = Words(
            tuple(describe(settings).split(DOT)),
            (*numbers, f"{snapshot.time:.1f} s"),
            snapshot.info,
            one_line(workload),
            is_replay,
        )
        room -= cell_len(NAME) + state.cell_length + 3 * len(gap)
        what, run = words.fit(room)
        spare = " " * (room - cell_len(what + run))
        batcher = Content.styled(what, "bold")
        left = (state, batcher) if moment else (batcher, state)
        name, right = (
            Content.styled(NAME, "bold $primary"),
            Content.assemble(spare, (run, "$muted")),
        )
        self.say(Content(gap).join([name, *left, right]))


@dataclass(frozen=True, slots=True)
class Words:
    """What there is to say.

    Attributes:
        what: the batcher, then its settings.
        where: how far the run is; this stays, and so does the word "simulated".
        workload: empty for nothing.
        is_replay: it is a recording.
    """

    what: tuple[str, ...]
    where: tuple[str, ...]
    info: EngineInfo | None
    workload: str
    is_replay: bool = False

    def fit(self, room: int) -> tuple[str, str]:
        """The batcher, and the run, in so many cells.

        The model gives way first, then what plays, then the settings from the last; but that a
        recording plays is told before any settings are.
        """
        for what, run in self._wordings():
            if cell_len(what + run) <= room:
                return what, run
        what, run = self.what[0], DOT.join([*self.where, *self._kind()])
        rest = room - cell_len(what + run + DOT)
        if rest < FEWEST_CELLS:
            return what, run
        return what, f"{run}{DOT}{set_cell_size(self.workload, rest - 1).rstrip()}…"

    def _wordings(self) -> Iterator[tuple[str, str]]:
        """From the most words to the fewest, each with all of what plays."""
        playing = [self.workload] if self.workload else []
        if self.info:
            yield DOT.join(self.what), DOT.join([*self.where, _model(self.info), *playing])
        run = DOT.join([*self.where, *self._kind(), *playing])
        yield DOT.join(self.what), run
        short = [part.replace("chunked prefill", "chunked") for part in self.what]
        yield DOT.join(short), run
        if not self.is_replay:
            run = DOT.join([*self.where, *self._kind()])
        for number in range(len(short), 0, -1):
            yield DOT.join(short[:number]), run

    def _kind(self) -> list[str]:
        return ["simulated"] if self.info and self.info.is_simulated else []


def _model(info: EngineInfo) -> str:
    kind = "simulated" if info.is_simulated else f"{info.precision} {info.device}"
    return f"{one_line(info.model)} {kind}"


def _state(moment: tuple[int, int] | None, *, is_paused: bool) -> Content:
    if moment is None:
        return Content.assemble(("‖ paused", "bold $warning") if is_paused else ("▶", "$success"))
    pass_now, newest = moment
    runs = ("‖", "$warning") if is_paused else ("▶", "$success")
    return Content.assemble((f"◀ pass {pass_now} of {newest}", "bold $accent"), " ", runs)
