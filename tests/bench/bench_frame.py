"""What a frame costs: `python tests/bench/bench_frame.py`, in CPU time of this process.

The live screen draws ten frames for each second of a simulated engine whose slots each get fifty
tokens a second, without a terminal; what ANSI costs on top is in the screen's own benchmark.
`--recording FILE` opens a recording instead, and goes back through it frame by frame.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.assembly import build_core
from engine.backends.replay import ReplayBackend
from engine.clock import VirtualClock
from engine.log import EventLog
from engine.recording import Recording
from engine.request import Request, SamplingParams
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from tuiapp.app import Playground
from tuiapp.library.replaying import replay_session
from tuiapp.session import Session
from tuiapp.shot.stage import set_stage
from tuiapp.shot.stepped import SteppedBackend

TOKENS_PER_SECOND, FRAMES_PER_SECOND = 50, 10
CASES = [(8, (120, 36), 15.0), (64, (200, 60), 30.0)]  # slots, size, at most so many ms a frame
OPENING, SCRUBBING = 2.0, 0.1  # seconds: to open a recording, and to show one of its frames


def busy_session(num_slots: int) -> tuple[Session, SteppedBackend]:
    """An engine whose slots are always taken."""
    settings = EngineSettings(max_num_seqs=num_slots, num_kv_blocks=num_slots * 64)
    clock = VirtualClock()
    core = build_core(ModelSpec(device="sim:linear"), settings, clock, EventLog())
    backend = SteppedBackend(core, clock)
    for number in range(num_slots * 20):
        length = 100 + number * 37 % 400
        sampling = SamplingParams(max_tokens=length)
        backend.submit(Request(f"r{number}", (3 + number % 50,) * 64, sampling, label="bench"))
    return Session(backend, core.settings), backend


async def frames(num_slots: int, size: tuple[int, int], count: int) -> list[float]:
    """CPU milliseconds of each frame, the engine's own left out."""
    session, backend = busy_session(num_slots)
    costs = []
    async with set_stage(Playground(session), size) as stage:
        for _ in range(count):
            backend.run(TOKENS_PER_SECOND // FRAMES_PER_SECOND)
            began = process_time()
            stage.live.draw()
            await stage.pilot.pause()
            costs.append((process_time() - began) * 1000)
    return costs


async def scrub(path: Path, count: int) -> tuple[float, list[float]]:
    """Seconds until a recording is on the screen, and of each pass that is gone back."""
    began = perf_counter()
    recording = Recording(path)
    backend = ReplayBackend(recording)
    app = Playground(replay_session(recording, backend))
    backend.start()
    try:
        async with set_stage(app, (120, 36)) as stage:
            opened = perf_counter() - began
            await stage.press("end")
            costs = []
            for _ in range(count):
                began = perf_counter()
                await stage.pilot.press("left")
                costs.append(perf_counter() - began)
            return opened, costs
    finally:
        backend.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=600)
    parser.add_argument("--recording", type=Path)
    options = parser.parse_args()
    if options.recording:
        opened, costs = asyncio.run(scrub(options.recording, 60))
        print(f"opened in {opened:.2f} s (at most {OPENING:g})")
        print(f"a pass back: median {median(costs) * 1000:.0f} ms (at most {SCRUBBING * 1000:.0f})")
    for num_slots, size, most in [] if options.recording else CASES:
        costs = sorted(asyncio.run(frames(num_slots, size, options.frames)))
        p95 = costs[int(len(costs) * 0.95)]
        told = f"median {median(costs):5.1f} ms, p95 {p95:5.1f} ms (at most {most:g})"
        print(f"{num_slots:>3} slots, {size[0]}x{size[1]}: {told}")
    print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
