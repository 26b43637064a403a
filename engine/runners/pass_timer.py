"""`PassTimer`: where a pass spent its time, on the host and on the device."""

from __future__ import annotations

import time

import torch

from engine.plan import PassTiming


class PassTimer:
    """Marks the moments of one pass, in the order of its methods.

    On CUDA a pair of events goes into the stream. They are read once the tokens have come, when
    the device has passed both, so that nobody waits for them. A CPU computes while it is called.
    """

    __slots__ = ("_began", "_called", "_end", "_prepared", "_sampled", "_start")

    def __init__(self, device: torch.device) -> None:
        is_cuda = device.type == "cuda"
        self._start = _make_event() if is_cuda else None
        self._end = _make_event() if is_cuda else None
        self._began = self._prepared = self._called = self._sampled = time.perf_counter()

    def prepared(self) -> None:
        """The inputs are on their way to the device."""
        self._prepared = time.perf_counter()
        if self._start:
            self._start.record()

    def called(self) -> None:
        """The model was called."""
        self._called = time.perf_counter()

    def sampled(self) -> None:
        """The calls that choose tokens were made."""
        self._sampled = time.perf_counter()
        if self._end:
            self._end.record()

    def read(self) -> PassTiming:
        """What was measured; for a pass whose tokens have come."""
        return PassTiming(
            prepare=self._prepared - self._began,
            sample=self._sampled - self._called,
            device=self._device_seconds(),
        )

    def _device_seconds(self) -> float:
        if self._start is None or self._end is None:
            return self._sampled - self._prepared
        has_passed: bool = self._end.query()  # type: ignore[no-untyped-call]
        return float(self._start.elapsed_time(self._end)) / 1000 if has_passed else 0.0


def _make_event() -> torch.cuda.Event:
    event: torch.cuda.Event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
    return event
