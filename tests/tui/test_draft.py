"""The lanes of a comparison while they are chosen."""

from __future__ import annotations

from dataclasses import replace

from engine.settings import BatcherName, EngineSettings
from tuiapp.knobs import read_systems
from tuiapp.lanes.draft import MOST_DRAFTS, Drafts

STATIC = EngineSettings(batcher=BatcherName.STATIC)
CONTINUOUS = EngineSettings()


def two():
    return Drafts({"static": STATIC, "continuous": CONTINUOUS}, ["static", "continuous"])


def test_a_lane_is_called_what_it_began_as_and_what_was_changed():
    drafts = two()
    first, second = drafts.items
    second.configure(replace(CONTINUOUS, max_num_seqs=4))
    assert drafts.names() == ["static", "continuous, max_num_seqs 4"]
    second.configure(replace(CONTINUOUS, max_num_seqs=4, block_size=32, aging=2.0))
    assert drafts.names()[1] == "continuous, max_num_seqs 4, 2 more"
    first.configure(replace(STATIC, batcher=BatcherName.DYNAMIC, max_batch_size=3))
    assert drafts.names()[0] == "dynamic, max_batch_size 3"


def test_a_lane_that_schedules_as_a_named_system_is_called_by_its_name():
    drafts = two()
    vllm = next(each for each in read_systems() if each.name == "vllm")
    drafts.items[0].act_as(vllm)
    assert drafts.names() == ["vllm", "continuous"]
    assert drafts.entries()["vllm"] == vllm.apply(STATIC)


def test_copies_of_one_name_are_numbered_and_shown_while_there_is_room():
    drafts = two()
    for _ in range(3):
        assert drafts.add(1) == ""
    assert drafts.names()[1:4] == ["continuous", "continuous (2)", "continuous (3)"]
    assert len(drafts.shown()) == 4
    assert drafts.problem() == ""
    drafts.add(0)
    drafts.toggle(1)
    assert drafts.problem() == "5 lanes are marked to be shown; choose 2 to 4 (space)"


def test_there_are_two_lanes_at_least_and_a_list_at_most():
    drafts = two()
    assert drafts.remove(0) == "A comparison needs two lanes"
    while len(drafts.items) < MOST_DRAFTS:
        assert drafts.add(0) == ""
    assert drafts.add(0) == "There is room for 9 lanes to choose from"
    assert drafts.remove(8) == ""
