"""`find_launch`: whether torchrun started this process, as one of several that share a model.

torchrun then looks after all of them: where one ends with an error, it ends the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.config import ConfigError

LAUNCHED = "TORCHELASTIC_RUN_ID"  # torchrun sets it, and nobody else


@dataclass(frozen=True, slots=True)
class Launch:
    """One of the processes that torchrun started.

    Attributes:
        rank: 0 leads, and prints; the others follow it.
        size: how many they are, on all machines.
    """

    rank: int
    size: int


def find_launch(environ: Mapping[str, str]) -> Launch | None:
    """This process among those that torchrun started; None if it was started by itself."""
    if LAUNCHED not in environ:
        return None
    return Launch(int(environ["RANK"]), int(environ["WORLD_SIZE"]))


def check_launch(launch: Launch | None, tensor_parallel_size: int) -> None:
    """See that torchrun started as many processes as are to share the model.

    Raises:
        ConfigError: it did not; each of them would run a whole engine.
    """
    if launch and launch.size != tensor_parallel_size:
        raise ConfigError(
            f"torchrun started {launch.size} processes and --tensor-parallel is "
            f"{tensor_parallel_size}: give run or compare --tensor-parallel {launch.size}, or "
            "start it without torchrun"
        )
