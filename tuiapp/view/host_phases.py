"""What the phases of a pass are, in words, for tables and for the screen."""

from __future__ import annotations

from dataclasses import dataclass

from engine.metrics.host_time import PHASES


@dataclass(frozen=True, slots=True)
class PhaseWords:
    """A phase as people read it.

    Attributes:
        letter: stands for it in pictures.
    """

    name: str
    letter: str
    means: str


WORDS = {
    "schedule": PhaseWords("schedule", "S", "the batcher decides who runs, admits and preempts"),
    "prepare": PhaseWords("build inputs", "B", "ids, positions and block tables become tensors"),
    "launch": PhaseWords("launch", "L", "the model is called; a CPU computes the pass meanwhile"),
    "sample": PhaseWords("sample", "P", "calls that choose tokens; on a CPU the choice itself"),
    "wait": PhaseWords("wait", "W", "for the device to hand over the tokens"),
    "detokenise": PhaseWords("detokenise", "T", "tokens become text; stop strings are looked for"),
    "apply": PhaseWords("apply", "A", "sequences move on; answers are delivered and finished"),
    "log": PhaseWords("log", "G", "the pass is written down for whoever reads along"),
    "other": PhaseWords("other", "o", "between passes: arrivals, commands, other threads' turns"),
}
assert tuple(WORDS) == PHASES
