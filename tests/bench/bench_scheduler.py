"""What the engine itself costs a step, by the number of running sequences.

`python tests/bench/bench_scheduler.py`; `batchscope bench` tells the same beside the rest.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.bench.scheduling import SIZES, measure_scheduling

PARTS = ("schedule", "launch", "rest", "step", "metrics")


def main() -> None:
    print("us a step " + "".join(f"{part:>10}" for part in PARTS) + "   step, ns a sequence")
    for cost in measure_scheduling(SIZES):
        cells = "".join(f"{getattr(cost, part) * 1e6:10.1f}" for part in PARTS)
        print(f"{cost.num_seqs:>9} {cells}   {cost.step / cost.num_seqs * 1e9:12.0f}")


if __name__ == "__main__":
    main()
