"""What happened, as immutable records in an append-only log.

Client-side events (`Arrived`, `Token`, `Delivered`, `Finished`) come from every backend, and
every latency metric folds these alone. Engine-side ones (`Ready`, `Configured`, `Step`,
`Keyframe` and so on) come only from a backend that runs the scheduler itself. Times are in
seconds on the engine's clock. What every sequence of every pass makes one of is a named tuple: as
immutable as the others, but made in a third of the time.
"""

from __future__ import annotations

from engine.events.client import Arrived, Delivered, Finished, Refused, Token
from engine.events.gauges import CpuGauges, Gauges, GpuGauges
from engine.events.info import EngineInfo
from engine.events.keyframe import Checkpoint, Holding, Keyframe, Progress
from engine.events.session import Configured, Failed, Noted, Played, Ready
from engine.events.step import RowRecord, Split, Step, Work, is_pass

__all__ = [
    "Arrived",
    "Checkpoint",
    "ClientEvent",
    "Configured",
    "CpuGauges",
    "Delivered",
    "EngineEvent",
    "EngineInfo",
    "Event",
    "Failed",
    "Finished",
    "Gauges",
    "GpuGauges",
    "Holding",
    "Keyframe",
    "Noted",
    "Played",
    "Progress",
    "Ready",
    "Refused",
    "RowRecord",
    "Split",
    "Step",
    "Token",
    "Work",
    "is_pass",
]

ClientEvent = Arrived | Refused | Token | Delivered | Finished
EngineEvent = Ready | Configured | Step | Keyframe | Checkpoint | Gauges | Failed | Noted | Played
Event = ClientEvent | EngineEvent
