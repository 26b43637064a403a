"""Memory and time that importing a trace takes, by its number of rows.

Run it as `python tests/bench/bench_import.py`. Each size runs in a process of its own, so that
the peak of one does not hide that of another.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tuiapp.commands.import_trace import import_trace

SIZES = (1_000, 100_000, 1_000_000)


def main() -> None:
    for size in SIZES:
        subprocess.run([sys.executable, __file__, str(size)], check=True)


def measure(num_rows: int) -> None:
    """Import a made-up trace of so many rows and print what that took."""
    with TemporaryDirectory() as folder:
        trace = write_trace(Path(folder) / "made-up.csv", num_rows)
        before = peak_mib()
        began = time.process_time()
        import_trace(trace, "auto", Path(folder) / "made-up.toml")
        seconds = time.process_time() - began
        print(f"{num_rows:>9,} rows: {seconds:.2f} s of CPU, {peak_mib() - before:.1f} MiB more\n")


def write_trace(path: Path, num_rows: int) -> Path:
    """Requests in the form of Azure's traces: independent, one in a hundred with no output."""
    rng, moment = random.Random(1), 0.0
    with path.open("w") as file:
        file.write("TIMESTAMP,ContextTokens,GeneratedTokens\n")
        for _ in range(num_rows):
            moment += rng.expovariate(30.0)
            seconds, micro = int(moment), int(moment % 1 * 1e6)
            clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{micro:06}"
            output = 0 if rng.random() < 0.01 else int(rng.expovariate(1 / 200)) + 1
            prompt = int(rng.lognormvariate(6.9, 1.0)) + 1
            file.write(f"2024-05-10 {clock}+00:00,{prompt},{output}\n")
    return path


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(int(sys.argv[1]))
    else:
        main()
