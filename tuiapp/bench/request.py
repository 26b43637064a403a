"""What a user asks `batchscope bench` for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from engine.bench.traffic import Traffic
from engine.config import ConfigError
from engine.runners.parts import ModelSpec


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured.

    Attributes:
        num_rounds: of the contest; what counts are medians.
        batch_sizes, num_context, num_passes: of decoding passes, past the scheduler.
        sizes, num_steps: of steps that compute nothing.
        num_screens: pairs of runs with and without the screen.
    """

    traffic: Traffic
    num_rounds: int = 5
    batch_sizes: tuple[int, ...] = (1, 8, 32)
    num_context: int = 128
    num_passes: int = 64
    sizes: tuple[int, ...] = (8, 64, 256, 1024)
    num_steps: int = 200
    num_screens: int = 3


FULL = Effort(Traffic())
QUICK = Effort(
    traffic=Traffic(num_requests=16),
    num_rounds=2,
    num_passes=24,
    num_steps=60,
    num_screens=1,
)


@dataclass(frozen=True, slots=True)
class BenchRequest:
    """Which engine, beside whom, and how much of it.

    Attributes:
        peers: URLs of servers by name.
        commands: of servers to start by name, with `{port}`, `{model}` and the like in them.
        vllm: the interpreter of an environment that vLLM is installed in, to start it from.
        output: a file for the JSON; None writes none.
    """

    spec: ModelSpec
    effort: Effort
    peers: tuple[tuple[str, str], ...] = ()
    commands: tuple[tuple[str, str], ...] = ()
    vllm: Path | None = None
    output: Path | None = None


def choose_effort(
    *, is_quick: bool, num_requests: int | None = None, num_slots: int | None = None
) -> Effort:
    """How much to measure, with what the user wants otherwise."""
    effort = QUICK if is_quick else FULL
    traffic = replace(
        effort.traffic,
        num_requests=num_requests or effort.traffic.num_requests,
        num_slots=num_slots or effort.traffic.num_slots,
    )
    return replace(effort, traffic=traffic)


def read_peers(texts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Servers as `NAME=URL`.

    Raises:
        ConfigError: one is not written so.
    """
    peers = []
    for text in texts:
        name, is_pair, url = text.partition("=")
        if not is_pair or not name or not url.startswith(("http://", "https://")):
            raise ConfigError(
                f"{text!r} is no NAME=URL, such as vllm=http://localhost:8000", place="--peer"
            )
        peers.append((name, url))
    return tuple(peers)


def read_commands(texts: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Servers to start as `NAME=COMMAND`.

    Raises:
        ConfigError: one is not written so, or has no place for its port.
    """
    commands = []
    for text in texts:
        name, _, command = text.partition("=")
        if not name or "{port}" not in command:
            raise ConfigError(
                f"{text!r} is no NAME=COMMAND with a {{port}}, such as "
                "'mine=python serve.py --model {model} --port {port}'",
                place="--serve",
            )
        commands.append((name, command))
    return tuple(commands)
