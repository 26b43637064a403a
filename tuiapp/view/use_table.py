"""The rows of the panel of use: each a number, what it means, and when it misleads."""

from __future__ import annotations

from engine.events import EngineInfo
from tuiapp.keys import Keys
from tuiapp.view.device_use import busy_row, device_rows
from tuiapp.view.engine_use import engine_rows
from tuiapp.view.use_row import UseRow
from tuiapp.view.utilisation import Reading


def use_rows(reading: Reading, info: EngineInfo, keys: Keys) -> list[UseRow]:
    """All measures that there can be on such a device, the least telling first.

    Args:
        keys: to name the one that tells more.
    """
    gauges = reading.gauges
    is_gpu = gauges.name == "GPU" if gauges else bool(info.device_uuid)
    return [
        busy_row(reading, is_gpu=is_gpu),
        *engine_rows(reading, info, keys),
        *device_rows(reading, is_gpu=is_gpu),
    ]
