"""What compares a screen with its golden bears the mark `golden`, so that one command runs them."""

from __future__ import annotations

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    """A test that calls `check_screen` itself is found by that; others bear the mark in writing."""
    code = getattr(getattr(item, "function", None), "__code__", None)
    if code and "check_screen" in code.co_names:
        item.add_marker("golden")
