"""What the engine itself costs a step, by the number of running sequences.

`python tests/bench/bench_scheduler.py`; `batchscope bench` tells the same beside the rest.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.bench.scheduling import SIZES, measure_logging, measure_scheduling
from engine.collector import collect_seldom

PARTS = ("state", "schedule", "launch", "apply", "detokenise", "record", "step", "metrics")


def main() -> None:
    collect_seldom()  # as the program does
    print("us a step " + "".join(f"{part:>11}" for part in PARTS) + "   step, ns a sequence")
    costs = {cost.num_seqs: cost for cost in measure_scheduling(SIZES)}
    for cost in costs.values():
        cells = "".join(f"{getattr(cost, part) * 1e6:11.1f}" for part in PARTS)
        print(f"{cost.num_seqs:>9} {cells}   {cost.step / cost.num_seqs * 1e9:12.0f}")
    ratios = (getattr(costs[1024], part) / getattr(costs[64], part) for part in PARTS)
    print("1024 : 64 " + "".join(f"{ratio:11.1f}" for ratio in ratios))
    print(f"an event made and logged: {measure_logging() * 1e6:.2f} us")


if __name__ == "__main__":
    main()
