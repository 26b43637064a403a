"""Start a server of OpenAI's protocol on loopback for a contest, and stop it again."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import psutil

from engine.bench.contest import ContestError

READY_SECONDS = 600.0  # some compile the model first
STOP_SECONDS = 20.0
POLL_SECONDS = 0.1
QUIET = {"HF_HUB_OFFLINE": "1", "DO_NOT_TRACK": "1", "VLLM_NO_USAGE_STATS": "1"}
VLLM = (
    "{python} -m vllm.entrypoints.openai.api_server --model {model} --dtype {dtype} "
    "--host 127.0.0.1 --port {port} --max-num-seqs {slots} --max-model-len {longest} "
    "--no-enable-prefix-caching --disable-log-stats --disable-uvicorn-access-log"
)
# On a CPU, vLLM 0.32 else puts its worker into a process of its own and spins beside it: half as
# many tokens a CPU second again without. The server keeps its engine's process either way.
VLLM_ENVIRONMENT = {"VLLM_ENABLE_V1_MULTIPROCESSING": "0"}


@dataclass(frozen=True, slots=True)
class Limits:
    """What every contender may use.

    Attributes:
        model: a folder, or a name on the hub.
        longest: prompt and output together at most, in tokens.
    """

    model: str
    dtype: str
    slots: int
    longest: int


def write_command(template: str, limits: Limits, port: int, **more: str) -> list[str]:
    """The words of a command, with `{model}`, `{port}` and the like filled in.

    Raises:
        ContestError: it names something that there is none of.
    """
    values = {"port": port, "model": limits.model, "dtype": limits.dtype}
    values |= {"slots": limits.slots, "longest": limits.longest, **more}
    try:
        return [word.format_map(values) for word in shlex.split(template)]
    except (KeyError, ValueError, IndexError) as error:
        known = ", ".join(f"{{{name}}}" for name in values)
        raise ContestError(f"{template!r} cannot be filled in ({error}); known: {known}") from error


@contextmanager
def serving(
    name: str,
    command: Sequence[str],
    port: int,
    log: Path,
    environment: Mapping[str, str] | None = None,
) -> Iterator[tuple[str, int]]:
    """A running server: its URL and its process id.

    Args:
        log: the file that it prints to.
        environment: beside this process's own, what keeps it off the network and what suits vLLM.

    Raises:
        ContestError: it does not start.
    """
    url = f"http://127.0.0.1:{port}"
    with log.open("wb") as out:
        try:
            process = subprocess.Popen(
                command,
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, **QUIET, **VLLM_ENVIRONMENT, **(environment or {})},
            )
        except OSError as error:
            raise ContestError(f"{name}: cannot start {command[0]}: {error.strerror}") from error
    try:
        _wait_for(name, url, process, log)
        yield url, process.pid
    finally:
        _stop(process)


def _wait_for(name: str, url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not _is_ready(url):
        is_over = process.poll() is not None
        if is_over or time.monotonic() > deadline:
            why = "ended" if is_over else f"was not ready within {READY_SECONDS:.0f} s"
            said = log.read_text(errors="replace").strip()[-500:] or "nothing"
            raise ContestError(f"{name} {why}; it said: {said}")
        time.sleep(POLL_SECONDS)


def _is_ready(url: str) -> bool:
    try:
        with urlopen(f"{url}/v1/models", timeout=5):
            return True
    except OSError:
        return False


def _stop(process: subprocess.Popen[bytes]) -> None:
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
