"""`Browser`: a headless Chromium that a test drives over the DevTools protocol."""

from __future__ import annotations

import asyncio
import base64
import subprocess
import time
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import aiohttp

from tests.programs import find_program

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DRIVEN = ("--disable-dev-shm-usage", "--remote-debugging-port=0", "--window-size=1300,800")
SECONDS = 60.0


def find_browser() -> str:
    """The path of a Chromium; skips the test where there is none, and fails it in CI."""
    return find_program(*NAMES)


class Browser:
    """One tab.

    Attributes:
        received: what came over the page's own web sockets.
        requested: the addresses that the page asked for.
    """

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = count(1)
        self._results: dict[int, dict] = {}
        self.received = bytearray()
        self.requested: list[str] = []

    async def command(self, method: str, **parameters) -> dict:
        number = next(self._numbers)
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        await self.until(lambda: number in self._results)
        return self._results.pop(number)

    async def open(self, address: str) -> None:
        for domain in ("Page", "Network", "Runtime"):
            await self.command(f"{domain}.enable")
        await self.command("Page.navigate", url=address)

    async def press(self, key: str) -> None:
        await self.command("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
        await self.command("Input.dispatchKeyEvent", type="keyUp", key=key)

    async def evaluate(self, script: str):
        done = await self.command("Runtime.evaluate", expression=script)
        return done["result"].get("value")

    async def screenshot(self) -> bytes:
        done = await self.command("Page.captureScreenshot", format="png")
        return base64.b64decode(done["data"])

    async def until(self, is_so) -> None:
        """Read what the browser tells until something is so."""
        deadline = time.monotonic() + SECONDS
        while not is_so():
            assert time.monotonic() < deadline, bytes(self.received[-3000:])
            try:
                message = await self._socket.receive_json(timeout=0.5)
            except TimeoutError:
                continue
            self._note(message)

    def _note(self, message: dict) -> None:
        if "id" in message:
            assert "error" not in message, message
            self._results[message["id"]] = message["result"]
        match message.get("method"):
            case "Network.webSocketFrameReceived":
                frame = message["params"]["response"]
                data = frame["payloadData"]
                binary = frame["opcode"] == 2
                self.received += base64.b64decode(data) if binary else data.encode()
            case "Network.requestWillBeSent":
                self.requested.append(message["params"]["request"]["url"])


@asynccontextmanager
async def browsing(folder: Path):
    """A browser with an empty tab, and a profile in that folder."""
    profile = folder / "profile"
    command = [find_browser(), *FLAGS, *DRIVEN, f"--user-data-dir={profile}", "about:blank"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        port = await _port_of(profile / "DevToolsActivePort", process)
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json/list") as response:
                tabs = [each for each in await response.json() if each["type"] == "page"]
            address = tabs[0]["webSocketDebuggerUrl"]
            async with session.ws_connect(address, max_msg_size=0) as socket:
                yield Browser(socket)
    finally:
        process.terminate()
        process.wait(30)


async def _port_of(path: Path, process: subprocess.Popen) -> int:
    deadline = time.monotonic() + SECONDS
    while not (path.exists() and path.read_text().strip()):
        assert process.poll() is None, "the browser ended"
        assert time.monotonic() < deadline, "the browser opened no port"
        await asyncio.sleep(0.1)
    return int(path.read_text().split()[0])
