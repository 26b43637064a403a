"""Save what a screen shows as an SVG."""

from __future__ import annotations

from pathlib import Path

from textual.screen import Screen


def save_picture(screen: Screen[None]) -> None:
    """Write it where the command was started, under a name that is free, and say so."""
    number = next(n for n in range(1, 10_000) if not Path(f"batchscope-{n}.svg").exists())
    try:
        path = screen.app.save_screenshot(f"batchscope-{number}.svg")
    except OSError as error:
        screen.notify(f"No screenshot: {error}", severity="error", markup=False)
    else:
        screen.notify(f"Saved {path}", markup=False)
