"""Start vLLM's and llama.cpp's servers for a comparison, one thread each, and stop them again.

Each lives in an environment of its own under one folder: `vllm` and `llama_cpp`. They listen on
loopback only, download nothing and report nothing home.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from engine.bench.launching import VLLM as VLLM_COMMAND
from engine.bench.launching import Limits, write_command
from engine.bench.launching import serving as serve
from engine.runners.parallel.ports import free_port

HERE = Path(__file__).parent
VLLM, LLAMA_CPP = "vLLM", "llama.cpp"
INTERPRETERS = {VLLM: "vllm/bin/python", LLAMA_CPP: "llama_cpp/bin/python"}
GGUF_DTYPES = {"float32": "f32", "bfloat16": "bf16"}
ENVIRONMENT = {
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "VLLM_CPU_OMP_THREADS_BIND": "0",
    "OMP_NUM_THREADS": "1",
}


@dataclass(frozen=True)
class Peer:
    """A server that runs on this machine."""

    name: str
    url: str
    pid: int


@dataclass(frozen=True)
class Load:
    """What is served, and what every contender may use."""

    model: Path
    dtype: str
    num_slots: int
    max_model_len: int


def interpreter(name: str, installed: Path) -> Path | None:
    """The one of the peer's environment; None where it is not installed."""
    python = installed / INTERPRETERS[name]
    return python if python.exists() else None


@contextmanager
def serving(name: str, python: Path, load: Load, folder: Path) -> Iterator[Peer]:
    """A running server, which prints to a file in the folder."""
    port = free_port()
    command = {VLLM: vllm_command, LLAMA_CPP: llama_cpp_command}[name](python, load, port, folder)
    with serve(name, command, port, folder / f"{name}.log", ENVIRONMENT) as (url, pid):
        yield Peer(name, url, pid)


def vllm_command(python: Path, load: Load, port: int, folder: Path) -> list[str]:
    limits = Limits(str(load.model), load.dtype, load.num_slots, load.max_model_len)
    return write_command(VLLM_COMMAND, limits, port, python=str(python))


def llama_cpp_command(python: Path, load: Load, port: int, folder: Path) -> list[str]:
    gguf = folder / "model.gguf"
    writer = [str(python), str(HERE / "write_gguf.py"), str(load.model), str(gguf)]
    subprocess.run([*writer, GGUF_DTYPES[load.dtype]], check=True)
    numbers = [port, load.num_slots, load.num_slots * load.max_model_len]
    return [str(python), str(HERE / "llama_cpp_server.py"), str(gguf), *map(str, numbers)]
