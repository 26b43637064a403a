"""Recorded workloads: files in which a row is a request that somebody once sent.

Readers take one row at a time, so that a file of a million rows needs no more memory than one of
a thousand, and every row that is left out or changed is counted by its reason.
"""

from __future__ import annotations

from engine.traces.formats import FORMATS, Format
from engine.traces.reading import TraceFile
from engine.traces.row import Row, RowError
from engine.traces.survey import Survey, survey
from engine.traces.tally import Tally

__all__ = ["FORMATS", "Format", "Row", "RowError", "Survey", "Tally", "TraceFile", "survey"]
