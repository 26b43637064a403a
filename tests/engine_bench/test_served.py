"""A server on this machine that speaks OpenAI's protocol, as far as a contender needs it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from engine.bench.contest import ContestError
from engine.bench.served import Served
from tests.builders import ask

REQUESTS = [ask("a", 5, max_tokens=3), ask("b", 7, max_tokens=4)]


class Handler(BaseHTTPRequestHandler):
    asked: list[dict]
    is_broken = False
    models: object = {"data": [{"id": "m"}]}

    def do_GET(self) -> None:
        assert self.path == "/v1/models"
        self._answer(200, self.models)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked.append(body)
        if self.is_broken:
            self._answer(400, {"error": "no such parameter: ignore_eos"})
        else:
            self._answer(200, {"usage": {"completion_tokens": body["max_tokens"]}})

    def _answer(self, status, table) -> None:
        data = json.dumps(table).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments) -> None:
        pass


@contextmanager
def serving(**changes) -> Iterator[tuple[str, list[dict]]]:
    asked: list[dict] = []
    kind = type("ThisHandler", (Handler,), {"asked": asked, **changes})
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/"])
def test_all_are_asked_for_at_once_as_token_ids(end):
    with serving() as (url, asked):
        served = Served("peer", url + end, REQUESTS)
        assert (served.name, served.cpu_seconds()) == ("peer", None)
        assert served.serve() == 7
    assert sorted(body["max_tokens"] for body in asked) == [3, 4]
    assert {body["model"] for body in asked} == {"m"}
    assert [1] * 5 in [body["prompt"] for body in asked]
    assert all(body["ignore_eos"] and body["temperature"] == 0 for body in asked)


def test_the_cpu_time_of_a_server_on_this_machine_is_told():
    with serving() as (url, _):
        served = Served("peer", url, REQUESTS, os.getpid())
        before = served.cpu_seconds()
        sum(range(10**6))
        assert served.cpu_seconds() > before > 0


def test_what_a_server_says_is_said():
    with serving(is_broken=True) as (url, _):
        served = Served("peer", url, REQUESTS)
        with pytest.raises(ContestError, match=r"peer: .* says 400: .*no such parameter"):
            served.serve()


def test_a_server_without_a_model_is_none():
    with serving(models={"data": []}) as (url, _), pytest.raises(ContestError, match="names no"):
        Served("peer", url, REQUESTS)


def test_nobody_there_is_said_with_the_address():
    with serving() as (url, _):
        pass
    with pytest.raises(ContestError, match=f"peer: no answer from {url}/v1/models"):
        Served("peer", url, REQUESTS)
