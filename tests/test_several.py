"""Several devices are named as they are read."""

from __future__ import annotations

import pytest

from engine.cost.several import name_several, split_several


@pytest.mark.parametrize(
    ("name", "count", "together"),
    [
        ("NVIDIA H200", 1, "NVIDIA H200"),
        ("NVIDIA H200", 2, "2 x NVIDIA H200"),
        ("GeForce x 2", 12, "12 x GeForce x 2"),
    ],
)
def test_what_is_written_is_what_is_read(name, count, together):
    assert name_several(name, count) == together
    assert split_several(together) == (name, count)
