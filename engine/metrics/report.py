"""`Report`: all the numbers of a run, and their names in claims, tables and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.metrics.passes import PassReport, PassTotals
from engine.metrics.service import ServiceReport, report_service
from engine.metrics.slo import Slo
from engine.metrics.spread import Spread

Number = float | int | None
PARTS = ("mean", "p50", "p90", "p95", "p99", "max")


@dataclass(frozen=True, slots=True)
class Report:
    """A run in numbers.

    Attributes:
        span: seconds from the first arrival to the last delivery.
        by_label: the same for the requests of each label.
    """

    span: float
    service: ServiceReport
    by_label: Mapping[str, ServiceReport]
    passes: PassReport

    def value(self, metric: str, label: str = "") -> Number:
        """A metric by name, of all requests or of one label; None where it is undefined.

        Raises:
            KeyError: no metric is called so, or it is none that a label can have.
        """
        if label:
            return name_service(self.by_label[label])[metric] if label in self.by_label else None
        return {**name_service(self.service), **name_passes(self.passes)}[metric]


def name_service(report: ServiceReport) -> dict[str, Number]:
    """What clients got, flat: times in milliseconds, rates a second."""
    named: dict[str, Number] = {
        "num_requests": report.num_requests,
        "num_completed": report.num_completed,
        "num_aborted": report.num_aborted,
        "num_rejected": report.num_rejected,
        "num_failed": report.num_failed,
        "num_prompt_tokens": report.num_prompt_tokens,
        "num_output_tokens": report.num_output_tokens,
        "rps": report.request_throughput,
        "out_tps": report.output_throughput,
        "goodput_rps": report.goodput,
        "attainment": report.attainment,
        "norm_latency_ms": _ms(report.norm_latency.mean if report.norm_latency else None),
    }
    for name in ("ttft", "tpot", "itl", "e2e"):
        spread: Spread | None = getattr(report, name)
        named[f"{name}_n"] = spread.n if spread else 0
        for part in PARTS:
            named[f"{name}_{part}_ms"] = _ms(getattr(spread, part) if spread else None)
    return named


def name_passes(report: PassReport) -> dict[str, Number]:
    """What the passes were spent on, flat: times in milliseconds, shares from 0 to 1."""
    return {
        "num_passes": report.num_passes,
        "num_tokens": report.num_tokens,
        "num_positions": report.num_positions,
        "recomputed_tokens": report.num_recomputed,
        "preemptions": report.num_preemptions,
        "busy_ms": _ms(report.busy),
        "busy_share": report.busy_share,
        "busy_ms_per_req": _ms(report.busy_per_request),
        "occupancy": report.occupancy,
        "held_share": report.held_share,
        "padding_share": report.padding_share,
        "useful_share": report.useful_share,
        "mean_batch": report.mean_batch,
        "peak_running": report.peak_running,
        "kv_peak": report.kv_peak,
        "prefix_queries": report.num_looked_up,
        "prefix_hits": report.num_hit,
        "prefix_hit_rate": report.hit_rate,
        "energy_j": report.energy,
        "energy_j_per_token": report.energy_per_token,
    }


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000


SERVICE_METRICS = tuple(name_service(report_service((), (), 0.0, Slo())))
PASS_METRICS = tuple(name_passes(PassTotals().report(0.0, 0, 0)))
