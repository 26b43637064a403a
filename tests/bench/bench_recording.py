"""What recordings cost: size, time to write, to open, to seek in, to rebuild an index.

Run it with `python -m tests.bench.bench_recording [HOURS]`. The run is simulated under the linear
cost model: eight slots, always busy, a pass of about 12.6 ms. Seeks are in CPU seconds too, since
others may use the machine.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from engine.assembly import ModelSpec, build_core
from engine.backends.player import Player
from engine.clock import VirtualClock
from engine.log import EventLog
from engine.recording import Recording, RecordingWriter
from engine.request import Request, SamplingParams
from engine.settings import EngineSettings
from tuiapp.view.rewind import open_log

NUM_SEEKS = 20


def main() -> None:
    hours = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        report(path, *write(path, hours * 3600))


def write(path: Path, seconds: float) -> tuple[int, float, float]:
    """Record a run; return its passes, and the CPU seconds of the engine and of the writer."""
    log, clock, rng = EventLog(8192), VirtualClock(), Random(0)
    core = build_core(ModelSpec(device="sim:linear"), EngineSettings(), clock, log)
    writer = RecordingWriter(path, {})
    position = num_requests = num_passes = 0
    engine = recorder = 0.0
    while clock.now() < seconds:
        began = time.process_time()
        while len(core.queues.waiting) < 4:
            prompt = (1,) * rng.randint(16, 256)
            sampling = SamplingParams(max_tokens=rng.randint(5, 200))
            core.add(Request(f"r{num_requests}", prompt, sampling, clock.now()))
            num_requests += 1
        num_passes += bool(core.step().rows)
        ran = time.process_time()
        events, position = log.since(position)
        writer.write(events)
        engine, recorder = engine + ran - began, recorder + time.process_time() - ran
    writer.close()
    return num_passes, engine, recorder


def report(path: Path, num_passes: int, engine: float, recorder: float) -> None:
    size = path.stat().st_size
    print(f"{num_passes:,} passes, {size / 2**20:,.0f} MiB, {size / num_passes:,.0f} bytes a pass")
    print(f"engine {engine / num_passes * 1e6:.0f} us a pass in this process")
    print(f"recorder {recorder / num_passes * 1e6:.0f} us a pass")
    recording, opened = timed(lambda: Recording(path))
    print(f"opened in {opened * 1000:.0f} ms, {len(recording.index.marks):,} marks")
    player = Player(recording)
    player.pause()
    rng = Random(1)
    moments = [rng.uniform(0, recording.duration) for _ in range(NUM_SEEKS)]
    before = time.process_time()
    seeks = sorted(timed(lambda moment=moment: player.seek(moment))[1] for moment in moments)
    cpu = (time.process_time() - before) / NUM_SEEKS
    shows = sorted(timed(lambda: open_log(player.log).poll(0.0))[1] for _ in range(5))
    print(f"seek: median {seeks[NUM_SEEKS // 2] * 1000:.0f} ms, worst {seeks[-1] * 1000:.0f} ms")
    print(f"seek: {cpu * 1000:.0f} ms of CPU on average")
    print(f"the screen's fold after a seek: {shows[2] * 1000:.0f} ms")
    with path.open("r+b") as file:
        file.truncate(recording.index.end - 7)
    rebuilt, seconds = timed(lambda: Recording(path))
    assert rebuilt.index.marks == recording.index.marks
    print(f"opened without its index in {seconds:.2f} s")


def timed(work: Callable[[], object]):
    began = time.perf_counter()
    result = work()
    return result, time.perf_counter() - began


if __name__ == "__main__":
    main()
