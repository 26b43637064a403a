"""The inspector and the scrubber under their keys, on a whole engine without a thread."""

from __future__ import annotations

import json

import pytest
from textual.widgets import Static

from engine.request import Request, SamplingParams
from engine.settings import BatcherName
from tests.tui.goldens import check_screen, screen_text
from tests.tui.stage import SIZES, mixed_traffic, staged
from tuiapp.screens.inspect import InspectScreen
from tuiapp.screens.live import LiveScreen

sizes = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
WHOLE = {"enable_chunked_prefill": False, "max_num_batched_tokens": 4096}


def spike_traffic(backend):
    """Three streams, and a long prompt that comes amid them."""
    for number in range(3):
        backend.submit(Request(f"s{number}", (5,) * 20, SamplingParams(max_tokens=80)))
    backend.run(30)
    backend.submit(Request("bomb", (7,) * 3000, SamplingParams(max_tokens=4)))


def part(stage, name):
    """Its words, wherever its lines end."""
    return " ".join(str(stage.app.screen.query_one(f"#{name}", Static).render()).split())


def name(state, size):
    return f"{state}-{size[0]}x{size[1]}"


@sizes
async def test_a_spike_is_explained(size):
    async with staged(size, spike_traffic, **WHOLE) as stage:
        await stage.run(20)
        await stage.press("down", "enter")
        check_screen(stage.app, name("inspect-spike", size))
        assert "it carried 3000 prefill tokens of bomb." in part(stage, "tracks")


@sizes
async def test_a_waiting_request_says_what_it_waits_for(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(60)
        await stage.press(*["down"] * 10, "enter")
        check_screen(stage.app, name("inspect-waiting", size))
        told = "waits 1 is ahead of it; for r13 no slot is free (8 of 8 are taken; "
        assert told in part(stage, "tracks")


def crowd(backend):
    for number in range(200):
        backend.submit(Request(f"r{number}", (5,) * 20, SamplingParams(max_tokens=80)))


async def test_the_last_of_a_long_queue_says_what_it_waits_for():
    async with staged((120, 36), crowd) as stage:
        await stage.run(20)
        stage.app.screen._inspect("r199")
        await stage.settle()
        told = "waits 191 are ahead of it; for r8 no slot is free (8 of 8 are taken; "
        assert told in part(stage, "tracks")


@sizes
async def test_a_held_request_waits_for_its_batch(size):
    async with staged(size, mixed_traffic, batcher=BatcherName.STATIC) as stage:
        await stage.run(60)
        await stage.press("down", "enter")
        check_screen(stage.app, name("inspect-held", size))
        assert "no token delivered so far after" in part(stage, "waterfall")


@sizes
async def test_an_evicted_request_computes_again(size):
    async with staged(size, mixed_traffic, num_kv_blocks=40) as stage:
        await stage.run(150)
        evicted = stage.app.screen.snapshot.last_preempted
        stage.app.screen._inspect(evicted)
        await stage.settle()
        check_screen(stage.app, name("inspect-evicted", size))
        assert "It was evicted before pass" in part(stage, "tracks")


@sizes
async def test_an_earlier_pass_is_shown(size):
    async with staged(size, mixed_traffic) as stage:
        await stage.run(196)
        await stage.press(*["shift+left"] * 7, "left", "left", "right")
        check_screen(stage.app, name("live-rewound", size))
        assert "◀ pass 125 of 196" in screen_text(stage.app)


def below_the_title(stage):
    """All parts but the title; without the hint at a key, which a past pass does not have."""
    return screen_text(stage.app).replace(" Press 3 to refill them.", "").split("\n")[1:]


@pytest.mark.parametrize("batcher", list(BatcherName), ids=lambda batcher: batcher.value)
async def test_every_part_shows_the_earlier_pass_as_it_was(batcher):
    async with staged(traffic=mixed_traffic, batcher=batcher) as stage:
        seen = {}
        for number in range(20, 120, 20):
            await stage.run(20)
            seen[number] = below_the_title(stage)
        await stage.press("home")
        stage.app.clear_notifications()
        for number in (100, 40, 60, 20, 80):
            stage.app.rewind.go(number)
            await stage.settle()
            assert below_the_title(stage) == seen[number], number


async def test_the_arrows_scrub_and_f_follows_again():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(100)
        live = stage.app.screen
        for keys, shown in (
            (["left"], 99),
            (["shift+left"], 89),
            (["right"], 90),
            (["shift+right"], 100),
            (["home"], 1),
            (["end"], 100),
        ):
            await stage.press(*keys)
            assert live.snapshot.num_passes == shown, keys
        await stage.press("left")
        await stage.run(30)
        assert (live.snapshot.num_passes, live.newest.num_passes) == (99, 130)
        await stage.press("f")
        assert live.snapshot.num_passes == 130


async def test_the_limit_is_said_when_it_is_reached():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.press("left")
        assert "No pass has run yet" in screen_text(stage.app)
        stage.app.clear_notifications()
        await stage.run(5)
        await stage.press("shift+left")
        assert "Pass 1 is the first" in screen_text(stage.app)
        stage.app.clear_notifications()
        await stage.press("end", "right")
        assert "Pass 5 is the newest" in screen_text(stage.app)


async def test_a_step_shows_the_newest_pass_again():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(10)
        await stage.press("left", "n")
        assert stage.app.screen.snapshot.num_passes == 11


async def test_the_inspector_shows_the_request_as_it_was():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(100)
        stage.app.rewind.go(40)
        await stage.settle()
        await stage.press("down", "down", "enter")
        shown = part(stage, "facts")
        await stage.run(50)
        assert part(stage, "facts") == shown
        assert "◀ pass 40" in screen_text(stage.app)


async def test_g_goes_back_to_the_pass_of_the_worst_gap():
    async with staged(traffic=spike_traffic, **WHOLE) as stage:
        await stage.run(20)
        await stage.press("down", "enter", "g")
        assert isinstance(stage.app.screen, LiveScreen)
        assert stage.app.screen.snapshot.num_passes == 31
        assert "◀ pass 31 of 50" in screen_text(stage.app)


def two_spikes(backend):
    """A stream, and two long prompts that come amid it, the longer one first."""
    backend.submit(Request("s0", (5,) * 20, SamplingParams(max_tokens=80)))
    backend.run(30)
    backend.submit(Request("bomb", (7,) * 3000, SamplingParams(max_tokens=4)))
    backend.run(10)
    backend.submit(Request("mine", (7,) * 2000, SamplingParams(max_tokens=4)))


async def test_brackets_choose_a_gap_and_g_goes_to_its_pass():
    async with staged(traffic=two_spikes, **WHOLE) as stage:
        await stage.run(20)
        await stage.press("down", "enter")
        first = part(stage, "tracks")
        assert "gap 1 of 5 Pass 31 took 72 ms " in first
        told = "pass 31 prefill 3000 of bomb (>99% of 3001 tokens) · decode 1 of s0"
        assert part(stage, "company") == told
        await stage.press("]")
        second = part(stage, "tracks")
        assert "gap 2 of 5 52 ms: Pass 41 took 52 ms " in second
        assert "it carried 2000 prefill tokens of mine." in second
        await stage.press("[", "[")
        assert "gap 5 of 5 " in part(stage, "tracks")
        assert "It does not stand out: 12 ms, the usual 12 ms." in part(stage, "tracks")
        await stage.press("]", "]", "g")
        assert "◀ pass 41 of 60" in screen_text(stage.app)


async def test_a_click_on_the_gap_chooses_the_next_one():
    async with staged(traffic=two_spikes, **WHOLE) as stage:
        await stage.run(20)
        await stage.press("down", "enter")
        row = next(
            i for i, line in enumerate(screen_text(stage.app).splitlines()) if "gap 1" in line
        )
        column = screen_text(stage.app).splitlines()[row].index("gap 1")
        await stage.pilot.click(offset=(column + 1, row))
        await stage.settle()
        assert "gap 2 of 5" in part(stage, "tracks")


def many_streams(backend):
    """More streams than names have room in a small terminal, and a long prompt amid them."""
    for number in range(60):
        request = Request(f"stream-{number}", (5,) * 20, SamplingParams(max_tokens=80))
        backend.submit(request)
    backend.run(30)
    backend.submit(Request("bomb", (7,) * 1000, SamplingParams(max_tokens=4)))


async def test_everybody_in_the_pass_of_a_gap_is_named_however_many():
    async with staged(
        (80, 24), many_streams, max_num_seqs=64, num_kv_blocks=1024, **WHOLE
    ) as stage:
        await stage.run(10)
        await stage.press("down", "enter")
        named = part(stage, "company")
        assert all(f"stream-{number}" in named for number in range(60))
        texts = stage.app.screen.query_one("#texts")
        assert texts.max_scroll_y > 0
        assert "bomb" in screen_text(stage.app)
        await stage.press("pagedown")
        await stage.pilot.pause()
        assert texts.scroll_y > 0


async def test_where_there_is_no_gap_brackets_and_g_say_so():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(1)
        await stage.press("down", "enter", "]")
        assert "There is no gap between two tokens" in screen_text(stage.app)
        await stage.press("g")
        assert isinstance(stage.app.screen, InspectScreen)


async def test_arrows_go_to_the_neighbours_and_stop_at_the_ends():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(3)
        await stage.press("down", "enter")
        titles = []
        for key in ("left", "right", "right", "left"):
            await stage.press(key)
            titles.append(str(stage.app.screen.query_one("#dialog").border_title).split()[0])
        assert titles == ["r0", "r1", "r2", "r1"]


async def test_c_copies_the_answer():
    async with staged(traffic=spike_traffic, **WHOLE) as stage:
        await stage.press("down", "enter", "c")
        answer = stage.app.clipboard
        assert len(answer.split()) == 30
        assert "30 tokens copied" in screen_text(stage.app)


async def test_e_exports_all_of_it_as_json(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with staged() as stage:
        stage.backend.submit(Request("a/b [x]", (5,) * 20, SamplingParams(max_tokens=3)))
        await stage.run(3)
        stage.app.screen._inspect("a/b [x]")
        await stage.settle()
        await stage.press("e")
    [path] = tmp_path.iterdir()
    assert path.name == "batchscope-a_b__x_.json"
    saved = json.loads(path.read_text("utf-8"))
    assert saved["id"] == "a/b [x]"
    assert saved["num_output_tokens"] == len(saved["output"].split()) == 3
    assert sum(each["seconds"] for each in saved["ttft_parts"]) == pytest.approx(saved["ttft"])
    assert saved["spans"][0]["stage"] == "prefill"


async def test_the_inspector_closes_and_aborts():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(10)
        await stage.press("down", "enter", "x")
        await stage.run(1)
        assert "ended (abort)" in part(stage, "facts")
        await stage.press("escape")
        assert not isinstance(stage.app.screen, InspectScreen)


async def test_the_story_says_why_a_selected_request_waits():
    async with staged(traffic=mixed_traffic) as stage:
        await stage.run(60)
        await stage.press(*["down"] * 9)
        head = stage.app.screen.snapshot.waiting[0].id
        assert f"▸ {head} waits: no slot is free (8 of 8 are taken; " in screen_text(stage.app)
