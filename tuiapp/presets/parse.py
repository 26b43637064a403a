"""From the text of a preset file to a `Preset`, or an error that names file, line and key."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from engine.config import (
    ConfigError,
    KeyPath,
    build,
    construct,
    convert,
    read_fields,
    suggest,
)
from engine.metrics.report import PASS_METRICS, SERVICE_METRICS
from engine.settings import EngineSettings
from tuiapp.presets.lines import find_line
from tuiapp.presets.preset import Preset
from tuiapp.presets.schema import Claim, Variant
from tuiapp.presets.sheet import Sheet


def parse(text: str, path: Path, folders: Sequence[Path] = ()) -> Preset:
    """Read and check the text of a preset file.

    Args:
        folders: where files that it names may lie, beside its own folder.

    Raises:
        ConfigError: the text is no TOML, a table is not as the schema says, or what it says
            cannot be: a name given twice, a claim about an unknown variant, settings that do not
            go together.
    """
    try:
        return _read(tomllib.loads(text), path, folders)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"this is no TOML: {error}", place=str(path)) from error
    except ConfigError as error:
        line = find_line(text, error.path)
        raise error.at(f"{path}:{line}" if line else str(path)) from None


def _read(table: Mapping[str, Any], path: Path, folders: Sequence[Path]) -> Preset:
    sheet = build(Sheet, table)
    engine = {key: value for key, value in sheet.engine.items() if key != "model"}
    settings = read_fields(EngineSettings, engine, ("engine",))
    places = (path.parent, *folders)
    preset = Preset(
        sheet=sheet,
        engine=settings,
        model=_read_model(sheet.engine),
        variants=_read_variants(sheet.compare),
        path=path,
        folders=places,
        drawn=sheet.draw(sheet.preset.seed, places, settings.get("max_model_len", 0)),
    )
    _check(preset)
    return preset


def _read_model(engine: Mapping[str, Any]) -> str | None:
    return convert(str, engine["model"], ("engine", "model")) if "model" in engine else None


def _read_variants(tables: Sequence[Mapping[str, Any]]) -> tuple[Variant, ...]:
    variants = []
    for index, table in enumerate(tables):
        place = ("compare", index)
        if not isinstance(table.get("name"), str):
            raise ConfigError("'name' is missing", place)
        changes = {key: value for key, value in table.items() if key != "name"}
        variants.append(Variant(table["name"], read_fields(EngineSettings, changes, place)))
    return tuple(variants)


def _check(preset: Preset) -> None:
    """Look at what no single table can know."""
    if preset.name != preset.path.stem:
        problem = f"must be the name of the file, {preset.path.stem!r}, got {preset.name!r}"
        raise ConfigError(problem, ("preset", "id"))
    names = [variant.name for variant in preset.variants]
    _check_unique(names, "compare", "name")
    sheet = preset.sheet
    for table, named in (
        ("class", sheet.classes),
        ("clients", sheet.clients),
        ("trace", sheet.traces),
    ):
        _check_unique([each.name for each in named], table, "name")
    _check_unique([single.label for single in sheet.singles], "request", "label")
    _check_labels(preset)
    ids = Counter(draft.id for draft in preset.drafts)
    if not ids:
        raise ConfigError("no request is left of all that it draws or reads")
    (most, count), *_ = ids.most_common(1)
    if count > 1:
        raise ConfigError(f"{count} requests would be called {most!r}")
    for name in (None, *names):
        settings = preset.settings(name)
        for index, timed in enumerate(sheet.timed):
            path = ("action", index)
            construct(partial(replace, settings), timed.settings(path), (*path, "set"))
    for index, claim in enumerate(preset.claims):
        _check_claim(claim, names, preset.labels, ("claim", index))


def _check_labels(preset: Preset) -> None:
    """Insist that names are told apart, and that what actions mean is there."""
    doubled = next((name for name, n in Counter(preset.labels).items() if n > 1), None)
    if doubled is not None:
        raise ConfigError(f"two sources of requests are called {doubled!r}")
    for index, timed in enumerate(preset.sheet.timed):
        if timed.meant and timed.meant not in preset.labels:
            key = "label" if timed.label else "class"
            hint = suggest(timed.meant, preset.labels)
            raise ConfigError(f"{timed.meant!r} is unknown; {hint}", ("action", index, key))


def _check_unique(names: Sequence[str], table: str, key: str) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            raise ConfigError(f"{name!r} is there twice", (table, index, key))


def _check_claim(
    claim: Claim, variants: Sequence[str], labels: Sequence[str], path: KeyPath
) -> None:
    has_label = bool(claim.label or claim.right_label)
    metrics = SERVICE_METRICS if has_label else (*SERVICE_METRICS, *PASS_METRICS)
    for key, value, known in (
        ("metric", claim.metric, metrics),
        ("left", claim.left, variants),
        ("right", claim.right, variants),
        ("class", claim.label, labels),
        ("right_class", claim.right_label, labels),
    ):
        if value and value not in known:
            raise ConfigError(f"{value!r} is unknown; {suggest(value, known)}", (*path, key))
