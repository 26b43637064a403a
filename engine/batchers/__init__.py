"""The batching policies, by the name that settings call them."""

from __future__ import annotations

from dataclasses import fields

from engine.batchers.continuous import Continuous
from engine.batchers.dynamic import Dynamic
from engine.batchers.static import Static
from engine.plan import Batcher
from engine.settings import BatcherName, EngineSettings

BATCHERS: dict[BatcherName, type[Static | Dynamic | Continuous]] = {
    BatcherName.STATIC: Static,
    BatcherName.DYNAMIC: Dynamic,
    BatcherName.CONTINUOUS: Continuous,
}

__all__ = ["BATCHERS", "Continuous", "Dynamic", "Static", "make_batcher"]


def make_batcher(settings: EngineSettings) -> Batcher:
    """The batcher that the settings name, with the fields it knows."""
    kind = BATCHERS[settings.batcher]
    return kind(**{field.name: getattr(settings, field.name) for field in fields(kind)})
