from pathlib import Path

import pytest
from typer.testing import CliRunner

from engine.actions import Cancel, Change, Note, Pick
from engine.config import ConfigError
from tuiapp.cli.main import app
from tuiapp.presets import read_preset
from tuiapp.presets.files import user_folder

EDGE = Path(__file__).parent / "traces" / "edge"


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_an_import_says_what_became_of_every_row_and_writes_a_preset(tmp_path):
    path = tmp_path / "mine.toml"
    result = call("import", EDGE / "burstgpt1.csv", "-o", path)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines() == [
        f"{EDGE / 'burstgpt1.csv'}: a trace like burstgpt",
        "4 rows read = 2 kept + 2 dropped",
        "dropped: 1 without output tokens",
        "dropped: 1 without prompt tokens",
        f"{path}: plays 2 of them; its [[trace]] says which",
    ]
    assert f"  batchscope --preset {path}" in result.stderr.splitlines()
    preset = read_preset(path)
    assert [(d.arrival, d.num_prompt_tokens) for d in preset.drafts] == [(0.0, 40), (2.0, 30)]
    assert "# dropped: 1 without output tokens" in path.read_text()


@pytest.mark.parametrize("trace", sorted(EDGE.iterdir()), ids=lambda path: path.stem)
def test_what_is_imported_can_be_run(trace, tmp_path):
    path = tmp_path / "mine.toml"
    assert call("import", trace, "-o", path).exit_code == 0
    drafts = read_preset(path).drafts
    assert drafts
    assert min(draft.arrival for draft in drafts) == pytest.approx(0.0, abs=5.0)


def test_an_imported_preset_plays_without_its_file_too(tmp_path):
    trace = tmp_path / "few.csv"
    trace.write_bytes((EDGE / "vidur.csv").read_bytes())
    path = tmp_path / "mine.toml"
    call("import", trace, "-o", path)
    trace.unlink()
    result = call("presets", "check", path)
    assert result.exit_code == 0
    assert "few.csv is not there; requests drawn from the fallback" in result.stdout


def test_without_an_output_an_import_only_looks():
    result = call("import", EDGE / "vidur.csv", "--format", "vidur")
    assert result.exit_code == 0
    assert "3 rows read = 2 kept + 1 dropped" in result.stdout


def test_no_file_is_overwritten_and_none_written_of_nothing(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("precious")
    result = call("import", EDGE / "vidur.csv", "-o", path)
    assert (result.exit_code, path.read_text()) == (2, "precious")
    assert "is there already; name another file" in result.stderr
    empty = tmp_path / "empty.csv"
    empty.write_text("arrived_at,num_prefill_tokens,num_decode_tokens\n0,0,5\n")
    result = call("import", empty, "-o", tmp_path / "other.toml")
    assert result.exit_code == 2
    assert "nothing of it can be played" in result.stderr


def test_a_new_preset_is_a_template_that_reads(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    result = call("presets", "new", "my-story")
    assert result.exit_code == 0, result.stderr
    path = user_folder() / "my-story.toml"
    assert result.stdout.strip() == str(path)
    assert result.stderr.splitlines() == [
        "what comes next:",
        "  batchscope presets check my-story",
        "  batchscope --preset my-story",
        "  batchscope compare my-story",
    ]
    assert read_preset(path).name == "my-story"
    again = call("presets", "new", "my-story")
    assert again.exit_code == 2
    assert "is there already" in again.stderr
    assert call("presets", "new", "../evil").exit_code == 2


def test_a_new_preset_elsewhere_is_called_by_its_file(tmp_path):
    path = tmp_path / "two words" / "my-story.toml"
    result = call("presets", "new", "my-story", "-o", path)
    assert result.exit_code == 0, result.stderr
    assert f"  batchscope presets check '{path}'" in result.stderr.splitlines()
    assert call("presets", "check", path).exit_code == 0


@pytest.mark.parametrize("name", ["my-story", "my-story.toml"])
@pytest.mark.parametrize(
    "command",
    [
        ["presets", "check"],
        ["presets", "show"],
        ["run", "--device", "sim"],
        ["compare", "--device", "sim"],
        ["shot", "--at", "3"],
    ],
    ids=" ".join,
)
def test_every_command_takes_a_new_preset_by_name_from_any_folder(
    command, name, tmp_path, monkeypatch
):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert call("presets", "new", "my-story").exit_code == 0
    result = call(*command, name)
    assert result.exit_code == 0, result.stderr
    assert result.stdout


def test_every_table_of_the_template_reads_when_it_is_used(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    call("presets", "new", "my-story")
    path = user_folder() / "my-story.toml"
    lines = path.read_text().splitlines()
    begin = lines.index(next(line for line in lines if line.startswith("# [[clients]]")))
    used = [line.removeprefix("# ") if at >= begin else line for at, line in enumerate(lines)]
    text = "\n".join(used).replace("AzureLLMInferenceTrace_conv.csv", str(EDGE / "azure2023.csv"))
    path.write_text(text)
    preset = read_preset(path)
    assert preset.labels == ("chat", "people", "azure", "long")
    kinds = [type(action).__name__ for action in preset.sheet.actions(1)]
    assert kinds == ["Change", "Note"]


PRESET = """\
schema = 1
[preset]
id = "acts"
title = "Acts"
summary = "Everything that happens at a moment."
pace = 2.0
max_seconds = 10
[engine]
model = "smollm2"
[[request]]
label = "a"
session = "s"
prompt_tokens = 8
output_tokens = 4
[[request]]
label = "b"
session = "s"
prompt_tokens = 8
output_tokens = 4
cancel_after_s = 1.5
[[phase]]
from_s = 1.0
to_s = 2.0
label = "rush"
[[action]]
at_s = 3.0
do = "cancel"
label = "a"
pick = "newest"
n = 2
[[action]]
at_s = 4.0
do = "set"
set = { max_num_seqs = 2 }
[[action]]
at_s = 5.0
do = "note"
text = "so far"
"""


def acts(tmp_path, old="", new=""):
    assert old in PRESET
    path = tmp_path / "acts.toml"
    path.write_text(PRESET.replace(old, new, 1))
    return read_preset(path)


def test_a_pace_stretches_everything_that_has_a_time(tmp_path):
    preset = acts(tmp_path)
    assert preset.sheet.actions(7) == [
        Cancel(6.0, "a", Pick.NEWEST, 2, 7),
        Change(8.0, {"max_num_seqs": 2}),
        Note(10.0, "so far"),
        Note(2.0, "rush"),
    ]
    assert preset.sheet.until() == 20.0
    assert preset.drafts[1].cancel_after_s == 3.0


def test_a_session_goes_on_after_the_answer(tmp_path):
    assert [(d.id, d.follows) for d in acts(tmp_path).drafts] == [("a", ""), ("b", "a")]


def test_a_preset_may_name_its_model_and_follow_the_device(tmp_path):
    assert acts(tmp_path).model == "smollm2"
    assert acts(tmp_path, "pace = 2.0", 'pace = "steps"').about.is_paced_in_steps


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('do = "set"\n', 'do = "sett"\n', "action[1].do: 'sett' is unknown; did you mean 'set'?"),
        ("max_num_seqs = 2", "max_num_seq = 2", "action[1].set.max_num_seq: unknown key; did you"),
        ("max_num_seqs = 2", "max_num_seqs = 0", "action[1].set.max_num_seqs: must be at least 1"),
        ('label = "a"\npick', 'label = "x"\npick', "action[0].label: 'x' is unknown; known: a, b"),
        ("n = 2", "n = 0", "action[0].n: must be above 0, got 0"),
        ('text = "so far"', "", "action[2]: text is needed by a note, and only there"),
        ("pace = 2.0", "pace = 0.0", "preset.pace: must be above 0, got 0.0"),
        ("pace = 2.0", 'pace = "slow"', "preset.pace: expected a number or 'steps', got 'slow'"),
        ("to_s = 2.0", "to_s = 0.5", "phase[0].to_s: must be above from_s, got 0.5"),
        ('model = "smollm2"', "model = 7", "engine.model: expected text, got 7"),
    ],
)
def test_a_mistake_is_refused_with_line_key_and_remedy(tmp_path, old, new, message):
    with pytest.raises(ConfigError) as caught:
        acts(tmp_path, old, new)
    assert message in str(caught.value)
