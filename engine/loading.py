"""`Loading`: how far an engine has come before it takes requests.

The engine's thread reports, the screen's reads; what is handed over is one frozen value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum


class LoadStage(Enum):
    """What takes time before the first pass, in its order; the values are for the screen."""

    START = "starting"
    IMPORT = "importing torch and transformers"
    FIND = "looking for the model"
    WEIGHTS = "reading weights"
    KERNELS = "compiling kernels for this processor, only this once"
    ARRANGE = "arranging weights"
    MEASURE = "measuring the device"
    CACHE = "building the KV cache"
    COMPILE = "compiling the model"
    CAPTURE = "recording CUDA graphs"


@dataclass(frozen=True, slots=True)
class LoadStep:
    """Where the loading is.

    Attributes:
        done, total: tensors of the model; 0 where nothing is counted.
    """

    stage: LoadStage
    done: int = 0
    total: int = 0

    @property
    def share(self) -> float | None:
        """Of the stage, from 0 to 1; None where nothing is counted."""
        return self.done / self.total if self.total else None

    def __str__(self) -> str:
        counted = f", {self.done} of {self.total} tensors" if self.total else ""
        return f"{self.stage.value}{counted}"


Report = Callable[[LoadStep], None]


def report_nowhere(step: LoadStep) -> None:
    """For those who wait without looking."""


class LoadingCancelledError(Exception):
    """Nobody waits for the engine any more; raised where it reports its next step."""


class Loading:
    """The newest step; replaced whole, so any thread may read it."""

    def __init__(self) -> None:
        self.step = LoadStep(LoadStage.START)
        self._is_cancelled = False

    def report(self, step: LoadStep) -> None:
        """Take note of a step.

        Raises:
            LoadingCancelledError: it is not to be done any more.
        """
        if self._is_cancelled:
            raise LoadingCancelledError
        self.step = step

    def cancel(self) -> None:
        """Break the loading off before its next step; the one under way goes on to its end."""
        self._is_cancelled = True
