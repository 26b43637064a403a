"""A report as a file for other programs, or for a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tuiapp.export.page import make_page
from tuiapp.library.findings import Findings
from tuiapp.reports.as_json import dump, study_to_json
from tuiapp.reports.as_text import to_csv

NAME = "batchscope-report"
FORMS: dict[str, Callable[[Findings], str]] = {
    "json": lambda findings: f"{dump(study_to_json(findings.study))}\n",
    "csv": lambda findings: to_csv(findings.study),
    "html": lambda findings: make_page(findings.study, [findings.sketch]),
}


def export(findings: Findings, form: str) -> Path:
    """Write a report where the command was started, under a name that is free.

    Args:
        form: one of `FORMS`.

    Raises:
        OSError: it cannot be written.
    """
    path = _free_path(findings.study.name, form)
    path.write_text(FORMS[form](findings), "utf-8")
    return path.absolute()


def _free_path(name: str, form: str) -> Path:
    safe = "".join(sign if sign.isalnum() or sign in "-_." else "_" for sign in name)
    paths = (Path(f"{NAME}-{safe}{f'-{n}' if n > 1 else ''}.{form}") for n in range(1, 10_000))
    return next(path for path in paths if not path.exists())
