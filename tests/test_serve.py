"""The playground in a browser: who gets in, and what is seen there."""

from __future__ import annotations

import asyncio
import re
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from textual.color import Color
from typer.testing import CliRunner

pytest.importorskip("textual_serve", reason="textual-serve is not there")

from aiohttp import ClientSession, WSServerHandshakeError

from tests.browser import SECONDS, browsing, find_browser
from tests.png import read_png
from tuiapp.cli.main import app
from tuiapp.serve.server import is_loopback
from tuiapp.theme import DARK_INKS

ROOT = Path(__file__).parent.parent
CELL = 100  # pixels, at least, that a cell of the terminal has
APP = ("--device", "sim:linear", "--batcher", "static")


@contextmanager
def serving(*options: str):
    """A server with an engine that computes nothing; the address where it is."""
    command = [sys.executable, "-m", "tuiapp", "serve", "--port", "0", *options, "--", *APP]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            told = process.stdout.readline()
            found = re.search(r"http://\S+?/", told)
            assert found, told
            yield found[0]
        finally:
            process.terminate()
            process.wait(60)
            process.stdout.close()


def is_phase(pixels: np.ndarray, name: str) -> np.ndarray:
    """Where the picture has the paper of that phase, but for rounding; [height, width]."""
    paper = np.array(Color.parse(DARK_INKS[f"phase-{name}"]).rgb)
    return (abs(pixels.astype(int) - paper) <= 2).all(axis=-1)


def refusal(*options: str) -> str:
    done = CliRunner().invoke(app, ["serve", *options])
    assert done.exit_code == 2
    return done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.7", "example.org"])
def test_others_can_reach_it_only_if_that_is_said(host):
    assert "say --allow-remote as well" in refusal("--host", host)


def test_a_port_in_use_is_named():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"--port: {port} is in use; name another, or 0" in refusal("--port", str(port))


def test_an_address_of_another_machine_cannot_be_served_on():
    told = refusal("--host", "192.0.2.1", "--allow-remote", "--port", "0")
    assert "whoever reaches this port drives the engine on this machine" in told
    assert "--host: 192.0.2.1 cannot be served on" in told


@pytest.mark.parametrize(
    ("host", "is_own"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("a.b", False)],
)
def test_which_names_are_this_machine_s_own(host, is_own):
    assert is_loopback(host) is is_own


async def test_who_comes_when_all_seats_are_taken_is_told_so_and_pages_elsewhere_get_nothing():
    with serving("--seats", "1") as address:
        async with ClientSession() as session:
            async with session.ws_connect(f"{address}ws?width=100&height=30") as seated:
                assert (await seated.receive(60)).data
                async with session.get(address) as page:
                    assert page.status == 503
                    assert "the only seat is taken" in await page.text()
                async with session.ws_connect(f"{address}ws") as late:
                    assert b"the only seat is taken" in (await late.receive(60)).data
            for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
                async with session.get(address, headers=headers) as page:
                    assert page.status == 403
                with pytest.raises(WSServerHandshakeError):
                    await session.ws_connect(f"{address}ws", headers=headers)


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_browser_shows_the_live_screen_and_its_keys_drive_it(tmp_path):
    find_browser()
    with serving() as address:
        async with browsing(tmp_path) as browser:
            await browser.open(address)
            await browser.until(lambda: "slots × passes".encode() in browser.received)
            await browser.until(lambda: b"delivered" in browser.received)
            before = await browser.screenshot()
            assert "continuous · chunked".encode() not in browser.received
            await browser.press("3")
            await browser.until(lambda: "continuous · chunked".encode() in browser.received)
            pixels = read_png(before)
            is_timeline = is_phase(pixels, "decode") | is_phase(pixels, "prefill")
            async with asyncio.timeout(SECONDS):  # the page draws what it received, some time later
                later = read_png(await browser.screenshot())
                while (pixels != later).any(axis=-1)[is_timeline].mean() < 0.05:
                    later = read_png(await browser.screenshot())
            for picture in (pixels, later):
                assert is_phase(picture, "prefill").sum() > 8 * CELL
                assert is_phase(picture, "decode").sum() > 8 * 10 * CELL
            asked = [each for each in browser.requested if each.startswith(("http", "ws"))]
            assert [each for each in asked if not each.startswith(address)] == []
