"""The pictures of the README, as the app draws them today; a test compares or renews the files.

Those that stand still show moments of `pictures/gentle-mix.jsonl`: a recording of the shipped model
on the clock of the machine that made it, so the numbers in them were measured. The one that moves
is the demo `batching` on its virtual clock. `python tests/tui/take_pictures.py` makes the recording
anew.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from engine.assembly import ModelSpec, build_core
from engine.backends.still import StillBackend
from engine.clock import WallClock
from engine.events import Configured, Step, Work
from engine.generate.demo import DemoMix
from engine.log import EventLog
from engine.prompts import PromptMaker
from engine.recording import Recording, RecordingWriter
from engine.run import advance
from engine.settings import BatcherName, EngineSettings
from engine.workload import Feed
from tuiapp.demo.film import shoot_film
from tuiapp.demo.script import find_script
from tuiapp.demo.stage import stage_script
from tuiapp.demo.svg import to_svg
from tuiapp.session import Session
from tuiapp.shot.frame import Moment
from tuiapp.shot.shoot import Shot, shoot
from tuiapp.shot.sources import until

FOLDER = Path(__file__).parent / "pictures"
RECORDING = FOLDER / "gentle-mix.jsonl"
FILM, FILM_SIZE, FRAMES_PER_SECOND = FOLDER / "batching.svg", (100, 30), 3.0
WORKLOAD = "gentle mix"
RATE = 9.0  # requests a second
NUM_STATIC, NUM_CONTINUOUS, NUM_HELD = 240, 260, 4


@dataclass(frozen=True)
class Picture:
    """A file, and which moment of the recording it shows."""

    name: str
    num_passes: int

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.svg"


def choose(recording: Recording) -> tuple[Picture, Picture]:
    """Static batching with half of its slots held, then continuous batching at its busiest."""
    static = continuous = most = 0
    settings = recording.settings
    for event in recording.events():
        if isinstance(event, Configured):
            settings = event.settings
        if not isinstance(event, Step):
            continue
        num_held = sum(row.work is Work.HELD for row in event.rows)
        if settings.batcher is BatcherName.STATIC and num_held == NUM_HELD:
            static = event.index + 1
        if settings.batcher is BatcherName.CONTINUOUS and len(event.rows) >= most:
            continuous, most = event.index + 1, len(event.rows)
    return Picture("live-static", static), Picture("live-continuous", continuous)


async def take(picture: Picture) -> str:
    """The picture as SVG."""
    recording = Recording(RECORDING)
    backend = StillBackend(until(recording, Moment(picture.num_passes)))
    session = Session(backend, recording.settings)
    session.workload = WORKLOAD
    return (await shoot(Shot(Moment()), session)).text


async def take_film() -> str:
    """The film as SVG."""
    script = find_script(FILM.stem)
    session = stage_script(script, ModelSpec(device=script.device))
    return to_svg(await shoot_film(script, session, FILM_SIZE, FRAMES_PER_SECOND))


def record() -> None:
    """Run the gentle mix, static at first, and write down what happens."""
    settings, log = EngineSettings(batcher=BatcherName.STATIC), EventLog(capacity=None)
    core = build_core(ModelSpec(), settings, WallClock(), log)
    mix = DemoMix(PromptMaker(core.tokenizer), RATE, seed=1)
    feed = Feed(mix, core.clock.now())
    run_passes(core, feed, NUM_STATIC)
    core.configure(replace(core.settings, batcher=BatcherName.CONTINUOUS))
    run_passes(core, feed, NUM_CONTINUOUS)
    writer = RecordingWriter(RECORDING, {"title": "Gentle mix", "model": "tiny"})
    writer.write(log.since(0)[0])
    writer.close()


def run_passes(core, feed: Feed, count: int) -> None:
    while count:
        wake_at = advance(core, feed)
        if wake_at is None:
            count -= 1
        else:
            core.clock.sleep(wake_at - core.clock.now())


if __name__ == "__main__":
    record()
