"""`TerminalDriver`: leaves a terminal as it was, also one that was resized meanwhile.

tmux (3.3a) makes a terminal that has another size than when the alternate screen was entered fit
again by moving lines of that screen into the ordinary one. Lines that are empty do no harm.
"""

from __future__ import annotations

import sys

from textual.driver import Driver

CLEAR = "\x1b[2J"

if sys.platform == "win32":
    USUAL: type[Driver] | None = None
    TerminalDriver: type[Driver] = Driver
else:
    from textual.drivers.linux_driver import LinuxDriver

    USUAL = LinuxDriver

    class TerminalDriver(LinuxDriver):
        """Empties the alternate screen before it is left."""

        def stop_application_mode(self) -> None:
            self.write(CLEAR)
            super().stop_application_mode()
