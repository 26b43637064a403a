"""Tensor parallelism: `Ranks` for the process that leads, `follow` for the others.

transformers shards the weights by the model's own plan, and sums what the shards give. The leader
runs the whole engine; the others hold their share of the weights and of the KV cache, and run each
pass that the leader shares with them, so that nothing has to be decided twice. The leader starts
the others on its own machine, unless torchrun has started all of them.
"""

from __future__ import annotations

import json
import os
import sys
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from datetime import timedelta
from subprocess import Popen

import torch
import torch.distributed as dist

from engine.config import ConfigError
from engine.runners.inputs.fields import Fields
from engine.runners.inputs.pack import Span
from engine.runners.parallel.adopted import Adopted
from engine.runners.parallel.followers import Followers
from engine.runners.parallel.launched import find_launch
from engine.runners.parallel.orders import Pass, Resize, Stop, send, send_tensors
from engine.runners.parallel.ports import LOOPBACK, free_port
from engine.runners.parts import ModelSpec

TIME_TO_DIE = 0.5  # seconds from when a process closes its connections until it counts as ended
TIME_TO_JOIN = timedelta(minutes=5)
TIME_TO_WAIT = timedelta(days=365)  # for an order: nobody may ask anything of the engine for long


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
        self.size = size = spec.tensor_parallel_size
        self._followers: Followers | Adopted
        if find_launch(os.environ):
            self._followers = Adopted()
            self._finish = weakref.finalize(self, dismiss, self._followers)
        else:
            self._followers = _start_others(spec)
            self._finish = weakref.finalize(self, _dismiss_started, self._followers)
        try:
            join(device)
        except RuntimeError as error:
            self.close()
            raise ConfigError(f"--tensor-parallel {size}: the processes did not meet") from error

    @property
    def processes(self) -> list[Popen[bytes]]:
        """The others, by rank."""
        return self._followers.processes

    def share_cache(self, num_blocks: int, block_size: int) -> None:
        """Have every rank make the cache that the leader made.

        Raises:
            RunnerError: one of them has ended.
        """
        self._followers.check()
        send(Resize(num_blocks, block_size))
        self._followers.are_listening = True

    @contextmanager
    def sharing(
        self, spans: list[Span], token_ids: torch.Tensor, fields: Fields[torch.Tensor]
    ) -> Iterator[None]:
        """Have every rank run the pass that the leader runs in the block.

        Where it fails here, the others wait in the middle of a layer for what never comes, and
        take the next order for it. So they are ended, and no later pass begins.

        Raises:
            RunnerError: one of them has ended.
        """
        self._followers.check()
        with ExitStack() as unless_whole:
            unless_whole.callback(self._part)
            send(Pass(spans, token_ids.shape[0], fields.sample_at.shape[0]))
            send_tensors(token_ids, fields)
            yield
            unless_whole.pop_all()

    def check(self) -> None:
        """See that all are there, while something of theirs is waited for.

        Raises:
            RunnerError: one of them has ended.
        """
        self._followers.check()

    def close(self) -> None:
        """End the other processes; done by itself where the program ends."""
        self._finish()

    def _part(self) -> None:
        self._followers.await_end(TIME_TO_DIE)
        try:
            self._followers.check()  # of one that died, the failure here is what it led to
        finally:
            self._followers.kill()


def choose_rank_device(device: torch.device, size: int) -> torch.device:
    """The device of this process among those that run a model together.

    Raises:
        ConfigError: there are not so many devices, or their kind cannot work together.
    """
    if device.type == "cuda":
        num_here = int(os.environ.get("LOCAL_WORLD_SIZE", size))  # torchrun's, of this machine
        if torch.cuda.device_count() < num_here:
            raise ConfigError(
                f"--tensor-parallel {size} needs {num_here} CUDA devices here, and there are "
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
    backend = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
    if find_launch(os.environ):
        dist.init_process_group(backend, timeout=TIME_TO_WAIT)  # torchrun says where they meet
        return
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    port = int(os.environ["MASTER_PORT"])
    store = dist.TCPStore(  # type: ignore[attr-defined]
        LOOPBACK, port, size, is_master=rank == 0, timeout=TIME_TO_JOIN
    )
    dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=TIME_TO_WAIT)


def dismiss(followers: Followers | Adopted) -> None:
    """Have the followers end, by themselves if they listen, and leave their group."""
    if followers.are_alive and followers.are_listening:
        with suppress(RuntimeError):  # one that died meanwhile needs no telling
            send(Stop())
    else:
        followers.kill()  # one that still loads would hear of it only afterwards
    if dist.is_initialized():
        dist.destroy_process_group()
    followers.wait()


def _start_others(spec: ModelSpec) -> Followers:
    """Start them on this machine; the surroundings of all, this one's too, say who they are."""
    port, size = free_port(), spec.tensor_parallel_size
    command = [sys.executable, "-m", "engine.runners.parallel.follow", json.dumps(asdict(spec))]
    places = (_surroundings(rank, size, port) for rank in range(1, size))
    followers = Followers(command, places)
    os.environ.update(_surroundings(0, size, port))
    return followers


def _dismiss_started(followers: Followers | Adopted) -> None:
    """Have the followers end; this process is a rank no more."""
    dismiss(followers)
    for name in _surroundings(0, 1, 0):
        os.environ.pop(name, None)


def _surroundings(rank: int, size: int, port: int) -> dict[str, str]:
    """What torch looks for in the environment."""
    number = str(rank)
    return {
        "RANK": number,
        "LOCAL_RANK": number,
        "WORLD_SIZE": str(size),
        "MASTER_ADDR": LOOPBACK,
        "MASTER_PORT": str(port),
    }
