import pytest

from engine.config import ConfigError
from engine.runners.parts import ModelSpec
from engine.settings import BatcherName, Delivery, EngineSettings, SchedulingPolicy
from tuiapp.options import read_overrides, screen_options
from tuiapp.overrides import Overrides
from tuiapp.preferences import Found, Preferences

OWN = Found(Preferences(ascii=True))


def test_flags_that_were_not_given_change_nothing():
    assert read_overrides() == Overrides({}, {})
    assert read_overrides().apply(EngineSettings()) == EngineSettings()


def test_flags_become_settings_and_slots_count_for_every_batcher():
    overrides = read_overrides(4, 128, 99, "static", "stream")
    assert overrides.apply(EngineSettings()) == EngineSettings(
        batcher=BatcherName.STATIC,
        max_num_seqs=4,
        max_batch_size=4,
        long_prefill_token_threshold=128,
        num_kv_blocks=99,
        deliver=Delivery.STREAM,
    )


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"batcher": "statc"}, "--batcher: 'statc' is unknown; did you mean 'static'?"),
        ({"deliver": "x"}, "--deliver: 'x' is unknown; known: batch, stream"),
        ({"slots": 0}, "--slots: must be at least 1, got 0"),
        ({"chunk": -1}, "--chunk: must be at least 0 (0 sets no limit), got -1"),
        (
            {"slots": 600},
            "--slots: max_num_batched_tokens must be at least max_num_seqs (600), got 512: "
            "decodes would starve",
        ),
        ({"sets": ["max_num_seqs=0"]}, "--set max_num_seqs: must be at least 1, got 0"),
        ({"sets": ["max_batch_size=0"]}, "--set max_batch_size: must be at least 1, got 0"),
        ({"sets": ["num_kv_blocks=-1"]}, "--set num_kv_blocks: must be at least 0, got -1"),
        (
            {"sets": ["long_prefill_token_threshold=-1"]},
            "--set long_prefill_token_threshold: must be at least 0 (0 sets no limit), got -1",
        ),
        (
            {"sets": ["batcher=x"]},
            "--set batcher: 'x' is unknown; known: static, dynamic, continuous",
        ),
        ({"sets": ["deliver=x"]}, "--set deliver: 'x' is unknown; known: batch, stream"),
        (
            {"sets": ["async_scheduling=x"]},
            "--set async_scheduling: 'x' is unknown; known: auto, on, off",
        ),
        ({"sets": ["watermark=2"]}, "--set watermark: must be at most 0.5, got 2.0"),
        (
            {"slots": 6, "sets": ["max_num_batched_tokens=2"]},
            "--set max_num_batched_tokens: must be at least max_num_seqs (6), got 2: decodes would "
            "starve",
        ),
        (
            {"slots": 4, "sets": ["max_num_seqs=0"]},
            "--set max_num_seqs: must be at least 1, got 0",
        ),
        (
            {"slots": 0, "sets": ["max_num_seqs=4"]},
            "--slots: must be at least 1, got 0",
        ),
    ],
)
def test_a_bad_value_is_refused_by_what_the_user_typed_for_it(flags, message):
    with pytest.raises(ConfigError) as caught:
        read_overrides(**flags).apply(EngineSettings())
    assert str(caught.value) == message


def test_the_screen_gets_settings_with_the_overrides_in_them():
    overrides = read_overrides(slots=3)
    options = screen_options(ModelSpec(), overrides, preset="x", idle=True, seed=7, own=OWN)
    assert options.settings == EngineSettings(max_num_seqs=3, max_batch_size=3)
    assert (options.preset, options.idle, options.seed, options.own) == ("x", True, 7, OWN)


def test_any_setting_can_be_set_by_its_name():
    sets = [
        "scheduling_policy=priority",
        "watermark=0.1",
        "preferred_batch_size=2,4",
        "deliver=auto",
    ]
    assert read_overrides(sets=sets).values == {
        "scheduling_policy": SchedulingPolicy.PRIORITY,
        "watermark": 0.1,
        "preferred_batch_size": (2, 4),
        "deliver": None,
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("watermrk=0.1", "--set: unknown setting 'watermrk'; did you mean 'watermark'?"),
        ("watermark", "--set: expected KNOB=VALUE, got 'watermark'"),
        ("aging=old", "--set aging: expected a number, got 'old'"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(text, message):
    with pytest.raises(ConfigError) as caught:
        read_overrides(sets=[text])
    assert str(caught.value) == message
