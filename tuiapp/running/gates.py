"""`--fail-if` and `--slo`: what a run must keep to, so that it can gate a CI job."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.config import ConfigError, build, suggest
from engine.metrics import Slo
from engine.metrics.report import PASS_METRICS, SERVICE_METRICS, Number
from tuiapp.running.outcome import Outcome

OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
CONDITION = re.compile(r"\s*(\w+)\s*(?:\[(.+)\])?\s*(<=|>=|==|!=|<|>)\s*(\S+)\s*")
EXAMPLE = "write it as 'ttft_p95_ms > 500', or 'ttft_p95_ms[short] > 500' for one class"


@dataclass(frozen=True, slots=True)
class Condition:
    """A run fails if `metric` of `label`, or of all requests, compares so with `limit`."""

    metric: str
    op: str
    limit: float
    label: str = ""

    def __str__(self) -> str:
        label = f"[{self.label}]" if self.label else ""
        return f"{self.metric}{label} {self.op} {self.limit:g}"


@dataclass(frozen=True, slots=True)
class Finding:
    """A condition that a run met, and so failed.

    Attributes:
        measured: None where the metric is undefined in that run, which fails it too: a gate
            that cannot see must not wave through.
    """

    condition: Condition
    variant: str
    measured: Number

    def __str__(self) -> str:
        if self.measured is None:
            return f"{self.variant}: {self.condition.metric} is undefined ({self.condition})"
        return f"{self.variant}: {self.condition.metric} = {self.measured:.6g} ({self.condition})"


def read_condition(text: str, labels: Sequence[str]) -> Condition:
    """Read what `--fail-if` was given.

    Args:
        labels: of the requests.

    Raises:
        ConfigError: it is no condition, or there is no such metric or class.
    """
    found = CONDITION.fullmatch(text)
    if not found:
        raise ConfigError(f"{text!r} is no condition; {EXAMPLE}", place="--fail-if")
    metric, label, op, number = found.groups(default="")
    metrics = SERVICE_METRICS if label else (*SERVICE_METRICS, *PASS_METRICS)
    for value, known in ((metric, metrics), (label, labels)):
        if value and value not in known:
            raise ConfigError(f"{value!r} is unknown; {suggest(value, known)}", place="--fail-if")
    return Condition(metric, op, _read_limit(number), label)


def read_slo(text: str, preset: Slo) -> tuple[Slo, Condition]:
    """Read what `--slo` was given: objectives, and the attainment to reach.

    Args:
        text: as `ttft_ms=500,tpot_ms=50,attainment=0.95`; `preset` for the preset's own
            objectives. Without an attainment every request has to meet them.
        preset: the preset's own.

    Raises:
        ConfigError: there is no such objective, or none at all.
    """
    pairs = [part.strip() for part in text.split(",") if part.strip() not in ("", "preset")]
    table = dict(_read_pair(pair) for pair in pairs)
    attainment = table.pop("attainment", 1.0)
    if not 0 < attainment <= 1:
        raise ConfigError(
            f"attainment must be above 0 and at most 1, got {attainment:g}", (), "--slo"
        )
    slo = build(Slo, table, "--slo") if table else preset
    if not slo.is_set:
        raise ConfigError(
            "no objective: the preset has none; name one, as 'ttft_ms=500'", (), "--slo"
        )
    return slo, Condition("attainment", "<", attainment)


def examine(conditions: Sequence[Condition], outcomes: Sequence[Outcome]) -> tuple[Finding, ...]:
    """Every condition that a run met, or that cannot be judged in it."""
    findings = []
    for outcome in outcomes:
        for condition in conditions:
            measured = outcome.value(condition.metric, condition.label)
            is_met = measured is None or OPERATORS[condition.op](measured, condition.limit)
            if is_met:
                findings.append(Finding(condition, outcome.name, measured))
    return tuple(findings)


def _read_limit(text: str) -> float:
    """What a metric is compared with; nothing compares with what is not a number.

    Raises:
        ConfigError: it is no number.
    """
    try:
        limit = float(text)
    except ValueError:
        limit = math.nan
    if math.isfinite(limit):
        return limit
    raise ConfigError(f"{text!r} is no finite number; {EXAMPLE}", place="--fail-if")


def _read_pair(text: str) -> tuple[str, float]:
    key, separator, number = text.partition("=")
    try:
        if separator:
            return key.strip(), float(number)
    except ValueError:
        pass
    raise ConfigError(f"{text!r} is no objective; write it as 'ttft_ms=500'", place="--slo")
