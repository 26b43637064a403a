"""The config file: what counts, what is wrong and in which line, and the command that shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from engine.config import ConfigError
from tuiapp.cli.main import app
from tuiapp.preferences import Preferences, config_path, parse, read_preferences
from tuiapp.preferred import choose_preset, read_own
from tuiapp.screens.live_keys import KEYS

FILE = Path("config.toml")
ACTIONS = {"burst": "b", "inject": "i", "faster": "plus,equals_sign"}


@pytest.fixture(autouse=True)
def config(tmp_path, monkeypatch):
    """The config file of a home of its own, which is not there yet."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = config_path()
    assert path == tmp_path / "batchscope" / "config.toml"
    path.parent.mkdir()
    return path


def problems_of(text):
    return [str(each) for each in parse(text, FILE, ACTIONS).problems]


def call(*arguments):
    return CliRunner().invoke(app, arguments)


def test_a_file_that_is_not_there_says_nothing(config):
    assert read_preferences(config, ACTIONS).preferences == Preferences()


def test_every_key_counts():
    text = 'theme = "light"\nascii = true\nfps = 20\npanes = 4\nmodel = "smollm2"\n'
    text += 'device = "cpu"\npreset = "straggler"\n[keys]\ninject = "I, f5"\nfaster = "?"\n'
    found = parse(text, FILE, ACTIONS)
    keys = {"inject": "I,f5", "faster": "question_mark"}
    assert found.preferences == Preferences(
        "light", True, 20, 4, "smollm2", "cpu", "straggler", keys
    )
    assert found.problems == ()


def test_a_device_that_is_nowhere_is_told_with_its_line():
    found = parse('theme = "light"\ndevice = "sim:zz"\n', FILE, ACTIONS)
    assert found.preferences == Preferences(theme="light")
    (told,) = found.problems
    assert str(told).startswith("config.toml:2: device: unknown device 'sim:zz'; did you mean ")


def test_one_mistake_costs_one_key_and_is_told_with_its_line():
    found = parse('fps = 99\ntheme = "light"\nthem = "dark"\n', FILE, ACTIONS)
    assert found.preferences == Preferences(theme="light")
    assert [str(each) for each in found.problems] == [
        "config.toml:1: fps: must be from 1 to 30, got 99",
        "config.toml:3: them: unknown key; did you mean 'theme'?",
    ]


def test_a_theme_that_is_none_names_the_nearest():
    assert problems_of('theme = "ligth"') == [
        "config.toml:1: theme: 'ligth' is unknown; did you mean 'light'?"
    ]


def test_no_toml_is_told_with_its_line():
    assert "at line 2" in problems_of("fps = 10\nascii = yes\n")[0]


def test_keys_that_cannot_be_are_told():
    text = '[keys]\ninjekt = "i"\nburst = "pgup"\ninject = "b"\n'
    assert problems_of(text) == [
        "config.toml:2: keys.injekt: there is no such action; did you mean 'inject'?",
        "config.toml:3: keys.burst: 'pgup' is no key; a sign such as 'b', or of these: "
        "did you mean 'pageup'?",
        "config.toml:4: keys.inject: 'b' is the key of burst already; give that another one",
    ]


def test_two_actions_may_change_keys():
    found = parse('[keys]\nburst = "i"\ninject = "b"\n', FILE, ACTIONS)
    assert found.preferences.keys == {"burst": "i", "inject": "b"}


def test_flags_win_over_the_file(config):
    config.write_text('theme = "light"\n')
    assert read_own(theme=None, ascii_only=False).preferences == Preferences(theme="light")
    flags = read_own(theme="high-contrast", ascii_only=True).preferences
    assert flags == Preferences(theme="high-contrast", ascii=True)
    with pytest.raises(ConfigError, match="--theme: 'blue' is unknown"):
        read_own(theme="blue", ascii_only=False)


def test_a_preset_of_the_file_that_is_not_there_is_a_problem_and_no_end(config):
    config.write_text('preset = "stragler"\n')
    preset, own = choose_preset(read_own(theme=None, ascii_only=False), None, is_idle=False)
    assert preset is None
    assert "did you mean 'straggler'?" in str(own.problems[0])
    done = call("config")
    assert done.exit_code == 2
    assert "preset: no preset is called 'stragler'" in done.stderr


def test_the_command_writes_a_file_in_which_every_line_may_count(config):
    assert call("config", "--init").stdout == f"{config}\n"
    assert call("config", "--init").exit_code == 2
    text = config.read_text().replace("# The", "").splitlines()
    lines = [line.removeprefix("# ") for line in text if " = " in line or line == "[keys]"]
    found = parse("\n".join(lines), config, KEYS)
    assert found.problems == ()
    assert found.preferences.keys == KEYS


def test_the_command_shows_what_is_in_force_and_what_is_wrong(config):
    config.write_text('fps = 15\nascii = 1\n[keys]\nburst = "B"\n')
    done = call("config")
    assert done.exit_code == 2
    assert done.stdout.startswith(f"# {config}\n")
    assert "\nfps = 15\n" in done.stdout
    assert '\nburst = "B"\n' in done.stdout
    assert '\ninject = "i"\n' in done.stdout
    assert f"{config}:2: ascii: expected true or false, got 1" in done.stderr


def test_locate_says_where_the_file_is(config):
    assert f"your config    {config}" in call("locate").stdout
