"""A server that speaks OpenAI's protocol, on this machine or another."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request as Call
from urllib.request import urlopen

import psutil

from engine.bench.contest import ContestError
from engine.request import Request

SECONDS = 600.0  # an answer may wait for all the others


class Served:
    """All requests at once to `/v1/completions`, prompts as token ids.

    Args:
        url: of the server, with or without `/v1` at its end.
        pid: of the server, if it runs on this machine and its CPU time is to be told.

    Raises:
        ContestError: nobody answers there, or nobody who names a model.
    """

    def __init__(
        self, name: str, url: str, requests: Sequence[Request], pid: int | None = None
    ) -> None:
        self.name = name
        self._url = url.rstrip("/").removesuffix("/v1") + "/v1"
        self._requests = requests
        self._process = None if pid is None else psutil.Process(pid)
        models = self._exchange("models")
        try:
            self._model = str(models["data"][0]["id"])
        except (KeyError, IndexError, TypeError):
            raise ContestError(f"{name}: {self._url}/models names no model") from None

    def serve(self) -> int:
        with ThreadPoolExecutor(len(self._requests)) as pool:
            return sum(pool.map(self._complete, self._requests))

    def cpu_seconds(self) -> float | None:
        """Of the server with its children, its clients not counted."""
        if self._process is None:
            return None
        processes = [self._process, *self._process.children(recursive=True)]
        times = [process.cpu_times() for process in processes]
        return sum(used.user + used.system for used in times)

    def _complete(self, request: Request) -> int:
        answer = self._exchange(
            "completions",
            {
                "model": self._model,
                "prompt": list(request.prompt_token_ids),
                "max_tokens": request.sampling.max_tokens,
                "temperature": 0,
                "ignore_eos": True,
                "cache_prompt": False,  # llama.cpp's: the next round is to compute it again
            },
        )
        try:
            return int(answer["usage"]["completion_tokens"])
        except (KeyError, TypeError):
            raise ContestError(f"{self.name}: an answer does not say how long it is") from None

    def _exchange(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Ask and read the answer.

        Raises:
            ContestError: there is none, or it is no JSON.
        """
        call = partial(Call, f"{self._url}/{path}", headers={"content-type": "application/json"})
        asked = call(data=json.dumps(body).encode() if body else None)
        try:
            with urlopen(asked, timeout=SECONDS) as answer:
                return json.load(answer)
        except HTTPError as error:
            said = error.read(300).decode("utf-8", "replace")
            raise ContestError(
                f"{self.name}: {asked.full_url} says {error.code}: {said}"
            ) from error
        except (OSError, ValueError) as error:
            raise ContestError(f"{self.name}: no answer from {asked.full_url}: {error}") from error
