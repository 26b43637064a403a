"""A run, or a preset, as one JSON object. Times are in milliseconds, rates a second."""

from __future__ import annotations

import json
from dataclasses import asdict
from enum import Enum
from typing import Any

from engine.config import ConfigError
from engine.metrics.report import PASS_METRICS, SERVICE_METRICS
from tuiapp.presets import Claim, Preset
from tuiapp.reports.profile import profile_to_json
from tuiapp.running.outcome import Outcome
from tuiapp.running.study import Study, ratio

Json = dict[str, Any]
METRICS = (*SERVICE_METRICS, *PASS_METRICS)


def dump(table: Json) -> str:
    """Write JSON that any reader takes: no NaN, and enums by value."""
    return json.dumps(table, indent=2, allow_nan=False, ensure_ascii=False, default=_plain)


def study_to_json(study: Study) -> Json:
    """All runs, with what became of the claims and of the conditions."""
    first = study.outcomes[0]
    return {
        "preset": study.name,
        "seed": study.seed,
        "pace": study.pace,
        "simulated": study.is_simulated,
        "interrupted": study.is_interrupted,
        "verdict": study.judgement or None,
        "runs": [
            {**outcome_to_json(outcome), "ratios": ratios_to_json(outcome, first)}
            for outcome in study.outcomes
        ],
        "claims": [
            {
                **claim_to_json(verdict.claim),
                "verdict": verdict.ruling,
                "measured": verdict.measured,
                "limit": verdict.limit,
            }
            for verdict in study.verdicts
        ],
        "failed_conditions": [
            {
                "condition": str(finding.condition),
                "variant": finding.variant,
                "measured": finding.measured,
            }
            for finding in study.findings
        ],
    }


def ratios_to_json(outcome: Outcome, first: Outcome) -> Json:
    """Every metric of all requests, as how many times that of the first run; none is null."""
    return {name: ratio(outcome.value(name), first.value(name)) for name in METRICS}


def outcome_to_json(outcome: Outcome) -> Json:
    """The runs of one engine; every number is the middle one of them."""
    report = outcome.report
    return {
        "variant": outcome.variant,
        "course": outcome.course,
        "simulated": outcome.info.is_simulated,
        "interrupted": outcome.is_interrupted,
        "settings": asdict(outcome.settings),
        "info": asdict(outcome.info),
        "span_s": report.span,
        "num_runs": outcome.num_runs,
        "overall": {metric: outcome.value(metric) for metric in METRICS},
        "classes": {
            label: {metric: outcome.value(metric, label) for metric in SERVICE_METRICS}
            for label in report.by_label
        },
        "spread": _spreads(outcome) if outcome.num_runs > 1 else {},
        "complaints": outcome.complaints,
        "profile": profile_to_json(outcome.profile),
    }


def _spreads(outcome: Outcome) -> Json:
    """Between what every metric of all requests lies; none that no run has."""
    found = {metric: outcome.values(metric) for metric in METRICS}
    return {metric: [min(values), max(values)] for metric, values in found.items() if values}


def preset_to_json(preset: Preset) -> Json:
    """A preset as it is listed."""
    about = preset.about
    return {
        "name": preset.name,
        "title": about.title,
        "summary": about.summary.strip(),
        "watch": about.watch,
        "tags": about.tags,
        "source": about.source,
        "path": str(preset.path),
        "num_requests": len(preset.drafts),
        "model": preset.model,
        "notices": preset.notices,
        "labels": preset.labels,
        "variants": [variant.name for variant in preset.variants],
        "claims": [claim_to_json(claim) for claim in preset.claims],
    }


def error_to_json(error: ConfigError) -> Json:
    """A preset that cannot be read."""
    return {"place": error.place, "path": list(error.path), "problem": error.problem}


def claim_to_json(claim: Claim) -> Json:
    """A claim, under the keys that it has in its file."""
    table = asdict(claim)
    table["class"], table["right_class"] = table.pop("label"), table.pop("right_label")
    return {key: value for key, value in table.items() if value not in ("", None)}


def _plain(value: object) -> object:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, frozenset):
        return sorted(value)
    raise TypeError(f"no JSON for {value!r}")
