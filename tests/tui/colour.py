"""How colours look to whom: contrast, difference, and three kinds of colour blindness."""

from __future__ import annotations

from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt

Triple = tuple[float, float, float]

# Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB.
BLINDNESS = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
TO_XYZ = (  # sRGB, D65 (IEC 61966-2-1)
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
WHITE = (0.95047, 1.0, 1.08883)


def linear(colour: str) -> Triple:
    """Linear RGB, 0 to 1, of `#rrggbb`."""

    def channel(at: int) -> float:
        share = int(colour[at : at + 2], 16) / 255
        return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4

    return channel(1), channel(3), channel(5)


def contrast(one: str, other: str) -> float:
    """1 to 21, as WCAG 2 defines it."""
    low, high = sorted(_times(TO_XYZ, linear(colour))[1] for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def seen_with(blindness: str, colour: str) -> Triple:
    """Linear RGB of what somebody with that blindness sees."""
    red, green, blue = (min(1.0, max(0.0, c)) for c in _times(BLINDNESS[blindness], linear(colour)))
    return red, green, blue


def to_lab(rgb: Triple) -> Triple:
    """CIELAB of linear RGB under D65."""

    def cube_root(share: float) -> float:
        return share ** (1 / 3) if share > 216 / 24389 else (24389 / 27 * share + 16) / 116

    parts = zip(_times(TO_XYZ, rgb), WHITE, strict=True)
    x, y, z = (cube_root(part / white) for part, white in parts)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(one: Triple, other: Triple) -> float:
    """CIEDE2000 of two CIELAB colours; Sharma, Wu and Dalal (2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean_c = (hypot(a1, b1) + hypot(a2, b2)) / 2
    g = 0.5 * (1 - sqrt(mean_c**7 / (mean_c**7 + 25**7)))
    a1, a2 = (1 + g) * a1, (1 + g) * a2
    c1, c2 = hypot(a1, b1), hypot(a2, b2)
    h1, h2 = degrees(atan2(b1, a1)) % 360, degrees(atan2(b2, a2)) % 360
    turn = 0.0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    if c1 * c2 != 0 and abs(h2 - h1) == 180:
        turn = h2 - h1
    mean_h = h1 + h2 if c1 * c2 == 0 else (h1 + turn / 2) % 360
    mean_l, mean_c = (l1 + l2) / 2, (c1 + c2) / 2
    t = (
        1
        - 0.17 * cos(radians(mean_h - 30))
        + 0.24 * cos(radians(2 * mean_h))
        + 0.32 * cos(radians(3 * mean_h + 6))
        - 0.20 * cos(radians(4 * mean_h - 63))
    )
    weight_l = 1 + 0.015 * (mean_l - 50) ** 2 / sqrt(20 + (mean_l - 50) ** 2)
    weight_c, weight_h = 1 + 0.045 * mean_c, 1 + 0.015 * mean_c * t
    rotation = -sin(radians(60 * exp(-(((mean_h - 275) / 25) ** 2)))) * 2
    rotation *= sqrt(mean_c**7 / (mean_c**7 + 25**7))
    lightness = (l2 - l1) / weight_l
    chroma = (c2 - c1) / weight_c
    hue = 2 * sqrt(c1 * c2) * sin(radians(turn / 2)) / weight_h
    return sqrt(lightness**2 + chroma**2 + hue**2 + rotation * chroma * hue)


def _times(matrix: tuple[Triple, Triple, Triple], vector: Triple) -> Triple:
    x, y, z = (sum(m * v for m, v in zip(row, vector, strict=True)) for row in matrix)
    return x, y, z
