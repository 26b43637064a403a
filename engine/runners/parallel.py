"""Tensor parallelism on one machine: `Ranks` for the process that leads, `follow` for the others.

transformers shards the weights by the model's own plan, and sums what the shards give. The leader
runs the whole engine; the others hold their share of the weights and of the KV cache, and run each
pass that the leader shares with them, so that nothing has to be decided twice.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import weakref
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import timedelta

import torch
import torch.distributed as dist

from engine.config import ConfigError
from engine.runners.fields import Fields
from engine.runners.pack import Span
from engine.runners.parts import ModelSpec

PATIENCE = 30.0  # seconds that a follower has to end
TIME_TO_JOIN = timedelta(minutes=5)
TIME_TO_WAIT = timedelta(days=365)  # for an order: nobody may ask anything of the engine for long
HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Resize:
    """The KV cache from here on."""

    num_blocks: int
    block_size: int


@dataclass(frozen=True, slots=True)
class Pass:
    """A pass over T tokens of which R sample; its tensors follow."""

    spans: list[Span]
    num_tokens: int
    num_samples: int


@dataclass(frozen=True, slots=True)
class Stop:
    """The leader is done."""


Order = Resize | Pass | Stop


class Ranks:
    """The processes that run a model together, as their leader sees them.

    Args:
        spec: what every one of them loads; its `tensor_parallel_size` says how many they are.

    Attributes:
        size: how many they are.

    Raises:
        ConfigError: they could not be brought together.
    """

    def __init__(self, spec: ModelSpec, device: torch.device) -> None:
        port = _free_port()
        self.size = size = spec.tensor_parallel_size
        command = [sys.executable, "-m", "engine.runners.follow", json.dumps(asdict(spec))]
        followers = [
            subprocess.Popen(command, env={**os.environ, **_surroundings(rank, size, port)})
            for rank in range(1, size)
        ]
        self._finish = weakref.finalize(self, _stop, followers)
        os.environ.update(_surroundings(0, size, port))
        try:
            join(device)
        except RuntimeError as error:
            self.close()
            raise ConfigError(f"--tensor-parallel {size}: the processes did not meet") from error

    def share_cache(self, num_blocks: int, block_size: int) -> None:
        """Have every rank make the cache that the leader made."""
        _send(Resize(num_blocks, block_size))

    def share_pass(
        self, spans: list[Span], token_ids: torch.Tensor, fields: Fields[torch.Tensor]
    ) -> None:
        """Have every rank run the pass that the leader is about to run."""
        _send(Pass(spans, token_ids.shape[0], fields.sample_at.shape[0]))
        parts = token_ids, fields.positions, fields.write_slots, fields.sample_at
        dist.broadcast(torch.cat(parts), src=0)

    def close(self) -> None:
        """End the other processes; done by itself where the program ends."""
        self._finish()


def choose_rank_device(device: torch.device, size: int) -> torch.device:
    """The device of this process among those that run a model together.

    Raises:
        ConfigError: there are not so many devices, or their kind cannot work together.
    """
    if device.type == "cuda":
        if torch.cuda.device_count() < size:
            raise ConfigError(
                f"--tensor-parallel {size} needs as many CUDA devices, and here are "
                f"{torch.cuda.device_count()}"
            )
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
    if device.type != "cpu":
        raise ConfigError(f"--tensor-parallel works on CUDA and CPU, not on {device.type}")
    return device


def join(device: torch.device) -> None:
    """Become one of the ranks, as the environment says which.

    Raises:
        RuntimeError: the others did not come.
    """
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    port = int(os.environ["MASTER_PORT"])
    store = dist.TCPStore(  # type: ignore[attr-defined]
        HOST, port, size, is_master=rank == 0, timeout=TIME_TO_JOIN
    )
    backend = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
    dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=TIME_TO_WAIT)


def receive() -> Order:
    """The leader's next order."""
    box: list[Order | None] = [None]
    dist.broadcast_object_list(box, src=0, device=torch.device("cpu"))
    order = box[0]
    assert order is not None, "an empty order"
    return order


def receive_tensors(order: Pass, device: torch.device) -> list[torch.Tensor]:
    """Ids, positions, write slots and where to sample, of a pass."""
    sizes = [order.num_tokens] * 3 + [order.num_samples]
    tensor = torch.empty(sum(sizes), dtype=torch.long, device=device)
    dist.broadcast(tensor, src=0)
    return list(torch.split(tensor, sizes))


def _send(order: Order) -> None:
    dist.broadcast_object_list([order], src=0, device=torch.device("cpu"))


def _stop(followers: list[subprocess.Popen[bytes]]) -> None:
    """Tell the followers to end, and end those that do not listen."""
    if dist.is_initialized():
        if all(follower.poll() is None for follower in followers):
            with suppress(RuntimeError):  # one that died meanwhile needs no telling
                _send(Stop())
        dist.destroy_process_group()
    for name in _surroundings(0, 1, 0):
        os.environ.pop(name, None)
    for follower in followers:
        try:
            follower.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            follower.kill()
            follower.wait()


def _surroundings(rank: int, size: int, port: int) -> dict[str, str]:
    """What torch looks for in the environment."""
    number = str(rank)
    return {
        "RANK": number,
        "LOCAL_RANK": number,
        "WORLD_SIZE": str(size),
        "MASTER_ADDR": HOST,
        "MASTER_PORT": str(port),
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
