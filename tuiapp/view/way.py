"""`tell_way`: how an engine computes its passes, in words: what else makes it fast or slow."""

from __future__ import annotations

from engine.events import EngineInfo
from tuiapp.text import one_line

NO_WAY = ("", "-", "none")  # what engines that compute nothing call their way to attend


def tell_way(info: EngineInfo) -> str:
    """The way to attend, CPU threads, compilation and graphs; empty where nothing is computed."""
    return ", ".join(name_ways(info))


def name_ways(info: EngineInfo) -> list[str]:
    """The same, one by one; threads only where they compute, which on CUDA they do not."""
    if info.attention in NO_WAY:
        return []
    ways = [f"attention by {one_line(info.attention)}"]
    if not info.device_uuid:
        ways.append("1 thread" if info.num_threads == 1 else f"{info.num_threads} threads")
    if info.compilation:
        ways.append(one_line(info.compilation))
    if info.graphs:
        ways.append(f"CUDA graphs: {one_line(info.graphs)}")
    return ways
