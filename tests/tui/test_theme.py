"""The palette for every eye: phases differ in colour under each kind of colour blindness too."""

from __future__ import annotations

from itertools import combinations

import pytest

from tests.tui.colour import BLINDNESS, contrast, difference, linear, seen_with, to_lab
from tuiapp.theme import OWNERS, THEMES
from tuiapp.view.phases import ASCII_GLYPHS, GLYPHS, Phase

LEAST_CONTRAST = 4.5  # WCAG 2.2, success criterion 1.4.3
LEAST_DIFFERENCE = 6.0  # in CIEDE2000; some 2 are seen at a glance
SHARMA = [  # from table 1 of Sharma, Wu and Dalal (2005)
    ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
    ((50.0, -1.3802, -84.2814), (50.0, 0.0, -82.7485), 1.0),
    ((50.0, -1.0, 2.0), (50.0, 0.0, 0.0), 2.3669),
    ((50.0, 2.49, -0.001), (50.0, -2.49, 0.0011), 7.2195),
    ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
    ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
]

every_theme = pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)


@pytest.mark.parametrize(("one", "other", "expected"), SHARMA)
def test_differences_are_those_that_were_published(one, other, expected):
    assert difference(one, other) == pytest.approx(expected, abs=1e-4)


def test_black_on_white_has_the_greatest_contrast():
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)


@pytest.mark.parametrize("blindness", BLINDNESS)
def test_grey_is_grey_for_everybody(blindness):
    seen = to_lab(seen_with(blindness, "#808080"))
    assert difference(seen, to_lab(linear("#808080"))) < 0.5


@every_theme
@pytest.mark.parametrize("blindness", BLINDNESS)
def test_any_two_phases_differ_for_every_eye(theme, blindness):
    seen = {p: to_lab(seen_with(blindness, theme.variables[f"phase-{p.value}"])) for p in Phase}
    near = {
        (one.value, other.value): difference(seen[one], seen[other])
        for one, other in combinations(Phase, 2)
        if difference(seen[one], seen[other]) < LEAST_DIFFERENCE
    }
    assert not near


@every_theme
@pytest.mark.parametrize("phase", [p for p in Phase if p is not Phase.FREE])
def test_the_sign_of_a_phase_stands_out_from_it(theme, phase):
    paper, ink = (theme.variables[f"phase-{phase.value}{end}"] for end in ("", "-ink"))
    assert contrast(ink, paper) >= LEAST_CONTRAST


@every_theme
@pytest.mark.parametrize("name", ["foreground", "primary", "accent", "success", "warning", "error"])
def test_what_is_said_in_a_colour_can_be_read(theme, name):
    papers = (theme.background, theme.surface, theme.panel)
    assert min(contrast(getattr(theme, name), paper) for paper in papers) >= LEAST_CONTRAST


@every_theme
def test_what_is_said_in_a_low_voice_can_be_read(theme):
    papers = (theme.background, theme.surface, theme.panel)
    assert min(contrast(theme.variables["muted"], paper) for paper in papers) >= LEAST_CONTRAST


def test_the_name_of_an_owner_can_be_read_on_its_blocks():
    assert min(contrast(ink, paper) for ink, paper in OWNERS) >= LEAST_CONTRAST


@pytest.mark.parametrize("glyphs", [GLYPHS, ASCII_GLYPHS], ids=["unicode", "ascii"])
def test_without_any_colour_every_phase_has_a_sign_of_its_own(glyphs):
    assert len(set(glyphs.values())) == len(Phase)
