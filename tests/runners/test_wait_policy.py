"""How idle threads wait is set before torch is there, unless the user has set it."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from engine.runners.wait_policy import CHOICES, POLICY, wait_passively

PROGRAM = """
import sys
from engine.assembly import build_core
from engine.config import ConfigError
from engine.clock import VirtualClock
from engine.log import EventLog
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
try:
    build_core(ModelSpec("none/such", "cpu"), EngineSettings(), VirtualClock(), EventLog())
except ConfigError:
    pass
assert "torch" in sys.modules
"""


@pytest.fixture(autouse=True)
def _nothing_chosen(monkeypatch):
    for name in CHOICES:
        monkeypatch.setenv(name, "")  # so that what a test sets is taken back
        monkeypatch.delenv(name)


def test_idle_threads_sleep():
    wait_passively()
    assert os.environ[POLICY] == "PASSIVE"


@pytest.mark.parametrize("name", CHOICES)
def test_what_the_user_chose_stays(monkeypatch, name):
    monkeypatch.setenv(name, "ACTIVE")
    wait_passively()
    assert {each: os.environ[each] for each in CHOICES if each in os.environ} == {name: "ACTIVE"}


def test_openmp_finds_it_when_an_engine_loads_torch():
    """OpenMP tells its settings when it is loaded, where it is asked to."""
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "OMP_DISPLAY_ENV": "TRUE", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    assert re.search(r"OMP_WAIT_POLICY ?= ?'PASSIVE'", told)
