"""A way to attend that fails its trial is passed over, and said so; once for all."""

from __future__ import annotations

import pytest
import torch

from engine.plan import RunnerError
from engine.runners.attention.attend import AttentionOptions
from engine.runners.attention.choice import Platform
from engine.runners.attention.chooser import BackendChooser
from engine.runners.attention.gather import GatherAttention
from engine.runners.attention.rehearsal import LayerCall
from engine.runners.kv_cache import KvCache, LayerShape
from tests.runners.passes import CPU

SHAPE = LayerShape(2, 8, 8, torch.bfloat16)
CALLS = {0: LayerCall(SHAPE, 4, AttentionOptions())}
CUDA = Platform("cuda", (9, 0), True, False, True, "2.13.0")


class Broken(GatherAttention):
    """Cannot compile."""

    def attend(self, *args):
        raise RuntimeError("Failed to find C compiler.\nMore of it.")


class Workshop:
    """Makes backends, kernels that are broken among them, and counts."""

    def __init__(self, broken: tuple[str, ...]) -> None:
        self.broken = broken
        self.made: list[str] = []

    def make(self, name: str, block_size: int) -> GatherAttention:
        self.made.append(name)
        return (Broken if name in self.broken else GatherAttention)(block_size, CPU)


def make_cache(block_size: int) -> KvCache:
    return KvCache({0: SHAPE}, 2, block_size, CPU)


def test_a_way_that_works_is_taken():
    workshop = Workshop(broken=())

    backend, passed_over = BackendChooser("auto", CUDA, workshop.make).make(CALLS, make_cache(16))

    assert (type(backend), passed_over, workshop.made) == (GatherAttention, "", ["triton"])


def test_a_way_that_fails_its_trial_is_passed_over_and_not_tried_again():
    workshop = Workshop(broken=("triton",))
    chooser = BackendChooser("auto", CUDA, workshop.make)

    _, passed_over = chooser.make(CALLS, make_cache(256))
    chooser.make(CALLS, make_cache(16))

    assert passed_over == "not triton: it failed here: Failed to find C compiler."
    assert workshop.made == ["triton", "varlen", "gather"]


def test_a_way_that_was_asked_for_and_fails_is_refused():
    chooser = BackendChooser("triton", CUDA, Workshop(broken=("triton",)).make)

    with pytest.raises(RunnerError, match="--attention triton: it failed here: Failed to find C"):
        chooser.make(CALLS, make_cache(16))


def test_gathering_has_nothing_to_fall_back_to():
    chooser = BackendChooser("gather", CUDA, Workshop(broken=("gather",)).make)

    with pytest.raises(RuntimeError, match="Failed to find C compiler"):
        chooser.make(CALLS, make_cache(16))
