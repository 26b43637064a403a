"""Component styles of the phases, for widgets that draw cells by the Line API."""

from __future__ import annotations

from tuiapp.view.phases import Phase


def phase_classes(prefix: str) -> set[str]:
    """One component class a phase."""
    return {f"{prefix}--{phase.value}" for phase in Phase}


def phase_css(prefix: str) -> str:
    """Their rules: the colours that the theme has for the phases."""
    return "\n".join(
        f".{prefix}--{p.value} {{ background: $phase-{p.value}; color: $phase-{p.value}-ink; }}"
        for p in Phase
    )
