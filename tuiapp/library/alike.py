"""What makes two kept runs hard to compare."""

from __future__ import annotations

from tuiapp.library.entry import Entry


def differences(first: Entry, second: Entry) -> list[str]:
    """What makes the two hard to compare."""
    pairs = {
        "presets": (first.preset, second.preset),
        "seeds": (first.about.get("seed"), second.about.get("seed")),
        "models": (first.model, second.model),
        "devices": (first.device, second.device),
    }
    found = [f"different {name}" for name, (left, right) in pairs.items() if left != right]
    if first.is_simulated != second.is_simulated:
        found.append("one of them simulated")
    elif first.is_simulated:
        found.append("both simulated")
    return found
