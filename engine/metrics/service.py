"""What clients got: latencies, throughput and goodput."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.metrics.slo import Slo
from engine.metrics.spread import Spread
from engine.metrics.timing import Timing
from engine.request import FinishReason


@dataclass(frozen=True, slots=True)
class ServiceReport:
    """All requests, or those of one label. Latencies are in seconds; None is undefined.

    TTFT and ITL take in whatever was delivered; TPOT, E2EL and normalised latency only requests
    that were answered in full.

    Attributes:
        num_requests: arrived; those ended are completed, aborted, rejected or failed.
        num_output_tokens: delivered.
        itl: gaps between the deliveries of a request, all requests pooled; several tokens that
            came together make one gap.
        norm_latency: E2EL by output token, of each request, as in Orca and vLLM's paper.
        request_throughput: completed requests a second, from first arrival to last delivery.
        output_throughput: delivered tokens a second, likewise.
        goodput: requests a second that met every objective; None where there is none.
        attainment: their share of the requests that arrived; one that was aborted, refused or
            is not answered yet is not good.
    """

    num_requests: int
    num_completed: int
    num_aborted: int
    num_rejected: int
    num_failed: int
    num_prompt_tokens: int
    num_output_tokens: int
    ttft: Spread | None
    tpot: Spread | None
    itl: Spread | None
    e2e: Spread | None
    norm_latency: Spread | None
    request_throughput: float | None
    output_throughput: float | None
    goodput: float | None
    attainment: float | None


def report_service(
    timings: Sequence[Timing], gaps: Sequence[float], span: float, slo: Slo
) -> ServiceReport:
    """Sum up some requests.

    Args:
        gaps: between deliveries, in seconds.
        span: seconds that throughput counts by; 0 leaves it undefined.
    """
    complete = [timing for timing in timings if timing.is_complete]
    e2e = [latency for timing in complete if (latency := timing.e2e) is not None]
    num_output_tokens = sum(timing.num_delivered for timing in timings)
    num_good = sum(slo.is_met(timing) for timing in complete)
    return ServiceReport(
        num_requests=len(timings),
        num_completed=len(complete),
        num_aborted=_count(timings, FinishReason.ABORT),
        num_rejected=_count(timings, FinishReason.REJECTED),
        num_failed=_count(timings, FinishReason.ERROR),
        num_prompt_tokens=sum(timing.num_prompt_tokens for timing in complete),
        num_output_tokens=num_output_tokens,
        ttft=Spread.of([ttft for timing in timings if (ttft := timing.ttft) is not None]),
        tpot=Spread.of([tpot for timing in complete if (tpot := timing.tpot) is not None]),
        itl=Spread.of(gaps),
        e2e=Spread.of(e2e),
        norm_latency=Spread.of(
            [latency / each.num_delivered for latency, each in zip(e2e, complete, strict=True)]
        ),
        request_throughput=len(complete) / span if span else None,
        output_throughput=num_output_tokens / span if span else None,
        goodput=num_good / span if span and slo.is_set else None,
        attainment=num_good / len(timings) if timings and slo.is_set else None,
    )


def _count(timings: Sequence[Timing], reason: FinishReason) -> int:
    return sum(timing.reason is reason for timing in timings)
