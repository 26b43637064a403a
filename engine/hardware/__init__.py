"""Named devices and models to simulate, from data files with a source for every figure."""

from __future__ import annotations

from engine.hardware.devices import Machine, find_device
from engine.hardware.models import find_model
from engine.hardware.simulated import num_kv_blocks, simulate

__all__ = ["Machine", "find_device", "find_model", "num_kv_blocks", "simulate"]
