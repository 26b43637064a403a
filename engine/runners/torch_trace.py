"""`TorchTrace`: some passes as torch's own profiler sees them, every operation and kernel."""

from __future__ import annotations

from pathlib import Path

from torch.profiler import profile, supported_activities


class TorchTrace:
    """Records from `start` to `stop`; while it does, passes are slower than they are.

    Args:
        path: of the trace, which Perfetto and chrome://tracing open.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        activities = supported_activities()  # type: ignore[no-untyped-call]
        self._profile = profile(activities=activities)

    def start(self) -> None:
        self._profile.start()

    def stop(self) -> None:
        """Write the file.

        Raises:
            OSError: it cannot be written.
        """
        self._profile.stop()
        self._path.touch()  # torch says nothing useful about a file that it cannot write
        self._profile.export_chrome_trace(str(self._path))
