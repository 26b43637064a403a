"""Cost models: how long a forward pass takes on hardware that is not here.

`Roofline` says it for a named model on a named device, `Linear` as a straight line whose round
figures make presets easy to check by hand.
"""

from __future__ import annotations

from typing import Protocol

from engine.cost.device import Achieved, Device, Link
from engine.cost.linear import Linear
from engine.cost.load import Load
from engine.cost.model_shape import ModelShape
from engine.cost.roofline import Roofline
from engine.plan import Plan

__all__ = ["Achieved", "CostModel", "Device", "Linear", "Link", "Load", "ModelShape", "Roofline"]


class CostModel(Protocol):
    """Says how long a plan would take."""

    def seconds(self, plan: Plan) -> float: ...
