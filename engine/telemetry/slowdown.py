"""NVML's clock event reasons in words."""

from __future__ import annotations

IDLE = 0x1  # not a slowdown: nothing runs, so nothing needs a high clock
REASONS = {
    0x2: "application clocks setting",
    0x4: "software power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
    0x100: "display clock setting",
    0x200: "board limit",
    0x400: "reliability limit",
}


def name_reasons(mask: int) -> tuple[str, ...]:
    """Why clocks are lower than they could be, as `nvmlClocksEventReason...` bits say.

    A bit that no driver had when this was written is told by its number.
    """
    bits = [1 << position for position in range(mask.bit_length()) if mask >> position & 1]
    return tuple(REASONS.get(bit, f"reason {bit:#x}") for bit in bits if bit != IDLE)
