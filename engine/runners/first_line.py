"""`first_line`: what an error says first; torch, Triton and transformers go on for pages."""

from __future__ import annotations


def first_line(error: Exception) -> str:
    """The first line with words in it, or what kind of error it is if it says nothing."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
