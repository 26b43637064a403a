from pathlib import Path
from typing import get_args

import pytest

from engine.config import ConfigError
from engine.generate.arrivals import AnyArrivals
from engine.generate.lengths import AnyLengths
from engine.prompts import PromptMaker
from engine.settings import BatcherName, Delivery, EngineSettings
from engine.tokenizer import ToyTokenizer
from tuiapp.presets import find_preset, list_presets
from tuiapp.presets.files import shipped_folder, user_folder
from tuiapp.presets.lines import find_line
from tuiapp.presets.parse import parse

TEXT = """\
schema = 1

[preset]
id = "small"
title = "A small story"
summary = "Two classes and one more."

[engine]
max_num_seqs = 4

[[compare]]
name = "slow"
batcher = "static"
max_batch_size = 2

[[compare]]
name = "fast"

[[class]]
name = "chat"
count = 3
arrival = { kind = "constant", rate = 2.0 }
prompt = { kind = "fixed", value = 16 }
output = { kind = "fixed", value = 4 }

[[request]]
label = "long"
at_s = 0.7
prompt_tokens = 64
output_tokens = 9

[[claim]]
text = "Fast is faster."
metric = "e2e_p50_ms"
class = "chat"
left = "fast"
op = "<="
right = "slow"
"""
SMALL = Path("small.toml")


def problem(old: str, new: str) -> str:
    assert old in TEXT
    with pytest.raises(ConfigError) as caught:
        parse(TEXT.replace(old, new, 1), SMALL)
    return str(caught.value)


def shipped():
    return list_presets((shipped_folder(),)).presets


def test_a_preset_knows_its_story_and_its_requests():
    preset = parse(TEXT, SMALL)
    assert (preset.name, preset.about.title) == ("small", "A small story")
    assert preset.labels == ("chat", "long")
    assert [
        (each.id, each.arrival, each.num_prompt_tokens, each.num_output_tokens)
        for each in preset.drafts
    ] == [
        ("chat-0", 0.0, 16, 4),
        ("chat-1", 0.5, 16, 4),
        ("long", 0.7, 64, 9),
        ("chat-2", 1.0, 16, 4),
    ]


def test_settings_are_the_base_changed_by_the_preset_and_then_by_the_variant():
    preset = parse(TEXT, SMALL)
    base = EngineSettings(block_size=32, deliver=Delivery.BATCH)
    assert preset.settings(base=base) == EngineSettings(
        block_size=32, deliver=Delivery.BATCH, max_num_seqs=4
    )
    assert preset.settings("slow") == EngineSettings(
        batcher=BatcherName.STATIC, max_num_seqs=4, max_batch_size=2
    )


def test_requests_have_the_lengths_of_their_drafts_and_reach_them():
    requests = parse(TEXT, SMALL).requests(PromptMaker(ToyTokenizer()))
    assert [
        (r.id, r.label, len(r.prompt_token_ids), r.sampling.max_tokens, r.sampling.ignore_eos)
        for r in requests
    ] == [
        ("chat-0", "chat", 16, 4, True),
        ("chat-1", "chat", 16, 4, True),
        ("long", "long", 64, 9, True),
        ("chat-2", "chat", 16, 4, True),
    ]


def test_another_seed_gives_other_prompts_of_the_same_lengths():
    preset, prompts = parse(TEXT, SMALL), PromptMaker(ToyTokenizer())
    one, two = preset.requests(prompts, seed=1), preset.requests(prompts, seed=2)
    assert one == preset.requests(prompts, seed=1)
    assert [r.prompt_token_ids for r in one] != [r.prompt_token_ids for r in two]
    assert [len(r.prompt_token_ids) for r in one] == [len(r.prompt_token_ids) for r in two]


def test_a_workload_is_cut_and_stretched():
    about = 'summary = "Two classes and one more."'
    cut = parse(TEXT.replace(about, f"{about}\nmax_seconds = 0.7\nmax_requests = 2"), SMALL)
    assert [draft.id for draft in cut.drafts] == ["chat-0", "chat-1"]
    slow = parse(TEXT.replace(about, f"{about}\npace = 2.0\nmax_seconds = 0.7"), SMALL)
    assert [draft.arrival for draft in slow.drafts] == [0.0, 1.0, 1.4]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("schema = 1", "schema = 2", "small.toml:1: schema: must be 1, got 2"),
        ("schema = 1\n", "", "small.toml: 'schema' is missing"),
        ("schema = 1", "schema = ", "small.toml: this is no TOML: Invalid value (at line 1, col"),
        (
            "[engine]",
            "[engin]",
            "small.toml:8: engin: unknown key; did you mean 'engine'?",
        ),
        (
            "max_num_seqs = 4",
            "max_num_seq = 4",
            "small.toml:9: engine.max_num_seq: unknown key; did you mean 'max_num_seqs'?",
        ),
        (
            "max_num_seqs = 4",
            "max_num_seqs = 0",
            "small.toml:9: engine.max_num_seqs: must be at least 1, got 0",
        ),
        (
            'batcher = "static"',
            'batcher = "statik"',
            "small.toml:13: compare[0].batcher: 'statik' is unknown; did you mean 'static'?",
        ),
        ('name = "fast"', "", "small.toml:16: compare[1]: 'name' is missing"),
        ('name = "fast"', 'name = "slow"', "small.toml:17: compare[1].name: 'slow' is there twice"),
        (
            'kind = "constant"',
            'kind = "constent"',
            "small.toml:22: class[0].arrival.kind: 'constent' is unknown; did you mean 'constant'?",
        ),
        (
            "rate = 2.0",
            "rate = -2.0",
            "small.toml:22: class[0].arrival.rate: must be above 0, got -2.0",
        ),
        (
            "count = 3",
            "prefx = { groups = 2 }",
            "small.toml:21: class[0].prefx: unknown key; did you mean 'prefix'?",
        ),
        (
            'count = 3\narrival = { kind = "constant", rate = 2.0 }',
            'until_s = 3\narrival = { kind = "at_once" }',
            "small.toml:19: class[0]: count is needed with arrivals of kind at_once",
        ),
        ('label = "long"', 'label = "chat-1"', "small.toml: 2 requests would be called 'chat-1'"),
        ("op = ", "opp = ", "small.toml:37: claim[0].opp: unknown key; did you mean 'op'?"),
        (
            'left = "fast"',
            'left = "fats"',
            "small.toml:36: claim[0].left: 'fats' is unknown; did you mean 'fast'?",
        ),
        (
            'class = "chat"',
            'class = "chatt"',
            "small.toml:35: claim[0].class: 'chatt' is unknown; did you mean 'chat'?",
        ),
        (
            'metric = "e2e_p50_ms"',
            'metric = "e2e_p50"',
            "small.toml:34: claim[0].metric: 'e2e_p50' is unknown; did you mean 'e2e_p50_ms'?",
        ),
        (
            'id = "small"',
            'id = "tiny"',
            "small.toml:4: preset.id: must be the name of the file, 'small', got 'tiny'",
        ),
    ],
)
def test_a_mistake_is_refused_with_line_key_and_remedy(old, new, message):
    assert problem(old, new).startswith(message)


def test_an_unknown_variant_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match=r"small has no variant called 'slov'; did you mean 'sl"):
        parse(TEXT, SMALL).settings("slov")


def test_an_unknown_preset_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match="no preset is called 'stragler'; did you mean 'stragg"):
        find_preset("stragler")


def test_a_file_serves_as_a_preset_too(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(TEXT)
    assert find_preset(str(path)).path == path
    with pytest.raises(
        ConfigError, match=r"gone\.toml: there is no such file; your own presets lie in"
    ):
        find_preset(str(tmp_path / "gone.toml"))


def test_a_file_here_goes_before_one_of_its_name_in_the_folders(tmp_path, monkeypatch):
    folder, here = tmp_path / "presets", tmp_path / "here"
    for place, title in ((folder, "There"), (here, "Here")):
        place.mkdir()
        (place / "small.toml").write_text(TEXT.replace("A small story", title))
    monkeypatch.chdir(here)
    assert find_preset("small.toml", (folder,)).about.title == "Here"
    assert find_preset("small", (folder,)).about.title == "There"
    monkeypatch.chdir(tmp_path)
    assert find_preset("small.toml", (folder,)).about.title == "There"
    with pytest.raises(ConfigError, match=r"other/small\.toml: there is no such file"):
        find_preset("other/small.toml", (folder,))


def test_the_name_of_a_file_here_is_told_to_need_its_ending(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(TEXT)
    with pytest.raises(
        ConfigError, match=r"no preset is called 'mine'; the file here is mine\.toml"
    ):
        find_preset("mine")


def test_a_broken_preset_of_the_user_hides_no_other(tmp_path):
    (tmp_path / "small.toml").write_text(TEXT)
    (tmp_path / "bad.toml").write_bytes(b"\xff")
    shelf = list_presets((shipped_folder(), tmp_path))
    assert "straggler" in [preset.name for preset in shelf.presets]
    assert "small" in [preset.name for preset in shelf.presets]
    assert [str(error) for error in shelf.errors] == [
        f"{tmp_path}/bad.toml: cannot be read: it is not UTF-8"
    ]


def test_a_preset_of_the_user_replaces_the_shipped_one_of_its_name(tmp_path):
    (tmp_path / "straggler.toml").write_text(TEXT.replace('"small"', '"straggler"'))
    assert find_preset("straggler", (shipped_folder(), tmp_path)).about.title == "A small story"


def test_presets_of_the_user_lie_in_their_data_folder():
    assert user_folder().parts[-2:] == ("batchscope", "presets")


def test_every_shipped_preset_reads_and_the_first_story_comes_first():
    shelf = list_presets((shipped_folder(),))
    assert shelf.errors == ()
    assert shelf.presets[0].name == "straggler"


@pytest.mark.parametrize("preset", shipped(), ids=lambda preset: preset.name)
def test_a_shipped_preset_says_what_to_watch_and_how_it_delivers(preset):
    assert preset.about.summary.strip()
    assert preset.about.watch
    assert preset.about.source
    assert preset.claims
    variants = [variant.name for variant in preset.variants]
    assert all(preset.settings(name).deliver is not None for name in variants)


@pytest.mark.parametrize("preset", shipped(), ids=lambda preset: preset.name)
def test_every_variant_of_a_shipped_preset_gets_the_same_requests(preset):
    prompts = PromptMaker(ToyTokenizer())
    requests = preset.requests(prompts)
    assert requests == preset.requests(prompts)
    assert len({request.id for request in requests}) == len(requests) == len(preset.drafts)
    known = [draft.arrival for draft in preset.drafts if not draft.follows]
    assert known == sorted(known)


def test_a_key_is_found_in_the_right_table_of_an_array():
    assert find_line(TEXT, ("compare", 1, "name")) == 17
    assert find_line(TEXT, ("compare", 1)) == 16
    assert find_line(TEXT, ("class", 0, "arrival", "rate")) == 22
    assert find_line(TEXT, ("nothing",)) is None


def test_the_example_of_the_readme_reads():
    text = (shipped_folder() / "README.md").read_text("utf-8")
    example = text.split("```toml\n")[1].split("```")[0]
    assert parse(example, Path("my-story.toml")).labels == ("chat", "people", "recorded", "long")


@pytest.mark.parametrize("kind", [each.kind for each in get_args(AnyArrivals | AnyLengths)])
def test_the_readme_names_every_kind_of_arrivals_and_lengths(kind):
    assert f"`{kind}`" in (shipped_folder() / "README.md").read_text("utf-8")
