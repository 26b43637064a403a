"""`Comparison`: the lanes of a contest, which of them are shown, and the race that runs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import floor, log10

from engine.backends.guest import Guest
from engine.cost import CostModel
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from tuiapp.lanes.contest import Contest
from tuiapp.lanes.lane import Lane, Status
from tuiapp.lanes.race import Race
from tuiapp.running.verdicts import Verdict, judge

FEWEST, MOST = 2, 4  # lanes side by side
NICE = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0)


class Comparison:
    """Runs what is shown and was not run yet, for as long as it is polled.

    Args:
        lend: gives the engine to a guest; None where there is none, and nothing is left to run.
        lanes: of this contest, some of which may have run; none have if not given.
        cost: how long passes take, in place of what the device says.

    Attributes:
        lanes: all that there are to choose from.
        shown: those side by side, in the same order.
    """

    def __init__(
        self,
        contest: Contest,
        spec: ModelSpec,
        lend: Callable[[Guest], None] | None,
        lanes: Sequence[Lane] = (),
        cost: CostModel | None = None,
    ) -> None:
        self.contest = contest
        self.lanes = tuple(lanes) or tuple(_lanes_of(contest).values())
        self.shown = self.lanes[:MOST]
        self._spec = spec
        self._lend = lend
        self._cost = cost
        self._race: Race | None = None
        self._pace: float | None = None
        self._is_cancelled = False

    @property
    def is_simulated(self) -> bool:
        is_costed = self._cost is not None or self._spec.device.startswith("sim")
        return is_costed or any(lane.is_simulated for lane in self.lanes)

    @property
    def can_run(self) -> bool:
        """Whether there is an engine to run lanes on."""
        return self._lend is not None

    @property
    def is_running(self) -> bool:
        return self._race is not None

    @property
    def span(self) -> float:
        """Seconds that the common axis takes in: a round number of them while a lane runs."""
        longest = max((lane.track.ended for lane in self.shown), default=0.0)
        if not self.is_running:
            return longest or 1.0
        size = 10.0 ** floor(log10(longest)) if longest else 1.0
        return next(size * each for each in NICE if size * each >= longest * 0.999)

    def poll(self) -> bool:
        """Read on, and start what is left to run; return whether there is anything new."""
        race = self._race
        if race and race.is_over:
            self._race, self._pace = None, race.pace
        num_read = sum(lane.read() for lane in self.lanes)
        fresh = [lane for lane in self.shown if lane.standing.status is Status.WAITING]
        if fresh and self._lend and self._race is None and not self._is_cancelled:
            traffic = self.contest.traffic
            self._race = Race(self._spec, traffic, fresh, self._pace, self._cost)
            self._lend(self._race)
        return bool(num_read) or race is not self._race

    def toggle(self, index: int) -> str:
        """Show a lane, or hide it; return why that cannot be, or nothing."""
        if index >= len(self.lanes):
            return ""
        chosen = self.lanes[index]
        shown = [lane for lane in self.lanes if (lane in self.shown) is not (lane is chosen)]
        if len(shown) < FEWEST:
            return "A comparison needs two lanes"
        if len(shown) > MOST:
            return f"There is room for {MOST} lanes"
        self.shown = tuple(shown)
        return ""

    def cancel(self) -> None:
        """Give the engine back; nothing is run any more."""
        self._is_cancelled = True
        if self._race:
            self._race.cancel()

    def afresh(self, contest: Contest) -> Comparison:
        """Another contest on the same engine."""
        return Comparison(contest, self._spec, self._lend, cost=self._cost)

    def again(self) -> Comparison:
        """The lanes that are shown, to be run once more; earlier runs of them count on."""
        again = [lane.again() for lane in self.shown]
        kept = [next((a for a in again if a.name == lane.name), lane) for lane in self.lanes]
        return self._with(self.contest, kept, [lane.name for lane in again])

    def under(self, entries: Mapping[str, EngineSettings], shown: Sequence[str]) -> Comparison:
        """The same requests under other settings; lanes that there are already keep their runs.

        Args:
            shown: names of those to show.
        """
        contest = replace(self.contest, entries=entries)
        lanes = _lanes_of(contest)
        for lane in self.lanes:
            if entries.get(lane.name) == lane.settings and lane.is_over:
                lanes[lane.name] = lane
        return self._with(contest, list(lanes.values()), shown)

    def _with(self, contest: Contest, lanes: list[Lane], shown: Sequence[str]) -> Comparison:
        new = Comparison(contest, self._spec, self._lend, lanes, self._cost)
        new.shown = tuple(lane for lane in lanes if lane.name in shown)
        new._pace = self._pace
        return new

    def rulings(self) -> tuple[Verdict, ...]:
        """What became of the preset's claims, by the lanes that have run."""
        outcomes = [outcome for lane in self.lanes if (outcome := lane.outcome())]
        return judge(self.contest.claims, outcomes)


def _lanes_of(contest: Contest) -> dict[str, Lane]:
    """A lane that has not run for each of the settings."""
    num_requests = contest.traffic.num_requests
    return {
        name: Lane(name, settings, num_requests, contest.slo)
        for name, settings in contest.entries.items()
    }
