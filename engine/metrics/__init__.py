"""Numbers from the event log: latencies as clients see them, and what the passes were spent on.

Everything here is a fold over events. Latencies are defined as in `vllm bench serve` and come
from client-side events alone, so that they can be had from any backend.
"""

from __future__ import annotations

from engine.metrics.fold import Metrics
from engine.metrics.passes import PassReport
from engine.metrics.report import Report
from engine.metrics.service import ServiceReport
from engine.metrics.slo import Slo
from engine.metrics.spread import Spread

__all__ = ["Metrics", "PassReport", "Report", "ServiceReport", "Slo", "Spread"]
