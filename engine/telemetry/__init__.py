"""What a device and its host say about themselves: load, memory, clocks, power.

Readings are made a few times a second, in a thread of their own, since a driver may take
milliseconds to answer.
"""

from engine.telemetry.gauge import Telemetry, make_telemetry
from engine.telemetry.poller import Poller

__all__ = ["Poller", "Telemetry", "make_telemetry"]
