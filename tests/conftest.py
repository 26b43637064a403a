"""The world every test runs in: one thread, no network, no animation, folders of its own."""

from __future__ import annotations

import os
import time
from importlib.util import find_spec
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

SURROUNDINGS = {
    "HF_HUB_OFFLINE": "1",
    "MKL_NUM_THREADS": "1",  # on a busy machine two threads wait for each other most of the time
    "OMP_NUM_THREADS": "1",
    "TEXTUAL_ANIMATIONS": "none",
    "TRITON_INTERPRET": "1",  # kernels run on the CPU; Triton asks once, when it is imported
    "TZ": "UTC",
}
NEEDS = "BATCHSCOPE_TESTS_NEED"  # packages without which tests are not to be left out, but to fail
FOLDERS = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", metavar="SEED", help="Run the tests in an order of that seed.")
    parser.addoption("--repeats", metavar="N", type=int, default=1, help="Run each test N times.")


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say how to have this order again."""
    seed = config.getoption("--shuffle")
    return None if seed is None else f"order: --shuffle {seed}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make of every test as many as `--repeats` says; with `--shuffle` they mix with the others."""
    if (count := metafunc.config.getoption("--repeats")) > 1:
        metafunc.fixturenames.append("repetition")
        metafunc.parametrize("repetition", range(1, count + 1), ids="time{}".format)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let no test lean on what another one left behind."""
    if (seed := config.getoption("--shuffle")) is not None:
        Random(seed).shuffle(items)


def pytest_configure(config: pytest.Config) -> None:
    """Set the environment before a test module, and with it torch or textual, is imported.

    Raises:
        UsageError: a package is not there that must be.
    """
    missing = [name for name in os.environ.get(NEEDS, "").split() if find_spec(name) is None]
    if missing:
        raise pytest.UsageError(f"{NEEDS}: no {' '.join(missing)}; pip install -e '.[dev]' has it")
    folder = TemporaryDirectory(prefix="batchscope-tests-")
    config.add_cleanup(folder.cleanup)
    os.environ.update(SURROUNDINGS)
    os.environ.update({name: os.path.join(folder.name, name.lower()) for name in FOLDERS})
    time.tzset()
    settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile(
        "ci", settings.get_profile("dev"), derandomize=True, database=None, print_blob=True
    )
    settings.load_profile("ci" if os.environ.get("CI") else "dev")
