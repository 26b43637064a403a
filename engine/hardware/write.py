"""Write a device file, as `devices.read_device` reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

from engine.cost import Device

DIGITS = 6


def device_to_toml(device: Device) -> str:
    """A device as the text of its file; numbers are rounded to some digits."""
    table = asdict(device)
    plain = ("name", "memory_gb", "bandwidth_gb_s")
    lines = [f"{key} = {_value(table[key])}" for key in plain]
    for key in ("tflops", "achieved", "link", "sources"):
        if table[key]:
            lines += ["", f"[{key}]", *_entries(table[key])]
    return "\n".join(lines) + "\n"


def _entries(table: Mapping[str, str | float]) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in table.items()]


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)  # a string of JSON is one of TOML
    return f"{value:.{DIGITS}g}"
