"""A benchmark as tables and as one JSON object."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from engine.metrics.host_time import HostReport
from tuiapp.bench.measure import BenchReport
from tuiapp.reports.profile import profile_table, profile_to_json
from tuiapp.running.profiling import ProfileOutcome
from tuiapp.text import clean
from tuiapp.view.way import tell_way

DASH = "—"


def bench_table(report: BenchReport) -> RenderableType:
    """Everything that was measured, part by part."""
    parts: list[RenderableType] = [_headline(report), _contest(report), _decode(report)]
    parts += [_scheduling(report), *_costs(report)]
    if report.host:
        parts.append(profile_table("this engine", ProfileOutcome(report.host), is_simulated=False))
    return Group(*parts)


def bench_to_json(report: BenchReport) -> dict[str, Any]:
    """The same: times in seconds, memory in bytes, rates a second."""
    table = asdict(report)
    table["host"] = profile_to_json(ProfileOutcome(report.host))
    table["log"] = _log_cost(report.host)
    table["decode"] = [
        {**asdict(point), "of_floor": point.floor / point.seconds} for point in report.decode
    ]
    return table


def _headline(report: BenchReport) -> Text:
    info, traffic = report.info, report.traffic
    text = Text(f"{clean(info.model)} on {clean(info.device)}", style="bold")
    text.append(
        f"\n{info.num_params / 1e6:.1f} M parameters in {info.dtype}, {tell_way(info)}, "
        f"torch {report.torch}\n"
        f"{traffic.num_requests} requests at once, {report.num_prompt:,} prompt and "
        f"{report.num_output:,} output tokens, {traffic.num_slots} at a time; "
        f"load average {report.load_average:.1f}",
        "dim",
    )
    return text


def _contest(report: BenchReport) -> RenderableType:
    table = _table("", "tok/s", "tok/CPU-s", "this engine is", "by CPU second")
    for standing in report.standings:
        rate = standing.rate
        table.add_row(
            clean(standing.name),
            f"{rate.per_second:,.0f}",
            f"{rate.per_cpu_second:,.0f}" if rate.per_cpu_second else DASH,
            f"×{standing.lead:.2f}",
            f"×{standing.cpu_lead:.2f}" if standing.cpu_lead else DASH,
        )
    return Group(_title("Output tokens, medians of rounds in turn"), table)


def _decode(report: BenchReport) -> RenderableType:
    table = _table("batch", "ms a pass", "floor, ms", "of the floor", "tok/s")
    for point in report.decode:
        table.add_row(
            str(point.batch_size),
            f"{point.seconds * 1e3:.2f}",
            f"{point.floor * 1e3:.2f}" if point.floor else DASH,
            f"{point.floor / point.seconds:.0%}" if point.floor else DASH,
            f"{point.batch_size / point.seconds:,.0f}",
        )
    context = report.decode[0].num_context if report.decode else 0
    bandwidth = report.info.peak_bandwidth / 1e9
    title = (
        f"Decoding passes, {context} tokens of context, beside the floor of {bandwidth:.1f} GB/s"
    )
    note = "The floor reads weights and KV cache once, at the rate of a copy; a cache beats it."
    return Group(_title(title), table, Text(note, "dim"))


def _scheduling(report: BenchReport) -> RenderableType:
    names = ("state", "schedule", "launch", "rest", "step, µs", "ns a sequence", "metrics")
    table = _table("running", *names)
    for cost in report.scheduling:
        parts = (cost.state, cost.schedule, cost.launch, cost.rest, cost.step)
        table.add_row(
            f"{cost.num_seqs:,}",
            *(f"{seconds * 1e6:,.0f}" for seconds in parts),
            f"{cost.step / cost.num_seqs * 1e9:,.0f}",
            f"{cost.metrics * 1e6:,.0f}",
        )
    note = (
        "State is the plan and what it moves, measured alone: blocks, queues, tokens, no text or "
        "records. It is a part of schedule and of rest."
    )
    title = _title("What the engine costs a step, nothing computed, µs of CPU")
    return Group(title, table, Text(note, "dim"))


def _costs(report: BenchReport) -> list[RenderableType]:
    """The log, the screen, the memory."""
    table = _table("", "")
    if log := _log_cost(report.host):
        share = f"{log['share']:.1%} of a pass"
        table.add_row("event log", f"{log['seconds'] * 1e6:.0f} µs a pass, {share}")
    if screen := report.screen:
        rates = f"{screen.with_screen:,.0f} tok/s with it, {screen.without:,.0f} without"
        table.add_row("screen", f"{rates}: ×{screen.ratio:.2f}; {screen.tell_left()}")
    own, all_of_them = report.own_memory / 2**20, report.peak_memory / 2**20
    table.add_row("peak memory", f"{own:,.0f} MiB; {all_of_them:,.0f} with all contenders loaded")
    return [_title("Costs"), table]


def _log_cost(host: HostReport | None) -> dict[str, float] | None:
    """Seconds of the median pass, and the share of all."""
    phase = next((each for each in host.phases if each.name == "log"), None) if host else None
    return {"seconds": phase.spread.p50, "share": phase.share} if phase else None


def _title(text: str) -> Text:
    return Text(f"\n{text}", style="bold")


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=any(columns))
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index else "left", header_style="dim")
    return table
