"""From a key to the picture: `python tests/bench/bench_keys.py [RECORDING]`, in wall time.

The real program runs in a terminal of its own. A key is pressed, and the clock runs until what it
changes has come out there: the time that a user waits. With a recording, how long it takes to open
and to go through; without one, how soon the shipped model is switched to another batcher while it
is busy.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.tui.in_a_terminal import Terminal

LEFT, RIGHT, PAGE_UP, PAGE_DOWN, HOME, END = (
    f"\x1b[{code}" for code in ("D", "C", "5~", "6~", "H", "F")
)
SHOWN = re.compile(rb"pass (\d+) of (\d+)")
OPENING, STEP, INPUT = 2000.0, 40.0, 100.0  # milliseconds at most
PASTE = "\x1b[200~{}\x1b[201~"
SETTLING = 2.0  # seconds
BETWEEN = 0.15  # seconds from one key to the next: the frames go on meanwhile


@contextmanager
def terminal(*arguments: str) -> Iterator[Terminal]:
    opened = Terminal(*arguments)
    try:
        yield opened
        opened.leave()
    finally:
        opened.close()


def press(keys: Terminal, key: str, shows: bytes) -> float:
    """Milliseconds until the key shows this."""
    sleep(BETWEEN)
    keys.catch_up()
    began = perf_counter()
    keys.send(key)
    keys.wait_for(shows)
    return (perf_counter() - began) * 1000


def at(keys: Terminal) -> tuple[int, int]:
    """The pass that was shown last, and the newest one."""
    shown, newest = SHOWN.findall(keys.output)[-1]
    return int(shown), int(newest)


def walk(keys: Terminal, key: str, step: int, count: int) -> list[float]:
    """Milliseconds of each of so many steps."""
    begin, _ = at(keys)
    numbers = range(begin + step, begin + step * (count + 1), step)
    return [press(keys, key, f"pass {number} of".encode()) for number in numbers]


def tell(what: str, costs: list[float], most: float) -> None:
    costs = sorted(costs)
    p95 = costs[min(len(costs) - 1, int(len(costs) * 0.95))]
    print(f"{what:>24}: median {median(costs):5.0f} ms, p95 {p95:5.0f} ms (at most {most:.0f})")


def scrub(path: Path, count: int) -> None:
    """Open a recording, go ten seconds on a few times, and from there pass by pass."""
    began = perf_counter()
    with terminal("replay", str(path)) as keys:
        keys.wait_for(b" slots ")
        tell("opened, with the start", [(perf_counter() - began) * 1000], OPENING)
        press(keys, " ", "‖".encode())
        tell("ten seconds on", [press(keys, PAGE_DOWN, b"pass ") for _ in range(count)], INPUT)
        press(keys, END, "◀ pass ".encode())
        tell("a pass back", walk(keys, LEFT, -1, count), STEP)
        tell("a pass on", walk(keys, RIGHT, 1, count // 2), STEP)
        tell("the first of all", [press(keys, HOME, b"pass 1 ")], INPUT)


def switch(count: int) -> None:
    """Change the batcher of the shipped model while its traffic comes."""
    names = {"1": "static", "2": "dynamic", "3": "continuous"}
    with terminal() as keys:
        keys.wait_for(b"tok/s")
        sleep(SETTLING)
        order = [str(number % 3 + 1) for number in range(count)]
        tell("a batcher", [press(keys, key, f"{names[key]} ".encode()) for key in order], INPUT)
        press(keys, "i", b"inject requests")
        keys.send(PASTE.format("the quick brown fox " * 400))
        keys.wait_for(b"the text has")
        letters = [chr(ord("α") + number % 24) for number in range(count)]
        tell("a letter more in 8000", [press(keys, each, each.encode()) for each in letters], INPUT)
        keys.send("\x1b")
        sleep(SETTLING)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recording", nargs="?", type=Path)
    parser.add_argument("--keys", type=int, default=60)
    options = parser.parse_args()
    run: Callable[[], None] = (
        (lambda: scrub(options.recording, options.keys))
        if options.recording
        else (lambda: switch(options.keys))
    )
    run()
    print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
