"""Where the host time of a run went, as a table and as JSON."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from engine.metrics.host_time import PhaseTime
from engine.metrics.spread import Spread
from tuiapp.running.profiling import ProfileOutcome
from tuiapp.text import clean
from tuiapp.view.host_phases import WORDS


def profile_table(name: str, profile: ProfileOutcome, *, is_simulated: bool) -> RenderableType:
    """A row a phase: median, tail and share, with what the phase is."""
    title = f"\nTime of a pass, {clean(name)}" + (" (simulated)" if is_simulated else "")
    if profile.host is None:
        return Group(Text(title, style="bold"), Text("no pass followed another", style="dim"))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("", "median", "p99", "share"):
        table.add_column(column, justify="right" if column else "left")
    table.add_column("", style="dim")
    for phase in profile.host.phases:
        table.add_row(*_cells(phase), WORDS[phase.name].means)
    whole = profile.host.cycle
    table.add_row(
        "whole pass", _ms(whole.p50), _ms(whole.p99), "", f"of {whole.n} passes", style="bold"
    )
    parts: list[RenderableType] = [Text(title, style="bold"), table]
    if is_simulated:
        parts.append(Text("The clock is simulated and stands still while the host works.", "dim"))
    if profile.trace:
        parts.append(Text(f"torch profiler trace, for ui.perfetto.dev: {profile.trace}", "dim"))
    return Group(*parts)


def profile_to_json(profile: ProfileOutcome | None) -> dict[str, Any] | None:
    """In milliseconds, as all times of a report; None where no profile was asked for."""
    if profile is None:
        return None
    host = profile.host
    return {
        "num_passes": host.cycle.n if host else 0,
        "pass_ms": _spread(host.cycle) if host else None,
        "phases": {
            phase.name: {**_spread(phase.spread), "share": phase.share}
            for phase in (host.phases if host else ())
        },
        "trace": str(profile.trace) if profile.trace else None,
    }


def _cells(phase: PhaseTime) -> tuple[str, str, str, str]:
    words, spread = WORDS[phase.name], phase.spread
    return words.name, _ms(spread.p50), _ms(spread.p99), f"{phase.share:.1%}"


def _spread(spread: Spread) -> dict[str, float]:
    return {
        "mean": spread.mean * 1000,
        "p50": spread.p50 * 1000,
        "p99": spread.p99 * 1000,
        "max": spread.max * 1000,
    }


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.3f} ms"
