"""What the screen costs: the engine's tokens a second with it on, beside headless.

`python tests/bench/bench_screen.py` runs pairs on the shipped model, each in a process of its own;
`batchscope bench` tells the same beside the rest.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.runners.parts import ModelSpec
from tuiapp.bench.request import FULL
from tuiapp.bench.screen_cost import measure_screen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=5)
    options = parser.parse_args()
    cost = measure_screen(ModelSpec(device="cpu"), replace(FULL, num_screens=options.pairs))
    assert cost, "there are no pseudo-terminals here"
    print(f" headless: median {cost.without:6.0f} tok/s")
    print(f"   screen: median {cost.with_screen:6.0f} tok/s")
    print(f"    ratio: median {cost.ratio:6.2f}; {cost.tell_left()}")
    print(f"load average {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
