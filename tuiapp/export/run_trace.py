"""`RunTrace`: the events of one run as trace events; a sink of `tuiapp.running.headless`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from engine.events import (
    Arrived,
    Configured,
    Delivered,
    EngineInfo,
    Event,
    Failed,
    Finished,
    Gauges,
    Ready,
    Step,
    Token,
    Work,
)
from tuiapp.export.request_spans import RequestSpans
from tuiapp.export.slot_slices import SlotSlices
from tuiapp.export.trace import ENGINE, Process, Record, TraceWriter


class RunTrace:
    """Writes a run into a trace as it goes.

    Args:
        pid: which process of the trace the run is; `name` is what it is called there.
    """

    def __init__(self, writer: TraceWriter, pid: int, name: str) -> None:
        self._writer = writer
        self._process = Process(pid)
        self._slots = SlotSlices(self._process)
        self._requests = RequestSpans(self._process)
        self._info: EngineInfo | None = None
        self._num_blocks = 0
        writer.put(
            [
                self._process.metadata("process_name", ENGINE, {"name": name}),
                self._process.metadata("thread_name", ENGINE, {"name": "passes"}),
            ]
        )

    def write(self, events: Sequence[Event]) -> None:
        for event in events:
            self._writer.put(self._records(event))

    def close(self) -> None:
        """End what is still under way."""
        self._writer.put([*self._slots.close(), *self._requests.close()])

    def _records(self, event: Event) -> list[Record]:
        match event:
            case Ready(info=info):
                self._info = info
            case Configured(settings=settings):
                self._num_blocks = self._info.num_blocks(settings) if self._info else 0
            case Step():
                return self._step(event)
            case Arrived() | Token() | Delivered() | Finished():
                return self._requests.follow(event)
            case Gauges():
                return self._gauges(event)
            case Failed(time=time, message=message):
                return [self._process.instant(ENGINE, "failed", time, {"message": message})]
            case _:
                pass
        return []

    def _step(self, step: Step) -> list[Record]:
        records = self._slots.follow(step)
        if step.rows:
            records.append(self._pass(step))
        return [*records, *self._counters(step)]

    def _pass(self, step: Step) -> Record:
        works = [row.work for row in step.rows]
        args = {
            "tokens": step.num_tokens,
            "positions": step.num_slots,
            **{work.value: works.count(work) for work in Work},
            **{f"{name}_ms": seconds * 1000 for name, seconds in asdict(step.split).items()},
        }
        began = step.time - step.duration
        return self._process.complete(ENGINE, f"pass {step.index}", began, step.duration, args)

    def _gauges(self, gauges: Gauges) -> list[Record]:
        """What the device said of itself, each part only where it did."""
        gpu = gauges.gpu
        known = {
            f"{gauges.name} busy": ("share", gauges.utilisation),
            f"{gauges.name} memory": ("bytes", gauges.memory_used or None),
            "power": ("watts", gauges.power_w),
            "SM clock": ("MHz", gpu.sm_clock_mhz if gpu else None),
            "SM busy": ("share", gpu.sm_busy if gpu else None),
            "DRAM busy": ("share", gpu.dram_busy if gpu else None),
        }
        return [
            self._process.counter(name, gauges.time, {unit: value})
            for name, (unit, value) in known.items()
            if value is not None
        ]

    def _counters(self, step: Step) -> list[Record]:
        queues = {"waiting": step.num_waiting, "running": step.num_running}
        used = max(0, self._num_blocks - step.num_free_blocks)
        padding = step.num_slots - step.num_tokens
        return [
            self._process.counter("requests", step.time, queues),
            self._process.counter("KV blocks in use", step.time, {"blocks": used}),
            self._process.counter(
                "positions computed", step.time, {"tokens": step.num_tokens, "padding": padding}
            ),
        ]
