"""What the engine knows of its own use: passes, slots, tokens, and how near they come to peaks."""

from __future__ import annotations

from engine.events import EngineInfo
from tuiapp.keys import Keys
from tuiapp.view.device import name_device
from tuiapp.view.use_row import UseRow
from tuiapp.view.utilisation import Reading


def engine_rows(reading: Reading, info: EngineInfo, keys: Keys) -> list[UseRow]:
    """What can be told of an engine without asking its device.

    Args:
        keys: to name the one that tells more.
    """
    return [
        _computing(reading, info),
        *_graph_rows(reading, info),
        *_pass_rows(reading, keys),
        *_peak_rows(reading, info),
    ]


def _computing(reading: Reading, info: EngineInfo) -> UseRow:
    if info.is_simulated:
        means = "the share of the time that passes take by the cost model: simulated"
    elif info.device_uuid:
        means = "CUDA events around each pass: the share of the time in which its kernels ran"
    else:
        means = "the share of the time in the model's forward pass and in sampling"
    return UseRow(
        "computing",
        reading.computing,
        means,
        "a kernel that fills a tenth of the device counts in full, and so do gaps within a pass",
    )


def _graph_rows(reading: Reading, info: EngineInfo) -> list[UseRow]:
    """How passes are launched, on a device that has a choice."""
    if not info.graphs:
        return []
    last = f"; the last one: {reading.mode}" if reading.mode else ""
    return [
        UseRow(
            "CUDA graphs",
            reading.graphed,
            f"the share of passes replayed as a graph{last}",
            "passes with prompt tokens in them never are, so that it says what the traffic is too",
            problem=f"n/a: {info.graphs}" if info.graphs.startswith("off") else "",
        )
    ]


def _pass_rows(reading: Reading, keys: Keys) -> list[UseRow]:
    return [
        UseRow(
            "engine busy",
            reading.engine_busy,
            "the share of the time in which a pass ran, with all that the host does for it",
            "a pass over padding is a pass too; what is above computing is the host: "
            f"press {keys['profile']}",
        ),
        UseRow(
            "slots busy",
            reading.slots_busy,
            "slots whose sequence had tokens to make, while passes ran",
            "the number of slots is a setting: halve it and this doubles, with nothing gained",
        ),
        UseRow(
            "useful tokens",
            reading.useful,
            "token positions computed for the first time: no padding, no dead row, nothing again",
            "it says nothing of speed: a slow pass of useful tokens alone reads 100 %",
        ),
    ]


def _peak_rows(reading: Reading, info: EngineInfo) -> list[UseRow]:
    peaks = reading.peaks
    problem = "" if peaks else f"n/a: no peaks known of {name_device(info)}"
    bandwidth = f" ({_big(peaks.bandwidth)}B/s, {peaks.source})" if peaks else ""
    flops = f" ({_big(peaks.flops)}FLOP/s, {peaks.source})" if peaks else ""
    is_measured = peaks is not None and peaks.source != "data sheet"
    return [
        UseRow(
            "MBU",
            reading.mbu,
            f"bytes of weights and KV cache that passes had to read, of the peak{bandwidth}",
            "a model that a CPU's cache holds is read faster than memory: above 100 %"
            if is_measured
            else "passes full of prompt tokens are bound by arithmetic, and read low without fault",
            problem=problem,
        ),
        UseRow(
            "MFU",
            reading.mfu,
            f"2 × parameters × tokens, of the peak{flops}",
            "decoding is bound by memory: a few per cent are its nature; attention is left out",
            problem=problem,
        ),
    ]


def _big(number: float) -> str:
    """To three digits, with the prefix of its thousands."""
    for prefix, size in (("P", 1e15), ("T", 1e12), ("G", 1e9)):
        if number >= size:
            return f"{number / size:.3g} {prefix}"
    return f"{number / 1e6:.3g} M"
