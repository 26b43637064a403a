"""The preset that `batchscope import` writes: a trace, and what stands in where it is missing."""

from __future__ import annotations

import json
from collections import Counter

from engine.traces import Survey, TraceFile
from engine.traces.survey import SHARES, quantiles

LIMIT = 500  # rows that are played at first; the file says how to play more

HEAD = """\
schema = 1

# {path}, a trace like {format}
{counts}
[preset]
id = {id}
title = {title}
summary = {summary}
watch = ["How uneven recorded arrivals are", "TTFT of each engine under the same requests"]
tags = ["trace"]
source = {source}

[engine]
max_num_seqs = 16
max_batch_size = 16
deliver = "stream"

[[compare]]
name = "static"
batcher = "static"

[[compare]]
name = "dynamic"
batcher = "dynamic"

[[compare]]
name = "continuous"
batcher = "continuous"

[[trace]]
name = "recorded"
path = {path}
format = {format}
sha256 = {sha256}
{ordered}limit = {limit}               # of {kept} rows that can be played, the first by time
# window = {{ from_s = 600, to_s = 660 }}
# prompt = {{ scale = 0.25, max = 1024 }}
# output = {{ scale = 0.25, max = 256 }}
"""


def write_preset(trace: TraceFile, found: Survey, preset_id: str) -> str:
    """The text of a preset that plays a trace.

    Args:
        preset_id: the name of its file without the ending.
    """
    kept = found.tally.num_kept
    is_ordered = trace.format.has_stamps and found.gaps.is_sorted
    text = HEAD.format(
        path=_quote(str(trace.path.resolve())),
        format=_quote(trace.format_name),
        counts="".join(f"# {line}\n" for line in found.tally.lines()),
        id=_quote(preset_id),
        title=_quote(f"Recorded: {trace.path.name}"),
        summary=_quote(_summary(found)),
        source=_quote(trace.path.name),
        sha256=_quote(trace.sha256()),
        ordered="ordered = true\n" if is_ordered else "",
        limit=min(LIMIT, kept),
        kept=kept,
    )
    if not trace.format.has_stamps:
        text += 'arrivals = { kind = "poisson", rate = 1.0 }   # it does not say when they came\n'
    if found.prompts and found.outputs and not found.num_texts:
        text += _fallback(found, min(LIMIT, kept))
    return text


def _summary(found: Survey) -> str:
    kept, gaps = found.tally.num_kept, found.gaps
    parts = [f"{kept:,} recorded requests"]
    if gaps.span:
        parts.append(f"over {gaps.span:,.0f} s, {kept / gaps.span:.3g} a second")
    if gaps.cv is not None:
        parts.append(f"gaps with a coefficient of variation of {gaps.cv:.2f}")
    for name, lengths in (("prompts", found.prompts), ("outputs", found.outputs)):
        if lengths:
            p50, p99, most = quantiles(lengths, (0.5, 0.99, 1.0))
            parts.append(
                f"{name} of {p50:,} tokens at the median, {p99:,} at p99, {most:,} at most"
            )
    return "; ".join(parts) + "."


def _fallback(found: Survey, count: int) -> str:
    """Made-up requests like these, for those who have the preset and not the file."""
    rate = found.tally.num_kept / found.gaps.span if found.gaps.span else 1.0
    cv = found.gaps.cv
    kind = f'kind = "gamma", rate = {rate:.4g}, cv = {cv:.4g}' if cv else _poisson(rate)
    return (
        "\n[trace.fallback]              # what is played where the file is not there\n"
        f"count = {count}\n"
        f"arrival = {{ {kind} }}\n"
        f"prompt = {_quantiles(found.prompts)}\n"
        f"output = {_quantiles(found.outputs)}\n"
    )


def _poisson(rate: float) -> str:
    return f'kind = "poisson", rate = {rate:.4g}'


def _quantiles(lengths: Counter[int]) -> str:
    p = ", ".join(f"{share:g}" for share in SHARES).replace("0,", "0.0,", 1)
    v = ", ".join(str(length) for length in quantiles(lengths))
    return f'{{ kind = "quantiles", p = [{p}], v = [{v}] }}'


def _quote(text: str) -> str:
    """Text as TOML writes it, which JSON does in the same way."""
    return json.dumps(text, ensure_ascii=False)
