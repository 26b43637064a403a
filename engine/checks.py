"""Conditions on the values of a table; a message begins with the field that breaks one."""

from __future__ import annotations


def require(is_right: bool, message: str) -> None:
    """Insist on a condition.

    Raises:
        ValueError: it does not hold.
    """
    if not is_right:
        raise ValueError(message)


def require_positive(**numbers: float) -> None:
    """Insist on numbers above 0.

    Raises:
        ValueError: one is not; the message names it.
    """
    for name, number in numbers.items():
        require(number > 0, f"{name} must be above 0, got {number}")


def require_natural(**numbers: float) -> None:
    """Insist on numbers of at least 0.

    Raises:
        ValueError: one is not; the message names it.
    """
    for name, number in numbers.items():
        require(number >= 0, f"{name} must be at least 0, got {number}")
