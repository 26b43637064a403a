import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import tuiapp.app
import tuiapp.cli.main
import tuiapp.cli.screen
import tuiapp.running.runs
from engine.runners.parts import ModelSpec
from engine.settings import BatcherName
from tuiapp.cli.flags import complete_preset
from tuiapp.cli.main import app

PRESET = """\
schema = 1
[preset]
id = "mine"
title = "Mine [bold]and[/bold] [/red]"
summary = "A title that looks like markup."
[[compare]]
name = "[b]one[/b]"
[[request]]
label = "a[/b]"
prompt_tokens = 16
output_tokens = 4
[[request]]
label = "b"
prompt_tokens = 9000
output_tokens = 4
[[claim]]
text = "[link=x]It[/link] ends."
metric = "e2e_p50_ms"
left = "[b]one[/b]"
op = "<="
value = 10000
"""


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def run_json(*arguments):
    result = call("run", *arguments, "--device", "sim:linear", "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(PRESET)
    return path


def test_help_names_the_commands():
    result = call("--help")
    assert result.exit_code == 0
    assert all(command in result.stdout for command in ("run", "presets", "locate"))


@pytest.mark.parametrize("command", [[], ["run"], ["presets", "show"], ["runs"], ["shot"]])
def test_help_shows_no_type_of_python(command):
    shown = call(*command, "--help").stdout
    assert "--help" in shown
    assert "<" not in shown.replace("<=", "")


def test_a_file_that_is_no_preset_is_read_and_said_to_be_none(tmp_path):
    path = tmp_path / "arrivals.csv"
    path.write_text("TIMESTAMP,ContextTokens\n")
    result = call("run", path)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"batchscope: {path}: is no preset: this is no TOML: ")
    assert "`batchscope import` reads traces" in result.stderr


def test_without_arguments_and_without_a_terminal_it_prints_help_and_exits_2():
    result = call()
    assert result.exit_code == 2
    assert "Usage" in result.stdout
    assert result.stderr == (
        "batchscope: the screen needs a terminal, and output goes elsewhere; "
        "run, compare and replay work without one\n"
    )


@pytest.fixture
def opened(monkeypatch):
    """The options that the screen would have been opened with."""
    found = []
    monkeypatch.setattr(tuiapp.cli.screen, "is_terminal", lambda: True)
    monkeypatch.setattr(tuiapp.app, "open_playground", lambda options: found.append(options) or 0)
    return found


def test_in_a_terminal_it_opens_the_screen(opened):
    assert call("--device", "sim", "--slots", 3, "--batcher", "static", "--idle").exit_code == 0
    (options,) = opened
    assert options.spec == ModelSpec(device="sim")
    assert options.settings.batcher is BatcherName.STATIC
    assert (options.settings.max_num_seqs, options.idle, options.seed) == (3, True, 0)


def test_the_screen_does_not_open_with_a_bad_flag(opened):
    result = call("--batcher", "statc")
    assert result.exit_code == 2
    assert "--batcher: 'statc' is unknown; did you mean 'static'?" in result.stderr
    assert opened == []


def test_the_version_is_one_line():
    result = call("--version")
    assert result.exit_code == 0
    assert result.stdout.startswith("batchscope")
    assert result.stdout.count("\n") == 1


def test_the_shell_completes_the_names_of_presets():
    assert complete_preset("strag") == ["straggler"]


def test_help_loads_no_heavy_library():
    code = (
        "import sys, tuiapp.cli.main\n"
        "try: tuiapp.cli.main.app(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'transformers', 'textual', 'numpy', 'platformdirs'} & set(sys.modules)\n"
        "print('loaded:', *sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded:"


def test_a_simulated_run_loads_neither_torch_nor_textual():
    code = (
        "import sys, tuiapp.cli.main\n"
        "try: tuiapp.cli.main.app(['run', 'straggler', '--device', 'sim:linear', '--json'])\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'transformers', 'textual'} & set(sys.modules)\n"
        "print('loaded:', *sorted(heavy), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "loaded:"


def test_a_run_is_one_json_object_with_settings_metrics_and_verdicts():
    found = run_json("straggler")
    assert (found["preset"], found["seed"], found["simulated"]) == ("straggler", 1, True)
    assert [each["variant"] for each in found["runs"]] == ["static", "dynamic", "continuous"]
    static = found["runs"][0]
    assert static["settings"]["batcher"] == "static"
    assert static["info"]["is_simulated"]
    assert static["overall"]["num_completed"] == 16
    assert static["overall"]["itl_p50_ms"] is None
    assert static["classes"]["short"]["e2e_p50_ms"] == pytest.approx(6130, rel=0.001)
    assert [claim["verdict"] for claim in found["claims"]] == ["holds"] * 3


def test_a_variant_runs_alone_and_leaves_claims_about_others_open():
    found = run_json("straggler", "--variant", "static")
    assert [each["variant"] for each in found["runs"]] == ["static"]
    assert [claim["verdict"] for claim in found["claims"]] == [
        "holds",
        "not judged",
        "not judged",
    ]


def test_a_batcher_by_flag_runs_the_presets_own_engine_with_it():
    found = run_json("straggler", "--batcher", "static", "--slots", "4", "--deliver", "stream")
    (run,) = found["runs"]
    assert run["variant"] == ""
    assert run["settings"]["batcher"] == "static"
    assert run["settings"]["max_batch_size"] == 4
    assert run["overall"]["peak_running"] == 4


def test_another_seed_gives_other_requests():
    one, two = (run_json("heavy-load", "--variant", "continuous", "--seed", seed) for seed in "12")
    assert one["seed"] == 1
    assert one["runs"][0]["overall"]["e2e_p50_ms"] != two["runs"][0]["overall"]["e2e_p50_ms"]


def test_a_report_for_people_says_simulated_and_judges_the_claims():
    result = call("run", "straggler", "--device", "sim:linear")
    assert result.exit_code == 0
    assert "simulated, times come from a cost model" in result.stdout
    assert "Claims (simulated)" in result.stdout
    assert result.stdout.count("holds: ") == 3
    assert result.stderr == ""


def test_a_profile_is_a_table_after_the_report_and_part_of_the_json():
    command = ("run", "straggler", "--device", "sim", "--variant", "static", "--profile")
    text = call(*command).stdout
    assert "Time of a pass, static (simulated)" in text
    assert "whole pass" in text
    [run] = json.loads(call(*command, "--json").stdout)["runs"]
    assert run["profile"]["phases"]["wait"]["share"] > 0.9
    assert run["profile"]["trace"] is None


def test_text_that_looks_like_markup_is_printed_as_it_stands(mine):
    result = call("run", mine, "--device", "sim:linear")
    assert result.exit_code == 0
    for text in ("Mine [bold]and[/bold] [/red]", "[b]one[/b]", "a[/b]", "[link=x]It[/link] ends."):
        assert text in result.stdout


def test_what_was_rejected_is_said_on_stderr(mine):
    result = call("run", mine, "--device", "sim:linear")
    problem = "9000 prompt + 4 output tokens exceed the context of 8192"
    assert result.stderr == f"[b]one[/b]: {problem}\n"


def test_a_run_that_serves_nothing_exits_1(mine):
    result = call("run", mine, "--device", "sim:linear", "--num-kv-blocks", "1")
    assert result.exit_code == 1


def test_a_run_that_is_broken_off_before_it_began_exits_130(monkeypatch):
    def break_off(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(tuiapp.running.runs, "run_preset", break_off)
    result = call("run", "straggler", "--device", "sim:linear", "--json")
    assert result.exit_code == 130
    assert result.stdout == ""
    assert result.stderr == "interrupted: there is nothing to report yet\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "stragler"], "no preset is called 'stragler'; did you mean 'straggler'?"),
        (
            ["run", "straggler", "--variant", "statik"],
            "straggler has no variant called 'statik'; did you mean 'static'?",
        ),
        (
            ["run", "straggler", "--batcher", "dynamik"],
            "--batcher: 'dynamik' is unknown; did you mean 'dynamic'?",
        ),
        (
            ["run", "straggler", "--device", "sim:liner"],
            "unknown device 'sim:liner'; did you mean 'sim:linear'?",
        ),
        (["run", "straggler", "--device", "h200"], "device 'h200'; did you mean 'sim:h200'?"),
        (["run", "straggler", "--device", "gpu"], "unknown device 'gpu'; did you mean 'cpu'?"),
        (
            ["run", "straggler", "--device", "nonsense"],
            "'nonsense'; known: auto, cpu, cuda, mps; or, simulated: sim, sim:linear,",
        ),
        (["run", "gone.toml"], "gone.toml: there is no such file; your own presets lie in "),
        (["presets", "show", "fillwait"], "no preset is called 'fillwait'; did you mean 'fill-wa"),
        (["--slots", "3", "run", "straggler"], "--slots before 'run' is for the screen"),
        (["run"], "missing argument 'PRESET'"),
    ],
)
def test_bad_input_exits_2_with_what_would_be_right(arguments, message):
    result = call(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr


def test_presets_are_listed():
    result = call("presets")
    assert result.exit_code == 0
    assert "straggler" in result.stdout
    names = [each["name"] for each in json.loads(call("presets", "--json").stdout)["presets"]]
    assert {"straggler", "fill-wait", "prefill-spike"} < set(names)


def test_a_preset_is_shown_with_its_traffic_and_claims():
    result = call("presets", "show", "straggler")
    assert "short: 7 at 0 s, prompts 32, outputs 5 tokens" in result.stdout
    assert "Static: a short answer comes when the longest one" in result.stdout
    shown = json.loads(call("presets", "show", "straggler", "--json").stdout)
    assert shown["num_requests"] == 16
    assert shown["claims"][0]["right_class"] == "straggler"


def test_checking_names_the_line_that_is_wrong(mine):
    assert call("presets", "check", mine).exit_code == 0
    assert call("presets", "check", "straggler").exit_code == 0
    mine.write_text(PRESET.replace("output_tokens = 4", "output_token = 4", 1))
    result = call("presets", "check", mine)
    assert result.exit_code == 2
    problem = "request[0].output_token: unknown key; did you mean 'output_tokens'?"
    assert result.stderr == f"{mine}:11: {problem}\n"


def test_locate_says_where_things_lie():
    result = call("locate")
    assert result.exit_code == 0
    assert "shipped model" in result.stdout
    assert "your presets" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ["run", "straggler", "--pace", "-1"],
            "invalid value for '--pace': Input should be greater than or equal to 0;"
            " batchscope run --help says more",
        ),
        (
            ["presets", "show"],
            "missing argument 'PRESET'; batchscope presets show --help says more",
        ),
        (["shots"], "no such command 'shots'. Did you mean 'shot'? batchscope --help says more"),
        (
            ["run", "x", "--sloths", "3"],
            "no such option: --sloths",
        ),
        (["run", "straggler", "--set"], "option '--set' requires an argument;"),
        (["shot", "straggler", "--set", "aging=x"], "--set aging: expected a number, got 'x'"),
    ],
)
def test_a_command_line_that_cannot_be_read_gets_one_line(arguments, line):
    result = call(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"batchscope: {line}")
    assert result.stderr.count("\n") == 1


def test_options_and_commands_are_grouped_in_the_help():
    shown = call("--help").stdout
    for panel in ("Model and device", "Engine; what is left out stays", "Requests and runs"):
        assert panel in shown
    for panel in ("Run and measure, without a screen", "Presets and recordings", "Show to others"):
        assert panel in shown


def test_help_swallows_no_bracket():
    assert 'pip install -e ".[serve]"' in " ".join(call("serve", "--help").stdout.split())
