"""`Film`: what a script shows, picture by picture."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap

from rich.segment import Segment

from tuiapp.app import Playground
from tuiapp.demo.play import play
from tuiapp.demo.script import Scene, Script
from tuiapp.session import Session
from tuiapp.shot.cells import screen_lines

Line = tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """One picture.

    Attributes:
        time: seconds from the beginning, when it appears.
        lines: of the screen.
        caption: stands below them.
    """

    time: float
    lines: tuple[Line, ...]
    caption: str


@dataclass(frozen=True, slots=True)
class Film:
    """Pictures in their order.

    Attributes:
        width, height: of the screen, in columns and lines.
        seconds: how long it runs.
    """

    title: str
    width: int
    height: int
    seconds: float
    frames: tuple[Frame, ...]

    @property
    def num_below(self) -> int:
        """Lines below the screen: an empty one, and what the longest caption takes."""
        return 1 + max((len(self.caption_lines(each)) for each in self.frames), default=1)

    def caption_lines(self, frame: Frame) -> list[str]:
        """The caption in lines that fit below the screen, a column away from its edges."""
        return wrap(frame.caption, self.width - 2)


async def shoot_film(
    script: Script, session: Session, size: tuple[int, int], frames_per_second: float
) -> Film:
    """Play a script and keep what is seen; a picture that is like the one before is left out.

    Raises:
        ConfigError: a scene does not show what it says.
    """
    frames: list[Frame] = []

    def look(app: Playground, scene: Scene, time: float) -> None:
        lines = tuple(tuple(line) for line in screen_lines(app))
        before = frames[-1] if frames else None
        if before is None or (before.lines, before.caption) != (lines, scene.caption):
            frames.append(Frame(round(time, 3), lines, scene.caption))

    await play(script, session, size, frames_per_second, look)
    return Film(script.title, *size, script.seconds, tuple(frames))
