import pytest

from engine.config import ConfigError
from engine.settings import BatcherName, Delivery, EngineSettings
from tuiapp.overrides import NONE, Overrides


def test_nothing_named_changes_nothing():
    settings = EngineSettings(max_num_seqs=3)
    assert NONE.apply(settings) == settings


def test_what_was_named_wins():
    wanted = Overrides({"batcher": BatcherName.STATIC}, {"batcher": "--batcher"})
    assert wanted.apply(EngineSettings(max_num_seqs=3)) == EngineSettings(
        batcher=BatcherName.STATIC, max_num_seqs=3
    )


@pytest.mark.parametrize(
    ("values", "deliver"),
    [
        ({"batcher": BatcherName.CONTINUOUS}, None),
        ({"batcher": BatcherName.CONTINUOUS, "deliver": Delivery.BATCH}, Delivery.BATCH),
        ({"batcher": BatcherName.STATIC}, Delivery.BATCH),
        ({"max_batch_size": 4}, Delivery.BATCH),
    ],
)
def test_another_batcher_delivers_as_it_is_known_for_unless_that_was_named(values, deliver):
    settings = EngineSettings(batcher=BatcherName.STATIC, deliver=Delivery.BATCH)
    assert Overrides(values).apply(settings).deliver is deliver


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"max_num_seqs": 0}, "-a: must be at least 1, got 0"),
        (
            {
                "max_num_seqs": 600,
                "aging": 1.0,
            },  # the culprit was not named, what it clashes with was
            "-a: max_num_batched_tokens must be at least max_num_seqs (600), got 512: decodes "
            "would starve",
        ),
    ],
)
def test_what_cannot_be_is_said_of_what_the_user_typed(values, message):
    with pytest.raises(ConfigError) as caught:
        Overrides(values, {"max_num_seqs": "-a", "aging": "-b"}).apply(EngineSettings())
    assert str(caught.value) == message
