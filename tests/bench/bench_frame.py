"""What a frame costs: `python tests/bench/bench_frame.py`, in CPU time of a process with a screen.

The real app runs in a terminal of its own, at the ten frames a second of its own timer, beside a
simulated engine whose slots each get fifty tokens a second. All that the process does between two
bursts of the engine counts: folding, layout, drawing, the sequences for the terminal and writing
them. Most frames move the timeline alone; those that draw every part are told apart, and both kinds
must keep within the limit: the exit code is 1 if one does not.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.assembly import build_core
from engine.clock import VirtualClock
from engine.log import EventLog
from engine.request import Request, SamplingParams
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from tests.tui.in_a_terminal import Terminal
from tuiapp.app import SWITCH_INTERVAL, Playground
from tuiapp.session import Session
from tuiapp.shot.stepped import SteppedBackend
from tuiapp.widgets.live_view import READING_FRAMES

TOKENS_PER_SECOND, FRAMES_PER_SECOND = 50, 10
CASES = [(8, (120, 36), 15.0), (64, (200, 60), 30.0)]  # slots, size, at most so many ms a frame
WARM_UP = 20  # frames: imports, the first layout, caches


def busy_session(num_slots: int, num_tokens: float) -> tuple[Session, SteppedBackend]:
    """An engine whose slots are always taken, until so many tokens a slot were made."""
    settings = EngineSettings(max_num_seqs=num_slots, num_kv_blocks=num_slots * 64)
    clock = VirtualClock()
    core = build_core(ModelSpec(device="sim:linear"), settings, clock, EventLog())
    backend = SteppedBackend(core, clock)
    number, left = 0, num_tokens * num_slots
    while left > 0:
        length = 100 + number * 37 % 400
        sampling = SamplingParams(max_tokens=length)
        backend.submit(Request(f"r{number}", (3 + number % 50,) * 64, sampling, label="bench"))
        number, left = number + 1, left - length
    return Session(backend, core.settings), backend


class Watched(Playground):
    """Runs the engine between two frames, and notes what the process did meanwhile.

    Attributes:
        costs: CPU milliseconds from one burst of the engine to the next, which is one frame.
    """

    def __init__(self, num_slots: int, num_frames: int) -> None:
        passes = TOKENS_PER_SECOND // FRAMES_PER_SECOND
        session, self._backend = busy_session(num_slots, (num_frames + WARM_UP + 50) * passes)
        super().__init__(session)
        self._num_frames, self._passes = num_frames + WARM_UP, passes
        self._began: float | None = None
        self.costs: list[float] = []

    def on_mount(self) -> None:
        self.set_interval(1 / FRAMES_PER_SECOND, self._turn)

    def _turn(self) -> None:
        if self._began is not None:
            self.costs.append((process_time() - self._began) * 1000)
        if len(self.costs) == self._num_frames:
            self.exit()
        self._backend.run(self._passes)
        self._began = process_time()


def watch(num_slots: int, num_frames: int, result: Path) -> None:
    """In the terminal: show the screen, and write down what its frames cost."""
    app = Watched(num_slots, num_frames)
    sys.setswitchinterval(SWITCH_INTERVAL)
    app.run()
    result.write_text(json.dumps(app.costs[WARM_UP:]))


def measure(num_slots: int, size: tuple[int, int], num_frames: int) -> list[float]:
    """CPU milliseconds of each frame, the engine's own left out."""
    with TemporaryDirectory() as folder:
        result = Path(folder) / "costs.json"
        arguments = ("--watch", str(num_slots), str(num_frames), str(result))
        terminal = Terminal(*arguments, size=size, program=(__file__,))
        try:
            code = terminal.read_to_the_end()
        finally:
            terminal.close()
        assert code == 0, terminal.output[-2000:].decode(errors="replace")
        return json.loads(result.read_text())


def median_of_whole_frames(costs: list[float]) -> float:
    """Of the frames that draw every part: one in so many, and dearer than the others."""
    return max(median(costs[first::READING_FRAMES]) for first in range(READING_FRAMES))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=600, help="of each case; 600 are a minute")
    parser.add_argument("--watch", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.watch:
        slots, count, result = options.watch
        watch(int(slots), int(count), Path(result))
        return
    is_over = False
    for num_slots, size, most in CASES:
        costs = measure(num_slots, size, options.frames)
        whole, p95 = median_of_whole_frames(costs), sorted(costs)[int(len(costs) * 0.95)]
        is_over |= max(median(costs), whole) > most
        told = f"median {median(costs):4.1f} ms, of those with every part {whole:4.1f} ms"
        told += f" (at most {most:g}); mean {fmean(costs):4.1f}, p95 {p95:4.1f} ms"
        print(f"{num_slots:>3} slots, {size[0]}x{size[1]}: {told}; load {os.getloadavg()[0]:.1f}")
    sys.exit(is_over)


if __name__ == "__main__":
    main()
