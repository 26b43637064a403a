"""Start vLLM's and llama.cpp's servers for a comparison, one thread each, and stop them again.

Each lives in an environment of its own under one folder: `vllm` and `llama_cpp`. They listen on
loopback only, download nothing and report nothing home.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

HERE = Path(__file__).parent
VLLM, LLAMA_CPP = "vLLM", "llama.cpp"
INTERPRETERS = {VLLM: "vllm/bin/python", LLAMA_CPP: "llama_cpp/bin/python"}
GGUF_DTYPES = {"float32": "f32", "bfloat16": "bf16"}
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "VLLM_CPU_OMP_THREADS_BIND": "0",
    "OMP_NUM_THREADS": "1",
}
READY_SECONDS = 300.0  # vLLM compiles the model first
STOP_SECONDS = 20.0


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
    log = folder / f"{name}.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, env=os.environ | ENVIRONMENT
        )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(url, process, log)
        yield Peer(name, url, process.pid)
    finally:
        stop(process)


def vllm_command(python: Path, load: Load, port: int, folder: Path) -> list[str]:
    return [
        *(str(python), "-m", "vllm.entrypoints.openai.api_server"),
        *("--model", str(load.model), "--dtype", load.dtype),
        *("--host", "127.0.0.1", "--port", str(port)),
        *("--max-num-seqs", str(load.num_slots), "--max-model-len", str(load.max_model_len)),
        "--no-enable-prefix-caching",
    ]


def llama_cpp_command(python: Path, load: Load, port: int, folder: Path) -> list[str]:
    gguf = folder / "model.gguf"
    writer = [str(python), str(HERE / "write_gguf.py"), str(load.model), str(gguf)]
    subprocess.run([*writer, GGUF_DTYPES[load.dtype]], check=True)
    numbers = [port, load.num_slots, load.num_slots * load.max_model_len]
    return [str(python), str(HERE / "llama_cpp_server.py"), str(gguf), *map(str, numbers)]


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not is_ready(url):
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"{url} did not start:\n{log.read_text()[-2000:]}")
        time.sleep(0.5)


def is_ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=5):
            return True
    except OSError:
        return False


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop it and every process that it started."""
    if process.poll() is None:
        root = psutil.Process(process.pid)
        processes = [root, *root.children(recursive=True)]
        for each in processes:
            each.terminate()
        _, alive = psutil.wait_procs(processes, timeout=STOP_SECONDS)
        for each in alive:
            each.kill()
    process.wait()


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]
