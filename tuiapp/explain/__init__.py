"""Explanations from the log alone: where a request's time went, and what it waits for now."""

from tuiapp.explain.gaps import Gap, explain_gap, is_notable, tell_company
from tuiapp.explain.life import Life
from tuiapp.explain.reader import LifeReader
from tuiapp.explain.stages import Part, Span, Stage, add_up
from tuiapp.explain.why import explain_wait, name_reason, why_waiting

__all__ = [
    "Gap",
    "Life",
    "LifeReader",
    "Part",
    "Span",
    "Stage",
    "add_up",
    "explain_gap",
    "explain_wait",
    "is_notable",
    "name_reason",
    "tell_company",
    "why_waiting",
]
