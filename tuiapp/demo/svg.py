"""`to_svg`: a film as one SVG that moves by itself, also where a page allows no script.

All pictures stand below each other in one long strip, and a CSS animation of steps pulls the strip
through a window, as termtosvg (Bérubé 2018) does it. A line that occurs in several pictures is
drawn once and used again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from rich.segment import Segment
from rich.style import Style

from tuiapp.demo.film import Film, Frame, Line
from tuiapp.theme import DARK

CELL, LEADING, FONT = 8.4, 17, 14  # pixels
MARGIN = 10
FONTS = "ui-monospace, 'Fira Code', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
PAPER, INK = DARK.background or "#000000", DARK.foreground or "#ffffff"


def to_svg(film: Film) -> str:
    """The whole file; the same film gives the same text."""
    sheet = _Sheet()
    step = (film.height + film.num_below) * LEADING
    strip = "".join(
        sheet.picture(frame, film.caption_lines(frame), number * step)
        for number, frame in enumerate(film.frames)
    )
    width, height = film.width * CELL + 2 * MARGIN, step + 2 * MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img">\n'
        f"<title>{escape(film.title)}</title>\n"
        f"<style>{_animation(film, step)}{sheet.rules()}</style>\n"
        f"<defs>{sheet.definitions()}</defs>\n"
        f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>\n'
        f'<svg x="{MARGIN}" y="{MARGIN}" width="{film.width * CELL:g}" height="{step}">'
        f'<g class="film">{strip}</g></svg>\n</svg>\n'
    )


def _animation(film: Film, step: int) -> str:
    """Pull the strip on at the time of each picture."""
    stops = "".join(
        f"{frame.time / film.seconds * 100:.3f}%{{transform:translateY({-number * step}px)}}"
        for number, frame in enumerate(film.frames)
    )
    last = f"100%{{transform:translateY({-(len(film.frames) - 1) * step}px)}}"
    return (
        f"text{{font:{FONT}px {FONTS};white-space:pre}}"
        f".film{{animation:film {film.seconds:g}s step-end infinite}}"
        f"@keyframes film{{{stops}{last}}}"
        "@media (prefers-reduced-motion:reduce){.film{animation:none}}"
    )


class _Sheet:
    """Collects the lines and the styles that the pictures have in common."""

    def __init__(self) -> None:
        self._lines: dict[Line, str] = {}
        self._drawn: list[str] = []
        self._styles: dict[str, str] = {}

    def picture(self, frame: Frame, caption: Sequence[str], top: int) -> str:
        """One picture of the strip; `top` is in pixels."""
        lines = frame.lines
        uses = "".join(
            f'<use href="#{self._name_of(line)}" y="{top + number * LEADING}"/>'
            for number, line in enumerate(lines)
        )
        bold = Style(bold=True, color=INK)
        for number, text in enumerate(caption, len(lines) + 1):
            words = self._name_of((Segment(f" {text}", bold),))
            uses += f'<use href="#{words}" y="{top + number * LEADING}"/>'
        return uses

    def definitions(self) -> str:
        return "\n".join(self._drawn)

    def rules(self) -> str:
        return "".join(f".{name}{{{rule}}}" for rule, name in self._styles.items())

    def _name_of(self, line: Line) -> str:
        """Draw a line unless it is there."""
        if line not in self._lines:
            self._lines[line] = f"l{len(self._lines)}"
            cells = "".join(self._draw(line))
            self._drawn.append(f'<g id="{self._lines[line]}">{cells}</g>')
        return self._lines[line]

    def _draw(self, line: Line) -> Iterator[str]:
        """The papers of a line, then its texts, each held to its cells."""
        at, papers, texts = 0, [], []
        for segment in line:
            left, width = at * CELL, segment.cell_length * CELL
            at += segment.cell_length
            style = segment.style or Style.null()
            ink, paper = _colours(style)
            if paper != PAPER:
                box = f'x="{left:g}" width="{width:g}" height="{LEADING}"'
                papers.append(f'<rect {box} fill="{paper}"/>')
            if segment.text.strip():
                texts.append(
                    f'<text class="{self._class_of(ink, style)}" x="{left:g}" y="{FONT - 1}" '
                    f'textLength="{width:g}" lengthAdjust="spacingAndGlyphs">'
                    f"{escape(segment.text, quote=False)}</text>"
                )
        yield from (*papers, *texts)

    def _class_of(self, ink: str, style: Style) -> str:
        rule = f"fill:{ink}"
        rule += ";font-weight:bold" if style.bold else ""
        rule += ";font-style:italic" if style.italic else ""
        rule += ";opacity:.6" if style.dim else ""
        return self._styles.setdefault(rule, f"s{len(self._styles)}")


def _colours(style: Style) -> tuple[str, str]:
    """Ink and paper as CSS has them."""
    ink = style.color.get_truecolor().hex if style.color and not style.color.is_default else INK
    paper = (
        style.bgcolor.get_truecolor().hex
        if style.bgcolor and not style.bgcolor.is_default
        else PAPER
    )
    return (paper, ink) if style.reverse else (ink, paper)
