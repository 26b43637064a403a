"""What was measured, the table of it, and which bars it meets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from engine.settings import BatcherName
from tests.gpu.contenders import Speed
from tests.gpu.shapes import DRY, LARGEST, Scale

HALF, MOST = 0.5, 0.7  # of the roofline, for batch 1 of the largest model: as is, and compiled
TWICE = 2.0  # times `generate_batch` at 64 requests, for the small models
WHOS = ("engine", "compiled", "generate", "generate_batch")


@dataclass
class Findings:
    """By model, by who served, and by how many requests at once.

    Attributes:
        bandwidth: bytes a second that a copy reads and writes.
        roofs: seconds of a pass that only reads weights and keys and values, at that bandwidth.
        is_same: whether graphs change no token in float32; None where it was not tried.
        num_replays: passes that were replayed from a graph for that.
    """

    bandwidth: float
    speeds: dict[tuple[str, str, int], Speed] = field(default_factory=dict)
    roofs: dict[tuple[str, int], float] = field(default_factory=dict)
    is_same: bool | None = None
    num_replays: int = 0

    def share(self, name: str, who: str, size: int) -> float | None:
        """Of the roofline, that a decoding pass reaches."""
        speed, roof = self.speeds.get((name, who, size)), self.roofs.get((name, size))
        return roof / speed.step if roof and speed and speed.step else None

    def note(self, name: str, who: str, size: int, speed: Speed) -> None:
        """Keep a speed, and print it at once: of what comes later some may be lost."""
        self.speeds[name, who, size] = speed
        share = self.share(name, who, size)
        step = f"; step {speed.step * 1e3:.2f} ms, {share:.0%} of the roofline" if share else ""
        step += f", device {speed.device * 1e3:.2f} ms" if speed.device else ""
        what = f"{size} at once" if size else "mixed"
        print(f"    {name} {who}, {what}: {speed.tokens_per_second:.0f} tokens/s{step}", flush=True)

    def save(self, path: Path) -> None:
        """Write all of it as JSON."""
        rows: list[dict[str, Any]] = [
            {"model": name, "who": who, "batch": size, **asdict(speed)}
            | {"roofline_share": self.share(name, who, size)}
            for (name, who, size), speed in self.speeds.items()
        ]
        found = {"bandwidth": self.bandwidth, "same_tokens": self.is_same, "speeds": rows}
        path.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


def print_speeds(scale: Scale, found: Findings) -> None:
    print(f"\nbandwidth of a copy: {found.bandwidth / 1e12:.2f} TB/s; tokens a second, output")
    heads = "".join(f"{who:>15}" for who in WHOS)
    print(f"{'model':>6}{'batch':>6}{heads}  step ms (of roof), device ms")
    for name in scale.shapes:
        for size in scale.batch_sizes:
            cells = [found.speeds.get((name, who, size)) for who in WHOS]
            texts = [f"{cell.tokens_per_second:>15.0f}" if cell else f"{'-':>15}" for cell in cells]
            steps = [
                f"{cell.step * 1e3:.2f} ({found.roofs[name, size] / cell.step:.0%}),"
                f" {cell.device * 1e3:.2f}"
                for cell in cells[:2]
                if cell and cell.step
            ]
            print(f"{name:>6}{size:>6}" + "".join(texts) + "  " + "; ".join(steps))
        mixed = {each.value: found.speeds.get((name, each.value, 0)) for each in BatcherName}
        words = [f"{each} {s.tokens_per_second:.0f}" for each, s in mixed.items() if s]
        print(f"{name:>6} mixed, 8 slots: {', '.join(words) or 'not measured'} tokens/s")


def bars(scale: Scale, found: Findings) -> Iterator[tuple[str, str, bool | None]]:
    """Each bar: what, how much, whether it is met; None where it was not measured."""
    what = f"same tokens with graphs, {found.num_replays} passes of them, and without, float32"
    if scale is DRY:
        what = "same tokens from two engines without graphs, which a CPU has none of, float32"
    yield what, str(found.is_same), found.is_same
    for who, bar in (("engine", HALF), ("compiled", MOST)):
        share = found.share(LARGEST, who, 1)
        text = "-" if share is None else f"{share:.0%}"
        yield f"{LARGEST} {who}, batch 1: {bar:.0%} of the roofline", text, share and share >= bar
    for name in scale.shapes:
        for size in scale.batch_sizes:
            needed = TWICE if size == 64 and name != LARGEST else 1.0
            ours = found.speeds.get((name, "engine", size))
            theirs = found.speeds.get((name, "generate_batch", size))
            is_known = ours is not None and theirs is not None
            ratio = ours.tokens_per_second / theirs.tokens_per_second if is_known else None
            text = "-" if ratio is None else f"{ratio:.2f}x"
            what = f"{name}, batch {size}: {needed:.0f}x generate_batch"
            yield what, text, ratio and ratio >= needed


def print_bars(scale: Scale, found: Findings) -> bool:
    """Print which bars are met; return whether all are, none missed and none left unmeasured."""
    print("\nbars" + (", which a CPU and such models mean nothing to" if scale is DRY else ""))
    is_good = True
    for what, measured, is_met in bars(scale, found):
        verdict = "NOT MEASURED" if is_met is None else "pass" if is_met else "FAIL"
        print(f"{verdict:>13}  {measured:>8}  {what}")
        is_good &= bool(is_met)
    return is_good
