"""A server is started, waited for and stopped with everything that it started."""

from __future__ import annotations

import sys

import psutil
import pytest

from engine.bench.contest import ContestError
from engine.bench.launching import VLLM, Limits, serving, write_command
from engine.runners.parallel.ports import free_port

LIMITS = Limits("/models/m m", "bfloat16", 8, 456)
SERVER = """
import subprocess, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.send_header("content-length", "2"); self.end_headers()
        self.wfile.write(b"{}")
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def test_it_runs_while_it_is_wanted_and_nothing_of_it_is_left(tmp_path):
    port = free_port()
    command = [sys.executable, "-c", SERVER, str(port)]
    with serving("peer", command, port, tmp_path / "log") as (url, pid):
        assert url == f"http://127.0.0.1:{port}"
        processes = [psutil.Process(pid), *psutil.Process(pid).children()]
        assert len(processes) == 2
    _, alive = psutil.wait_procs(processes, timeout=10)
    assert alive == []


def test_one_that_ends_is_quoted(tmp_path):
    command = [sys.executable, "-c", "print('no such model'); raise SystemExit(3)"]
    with (
        pytest.raises(ContestError, match="peer ended; it said: no such model"),
        serving("peer", command, free_port(), tmp_path / "log"),
    ):
        pass


def test_vllm_is_kept_from_a_worker_that_it_would_spin_beside(tmp_path):
    program = "import os; print(os.environ['VLLM_ENABLE_V1_MULTIPROCESSING'], 'it is')"
    with (
        pytest.raises(ContestError, match="peer ended; it said: 0 it is"),
        serving("peer", [sys.executable, "-c", program], free_port(), tmp_path / "log"),
    ):
        pass


def test_one_that_is_not_there_is_named(tmp_path):
    with (
        pytest.raises(ContestError, match="cannot start /no/where: No such file"),
        serving("peer", ["/no/where"], free_port(), tmp_path / "log"),
    ):
        pass


def test_a_command_is_filled_in_word_by_word():
    words = write_command(VLLM, LIMITS, 8123, python="/venv/bin/python")
    assert words[:3] == ["/venv/bin/python", "-m", "vllm.entrypoints.openai.api_server"]
    assert words[words.index("--model") + 1] == "/models/m m"
    assert words[words.index("--port") + 1] == "8123"
    assert words[words.index("--max-num-seqs") + 1] == "8"
    assert words[words.index("--max-model-len") + 1] == "456"


def test_a_name_that_there_is_none_of_is_refused_with_those_there_are():
    with pytest.raises(ContestError, match=r"known: \{port\}, \{model\}"):
        write_command("serve {modle}", LIMITS, 1)
