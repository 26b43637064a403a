"""What a workload is like: how long its prompts and outputs are, and when its requests come."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

from textual.content import Content

from engine.generate.draft import Draft
from tuiapp.widgets.hanging import hang
from tuiapp.widgets.histogram import columns, count_bins, is_logarithmic

HEIGHT, NAME, MOST_BINS = 2, 15, 60
FEW_BURSTS = 3  # moments of arrival that are told rather than drawn


def draw_workload(drafts: Sequence[Draft], width: int) -> Content:
    """Three charts with their figures.

    Args:
        drafts: the requests, as they will be asked.
        width: in cells.
    """
    prompts = [
        draft.num_prompt_tokens + draft.num_prefix_tokens
        for draft in drafts
        if draft.num_prompt_tokens is not None
    ]
    outputs = [d.num_output_tokens for d in drafts if d.num_output_tokens is not None]
    parts = [
        _lengths("prompt tokens", prompts, len(drafts), width, "$phase-prefill"),
        _lengths("output tokens", outputs, len(drafts), width, "$phase-decode-ink"),
        _arrivals(drafts, width),
    ]
    return Content("\n").join(parts)


def _lengths(
    name: str, lengths: Sequence[int], num_requests: int, width: int, colour: str
) -> Content:
    """A chart of lengths; those that a text decides are counted beside it."""
    num_texts = num_requests - len(lengths)
    texts = f", {num_texts} as their texts give" if num_texts else ""
    if not lengths:
        return _head(name, "as the texts give", width)
    low, high = min(lengths), max(lengths)
    if low == high:
        return _head(name, f"{low:,} each{texts}", width)
    is_log = is_logarithmic(lengths)
    axis = ", log axis" if is_log else ""
    told = f"{low:,} to {high:,}, half up to {median(lengths):,.0f}{texts}{axis}"
    counts = count_bins(lengths, _num_bins(width), logarithmic=is_log)
    return _chart(_head(name, told, width), counts, colour)


def _arrivals(drafts: Sequence[Draft], width: int) -> Content:
    """A chart of requests by time; those that wait for an answer have no time of their own."""
    times = [draft.arrival for draft in drafts if not draft.follows]
    num_following = len(drafts) - len(times)
    after = f", {num_following} each after an answer" if num_following else ""
    if not times:
        return _head("arrivals", after.removeprefix(", "), width)
    bursts = Counter(times)
    if len(bursts) <= FEW_BURSTS:
        told = ", ".join(f"{count:,} at {time:g} s" for time, count in sorted(bursts.items()))
        return _head("arrivals", told + after, width)
    first, last = min(times), max(times)
    num_bins = _num_bins(width)
    counts = count_bins(times, num_bins)
    peak = max(counts) / ((last - first) / num_bins)
    mean = len(times) / (last - first)
    told = f"{first:.3g} to {last:.3g} s, {mean:,.3g}/s, at most {peak:,.3g}/s{after}"
    return _chart(_head("arrivals", told, width), counts, "$success")


def _chart(head: Content, counts: Sequence[float], colour: str) -> Content:
    lines = [Content.styled(f"  {line}", colour) for line in columns(counts, HEIGHT)]
    return Content("\n").join([head, *lines])


def _num_bins(width: int) -> int:
    return max(8, min(MOST_BINS, width - 2))


def _head(name: str, told: str, width: int) -> Content:
    return hang(Content.styled(f"{name:<{NAME}}", "$muted"), told, width)
