"""The pictures of one request's life, drawn of lives made by hand."""

from __future__ import annotations

from engine.request import FinishReason
from tests.builders import ask, make_core
from tuiapp.explain import LifeReader, Stage
from tuiapp.widgets.life_bar import choose_cells, draw_life, milliseconds
from tuiapp.widgets.life_facts import draw_blocks, draw_facts, draw_gaps, shrink
from tuiapp.widgets.waterfall import draw_waterfall


def life_after(num_passes, num_prompt_tokens=10, max_tokens=3, cost=0.1):
    core = make_core(ask("a", num_prompt_tokens, max_tokens), cost=cost, max_num_seqs=4)
    for _ in range(num_passes):
        core.step()
    return LifeReader(core.log, "a").read(core.clock.now())


def test_a_bar_has_its_times_and_marks_below_and_above():
    assert draw_life(life_after(3), 30).plain.split("\n") == [
        "          first token     done",
        "▒▒▒▒▒▒▒▒▒▒────────────────────",
        "0   100 ms              300 ms",
    ]


def test_a_bar_of_ascii_alone():
    assert draw_life(life_after(3), 30, ascii_only=True).plain.split("\n")[1] == "#" * 10 + "=" * 20


def test_each_stage_has_a_cell_however_short_it_was():
    life = life_after(400, max_tokens=1000)
    cells = choose_cells(life, 20)
    assert cells == [Stage.PREFILL, *[Stage.DECODE] * 19]


def test_a_life_without_time_says_so():
    life = life_after(0)
    assert draw_life(life, 30).plain == "no time has gone by since it came"
    assert draw_waterfall(life, 60).plain == "no token delivered so far after 0.0 ms"


def test_a_waterfall_steps_down_to_the_first_token():
    core = make_core(ask("a", 4, 2), ask("b", 4, 2), cost=0.1, max_num_seqs=1)
    for _ in range(4):
        core.step()
    life = LifeReader(core.log, "b").read(core.clock.now())
    assert draw_waterfall(life, 71).plain.split("\n") == [
        "TTFT 300 ms, the sum of",
        "·· queued       200 ms ·············        2 passes went by",
        "▒▒ prefill      100 ms              ▒▒▒▒▒▒▒ 1 pass, 4 tokens",
        "then decode 100 ms",
    ]


def test_the_facts_are_those_of_the_log():
    told = draw_facts(life_after(2)).plain
    assert "output 2/3 tokens" in told
    assert "passes 1–2" in told
    assert "state decode" in told
    assert life_after(3).reason is FinishReason.LENGTH
    assert "state ended (length)" in draw_facts(life_after(4)).plain


def test_blocks_rise_with_the_context():
    life = life_after(10, num_prompt_tokens=14, max_tokens=20)
    assert draw_blocks(life, 57).plain == "KV blocks  ▄▄▄███████  now 2: 0–1"


def test_gaps_are_undefined_where_all_is_delivered_at_once():
    assert draw_gaps(life_after(1), 80).plain == "ITL        none so far"
    assert draw_gaps(life_after(2, max_tokens=1), 80).plain.endswith("all is delivered at once")
    assert draw_gaps(life_after(3), 80).plain.startswith("ITL        ██")


def test_many_values_shrink_to_the_largest_of_each_group():
    assert shrink([1, 5, 2, 2, 9, 0], 3) == [5, 2, 9]
    assert shrink([1, 2], 3) == [1, 2]


def test_times_have_three_digits_or_so():
    assert [milliseconds(value) for value in (None, 0.0012, 0.0123, 1.5, 12.3)] == [
        "—",
        "1.2 ms",
        "12 ms",
        "1500 ms",
        "12.3 s",
    ]
