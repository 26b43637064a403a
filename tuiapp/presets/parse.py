"""From the text of a preset file to a `Preset`, or an error that names file, line and key."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.config import ConfigError, KeyPath, build, read_fields, suggest
from engine.metrics.report import PASS_METRICS, SERVICE_METRICS
from engine.settings import EngineSettings
from tuiapp.presets.lines import find_line
from tuiapp.presets.preset import Preset
from tuiapp.presets.schema import Claim, Sheet, Variant

PLANNED = ("trace", "clients", "phase", "action")  # tables of the schema that nothing plays yet


def parse(text: str, path: Path) -> Preset:
    """Read and check the text of a preset file.

    Raises:
        ConfigError: the text is no TOML, a table is not as the schema says, or what it says
            cannot be: a name given twice, a claim about an unknown variant, settings that do not
            go together.
    """
    try:
        return _read(tomllib.loads(text), path)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"this is no TOML: {error}", place=str(path)) from error
    except ConfigError as error:
        line = find_line(text, error.path)
        raise error.at(f"{path}:{line}" if line else str(path)) from None


def _read(table: Mapping[str, Any], path: Path) -> Preset:
    for key in PLANNED:
        if key in table:
            raise ConfigError("is not supported yet", (key,))
    sheet = build(Sheet, table)
    preset = Preset(
        sheet=sheet,
        engine=read_fields(EngineSettings, sheet.engine, ("engine",)),
        variants=_read_variants(sheet.compare),
        drafts=sheet.draw(sheet.preset.seed),
        path=path,
    )
    _check(preset)
    return preset


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
    _check_unique([each.name for each in preset.sheet.classes], "class", "name")
    _check_unique([single.label for single in preset.sheet.singles], "request", "label")
    (most, count), *_ = Counter(draft.id for draft in preset.drafts).most_common(1)
    if count > 1:
        raise ConfigError(f"{count} requests would be called {most!r}")
    for name in (None, *names):
        preset.settings(name)
    for index, claim in enumerate(preset.claims):
        _check_claim(claim, names, preset.labels, ("claim", index))


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
