"""What the screen costs: the engine's tokens a second with it on, beside headless.

`python tests/bench/bench_screen.py` runs the same 64 requests on the shipped model in turn without
a screen and with one, in a pseudo-terminal of 120x36 cells at ten frames a second, each in a
process of its own, and prints the medians and the ratio pair by pair.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import pty
import statistics
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from threading import Thread

NUM_REQUESTS, NUM_SLOTS = 64, 8
COLUMNS, LINES = 120, 36
RESULT = "BENCH_RESULT"


def requests(prompts):
    """The requests of the throughput benchmark: prompts of 16-256 tokens, outputs of 5-200."""
    import numpy as np

    from engine.request import Request, SamplingParams

    rng = np.random.default_rng(0)
    for number in range(NUM_REQUESTS):
        prompt = prompts.make(int(rng.integers(16, 257)), rng)
        sampling = SamplingParams(max_tokens=int(rng.integers(5, 201)), ignore_eos=True)
        yield Request(f"b{number}", prompt, sampling)


def run_headless() -> dict[str, float]:
    from engine.assembly import ModelSpec, build_core
    from engine.clock import WallClock
    from engine.log import EventLog
    from engine.prompts import PromptMaker
    from engine.run import run
    from engine.settings import EngineSettings
    from engine.workload import Listed

    log = EventLog()
    core = build_core(
        ModelSpec(device="cpu"), EngineSettings(max_num_seqs=NUM_SLOTS), WallClock(), log
    )
    workload = Listed(requests(PromptMaker(core.tokenizer)))
    began = time.process_time()
    run(core, workload)
    return summary(log, time.process_time() - began)


def run_screen() -> dict[str, float]:
    from functools import partial

    from engine.assembly import ModelSpec, build_core
    from engine.backends.local import LocalBackend
    from engine.settings import EngineSettings
    from engine.workload import Listed
    from tuiapp.app import SWITCH_INTERVAL, Playground
    from tuiapp.session import Session

    settings = EngineSettings(max_num_seqs=NUM_SLOTS)
    backend = LocalBackend(partial(build_core, ModelSpec(device="cpu"), settings))
    began = 0.0

    def begin(session: Session) -> None:
        nonlocal began
        began = time.process_time()
        session.play("bench", Listed(requests(session.prompts)))

    class Bench(Playground):
        def on_mount(self) -> None:
            self.set_interval(0.1, self.leave_when_done)

        def leave_when_done(self) -> None:
            if self.screen_stack[0].newest.meters.num_finished == NUM_REQUESTS:
                self.exit()

    sys.setswitchinterval(SWITCH_INTERVAL)
    backend.start()
    Bench(Session(backend, settings), begin).run()
    backend.stop()
    return summary(backend.log, time.process_time() - began)


def summary(log, cpu_seconds: float) -> dict[str, float]:
    """Tokens, and seconds from the first arrival to the last token."""
    from engine.events import Arrived, Token

    events, _ = log.since(0)
    tokens = [event.time for event in events if isinstance(event, Token)]
    first = next(event.time for event in events if isinstance(event, Arrived))
    return {"tokens": len(tokens), "wall": tokens[-1] - first, "cpu": cpu_seconds}


def in_terminal(arguments: list[str]) -> dict[str, float]:
    """Run a child in a pseudo-terminal whose output is read and thrown away."""
    result = Path(os.environ[RESULT])
    result.unlink(missing_ok=True)
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    environment = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    child = subprocess.Popen(arguments, stdin=inner, stdout=inner, stderr=inner, env=environment)
    os.close(inner)
    Thread(target=_drain, args=(outer,), daemon=True).start()
    if child.wait(timeout=300):
        raise RuntimeError(f"the benchmark ended with exit code {child.returncode}")
    return json.loads(result.read_text())


def _drain(descriptor: int) -> None:
    try:
        while os.read(descriptor, 65536):
            pass
    except OSError:
        return  # the child has closed its end


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--child", choices=["headless", "screen"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        result = run_headless() if options.child == "headless" else run_screen()
        Path(os.environ[RESULT]).write_text(json.dumps(result))
        return
    os.environ[RESULT] = f"/tmp/batchscope-bench-{os.getpid()}.json"
    command = [sys.executable, __file__, "--child"]
    rates: dict[str, list[float]] = {"headless": [], "screen": []}
    for _ in range(options.pairs):
        for kind in rates:
            result = in_terminal([*command, kind])
            rates[kind].append(result["tokens"] / result["wall"])
    ratios = [s / h for h, s in zip(rates["headless"], rates["screen"], strict=True)]
    for kind, values in rates.items():
        each = " ".join(f"{value:.0f}" for value in values)
        print(f"{kind:>9}: median {statistics.median(values):6.0f} tok/s   ({each})")
    each = " ".join(f"{ratio:.2f}" for ratio in ratios)
    print(f"    ratio: median {statistics.median(ratios):6.2f}         ({each})")
    print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    main()
