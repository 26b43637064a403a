from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, ClassVar, Literal

import pytest

from engine.config import ConfigError, build, construct, dotted, read_fields
from engine.settings import BatcherName, Delivery, EngineSettings


class Colour(Enum):
    RED = "red"
    GREEN = "green"


@dataclass(frozen=True, slots=True)
class Circle:
    kind: ClassVar[str] = "circle"
    radius: float


@dataclass(frozen=True, slots=True)
class Square:
    kind: ClassVar[str] = "square"
    side: float = 1.0


@dataclass(frozen=True, slots=True)
class Picture:
    name: str
    shape: Circle | Square = Square()
    size: tuple[int, int] = (1, 1)
    tags: tuple[str, ...] = ()
    colour: Colour = Colour.RED
    scale: float | Literal["auto"] = 1.0
    limit: int | None = None
    frame: Square = Square()
    notes: Mapping[str, Any] = field(default_factory=dict)
    group: str = field(default="", metadata={"key": "class"})

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("name must not be empty")


def problem(**table: object) -> str:
    with pytest.raises(ConfigError) as caught:
        build(Picture, table, "art.toml")
    return str(caught.value)


def test_a_table_fills_every_kind_of_field():
    picture = build(
        Picture,
        {
            "name": "moon",
            "shape": {"kind": "circle", "radius": 2},
            "size": [3, 4],
            "tags": ["night"],
            "colour": "green",
            "scale": "auto",
            "limit": 5,
            "frame": {"side": 2.5},
            "notes": {"any": ["thing"]},
            "class": "sky",
        },
    )
    assert picture == Picture(
        name="moon",
        shape=Circle(2.0),
        size=(3, 4),
        tags=("night",),
        colour=Colour.GREEN,
        scale="auto",
        limit=5,
        frame=Square(2.5),
        notes={"any": ["thing"]},
        group="sky",
    )


def test_absent_keys_keep_their_defaults():
    assert build(Picture, {"name": "moon"}) == Picture("moon")


def test_a_whole_number_serves_as_a_number():
    assert build(Picture, {"name": "moon", "scale": 2}).scale == 2.0


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"nme": "x"}, "art.toml: nme: unknown key; did you mean 'name'?"),
        ({}, "art.toml: 'name' is missing"),
        ({"name": 3}, "art.toml: name: expected text, got 3"),
        ({"name": ""}, "art.toml: name: must not be empty"),
        (
            {"name": "x", "colour": "gren"},
            "art.toml: colour: 'gren' is unknown; did you mean 'green'?",
        ),
        (
            {"name": "x", "colour": "zz"},
            "art.toml: colour: 'zz' is unknown; known: red, green",
        ),
        (
            {"name": "x", "shape": {"kind": "cirle", "radius": 1}},
            "art.toml: shape.kind: 'cirle' is unknown; did you mean 'circle'?",
        ),
        ({"name": "x", "shape": {"radius": 1}}, "art.toml: shape: 'kind' is missing"),
        (
            {"name": "x", "shape": {"kind": "circle"}},
            "art.toml: shape: 'radius' is missing",
        ),
        (
            {"name": "x", "shape": {"kind": "circle", "radious": 1}},
            "art.toml: shape.radious: unknown key; did you mean 'radius'?",
        ),
        ({"name": "x", "frame": {"side": "a"}}, "art.toml: frame.side: expected a number, got 'a'"),
        ({"name": "x", "frame": 1}, "art.toml: frame: expected a table, got 1"),
        ({"name": "x", "notes": 1}, "art.toml: notes: expected a table, got 1"),
        ({"name": "x", "size": [1]}, "art.toml: size: expected a list of 2, got [1]"),
        ({"name": "x", "tags": ["a", 1]}, "art.toml: tags[1]: expected text, got 1"),
        ({"name": "x", "tags": "a"}, "art.toml: tags: expected a list, got 'a'"),
        ({"name": "x", "limit": 1.5}, "art.toml: limit: expected a whole number, got 1.5"),
        ({"name": "x", "limit": True}, "art.toml: limit: expected a whole number, got True"),
        (
            {"name": "x", "scale": "big"},
            "art.toml: scale: expected a number or 'auto', got 'big'",
        ),
        (
            {"name": "x", "frame": {"side": float("nan")}},
            "art.toml: frame.side: expected a number, got nan",
        ),
    ],
)
def test_a_bad_table_is_refused_with_place_key_and_remedy(table, message):
    assert problem(**table) == message


def test_engine_settings_come_from_a_table():
    settings = build(EngineSettings, {"batcher": "static", "max_batch_size": 4})
    assert settings == EngineSettings(batcher=BatcherName.STATIC, max_batch_size=4)


def test_an_impossible_setting_names_its_key():
    with pytest.raises(ConfigError, match=r"^x: engine\.max_num_seqs: must be at least 1, got 0$"):
        build(EngineSettings, {"max_num_seqs": 0}, "x", ("engine",))


def test_some_fields_alone_are_converted_too():
    found = read_fields(EngineSettings, {"deliver": "batch", "max_queue_delay_ms": 5})
    assert found == {"deliver": Delivery.BATCH, "max_queue_delay_ms": 5.0}


def test_an_error_without_a_named_field_points_at_the_table():
    def refuse(**values: object) -> None:
        raise ValueError("nothing fits")

    with pytest.raises(ConfigError) as caught:
        construct(refuse, {"side": 1}, ("frame",))
    assert caught.value.path == ("frame",)


def test_paths_are_written_as_in_toml():
    assert dotted(("class", 1, "arrival", "rate")) == "class[1].arrival.rate"
