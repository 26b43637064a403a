"""Recordings of small runs."""

from __future__ import annotations

from pathlib import Path

from engine.events import Event
from engine.recording import Recording, RecordingWriter
from tests.builders import ask, make_core

CROWD = tuple(ask(f"r{index}", 3 + index % 5, 4 + index * 7 % 30) for index in range(20))


def run_crowd(num_passes: int = 90, **knobs) -> list[Event]:
    """What an engine logs that serves twenty requests with too few blocks."""
    core = make_core(*CROWD, num_kv_blocks=24, block_size=4, **knobs)
    for _ in range(num_passes):
        core.step()
    return core.log.since(0)[0]


def record(path: Path, events: list[Event], about=None) -> Recording:
    writer = RecordingWriter(path, about or {})
    writer.write(events)
    writer.close()
    return Recording(path)
