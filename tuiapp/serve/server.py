"""`PlaygroundServer`: textual-serve's server, with so many seats, for its own pages alone."""

from __future__ import annotations

import ipaddress
import re
from html import escape
from typing import Any
from urllib.parse import urlsplit

import aiohttp_jinja2
from aiohttp import WSCloseCode, web
from aiohttp.typedefs import Handler, Middleware
from textual_serve.server import Server

FULL = 503
ELSEWHERE = re.compile(r'<link\s+rel="stylesheet"\s+href="https:[^>]*>')  # a font of Google's
FOCUS = """<script>
new MutationObserver((_, self) => {
  const input = document.querySelector(".xterm-helper-textarea");
  if (!input || !document.body.classList.contains("-first-byte")) return;
  input.focus();
  self.disconnect();
}).observe(document.body, {attributes: true});
</script></body>"""  # keys work without a click into the page
FONT_SIZE = 16  # pixels
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self' ws://{host} wss://{host}"
)


class PlaygroundServer(Server):
    """Starts a playground for each visitor, and ends it when the visitor leaves.

    Args:
        command: starts the app, in a shell.
        num_seats: visitors at a time.
        is_local: only names of this machine are answered to, so that no web page elsewhere can
            reach it under a name of its own.
    """

    def __init__(self, command: str, *, num_seats: int, is_local: bool) -> None:
        super().__init__(command, title="batchscope")
        self._num_seats = num_seats
        self._is_local = is_local
        self._num_visitors = 0

    async def make_app(self) -> web.Application:
        app: web.Application = await self._make_app()
        app.middlewares.append(self._guard())
        return app

    async def on_startup(self, app: web.Application) -> None:
        """Say nothing: the command says where it is once it is there."""

    async def handle_index(self, request: web.Request) -> web.Response:
        """The page with the terminal in it, or one that says that all seats are taken."""
        if self._num_visitors >= self._num_seats:
            return web.Response(text=self._full_page(), content_type="text/html", status=FULL)
        scheme = "wss" if request.scheme == "https" else "ws"
        context: dict[str, Any] = {
            "font_size": FONT_SIZE,
            "app_websocket_url": f"{scheme}://{request.host}/ws",
            "config": {"static": {"url": "/static/"}},
            "application": {"name": escape(self.title)},
        }
        page = aiohttp_jinja2.render_string("app_index.html", request, context)
        page = ELSEWHERE.sub("", page).replace("</body>", FOCUS)
        return web.Response(text=page, content_type="text/html")

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Run a playground for a visitor, if a seat is free."""
        if self._num_visitors >= self._num_seats:
            return await self._turn_away(request)
        self._num_visitors += 1
        try:
            socket: web.WebSocketResponse = await super().handle_websocket(request)
            return socket
        finally:
            self._num_visitors -= 1

    async def _turn_away(self, request: web.Request) -> web.WebSocketResponse:
        """Whoever opened the page while a seat was free and came too late."""
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_bytes(f"batchscope: {self._full()}\r\n".encode())
        await socket.close(code=WSCloseCode.TRY_AGAIN_LATER)
        return socket

    def _full(self) -> str:
        seats = "the only seat is" if self._num_seats == 1 else f"all {self._num_seats} seats are"
        return f"{seats} taken; come back when somebody has left"

    def _full_page(self) -> str:
        """A page of its own, since a terminal would need a seat."""
        return (
            '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="10">'
            "<title>batchscope</title>"
            '<body style="background:#0d1117;color:#d6dee6;font:16px monospace;padding:3em">'
            f"<h1>batchscope</h1><p>Every visitor gets an engine, and {escape(self._full())}. "
            "This page looks again every ten seconds.</p>"
        )

    def _guard(self) -> Middleware:
        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            """Answer this server's own pages alone, and let them ask nobody else."""
            if problem := self._problem_of(request):
                raise web.HTTPForbidden(text=problem)
            response = await handler(request)
            if not response.prepared:
                policy = POLICY.format(host=request.host)
                response.headers["Content-Security-Policy"] = policy
            return response

        return guard

    def _problem_of(self, request: web.Request) -> str:
        """Why a request is not answered, or nothing."""
        if self._is_local and not is_loopback(urlsplit(f"//{request.host}").hostname or ""):
            return f"batchscope serves this machine alone, not {request.host}"
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.host:
            return f"batchscope takes no orders from pages of {origin}"
        return ""


def is_loopback(host: str) -> bool:
    """Whether a name or address is one by which a machine calls itself."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
