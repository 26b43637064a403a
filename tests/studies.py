"""A small study: two engines, two classes, one claim of each ruling."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from engine.runners.parts import ModelSpec
from tuiapp.export.sketch import Sketch
from tuiapp.presets.parse import parse
from tuiapp.running.headless import run_preset
from tuiapp.running.study import Study, study_preset
from tuiapp.running.verdicts import judge

TEXT = """\
schema = 1
[preset]
id = "small"
title = "Small | <b>bold</b>"
summary = "Two lengths."
needs = ["memory_bound"]
[engine]
max_batch_size = 2
[[compare]]
name = "static"
batcher = "static"
[[compare]]
name = "continuous"
[[request]]
label = "short"
prompt_tokens = 16
output_tokens = 5
[[request]]
label = "long"
prompt_tokens = 16
output_tokens = 50
[[claim]]
text = "Short is *short*."
metric = "e2e_p50_ms"
class = "short"
left = "continuous"
op = "<="
right = "static"
factor = 0.5
[[claim]]
text = "Long is short."
metric = "e2e_p50_ms"
class = "long"
left = "continuous"
op = "<="
value = 1
[[claim]]
text = "Static streams."
metric = "itl_p50_ms"
left = "static"
op = "<="
value = 1
"""


@cache
def small_study() -> tuple[Study, tuple[Sketch, ...]]:
    preset = parse(TEXT, Path("small.toml"))
    spec, sketches, outcomes = ModelSpec(device="sim:linear"), [], []
    for variant in preset.variants:
        sketches.append(Sketch())
        settings = preset.settings(variant.name)
        outcomes.append(run_preset(preset, variant.name, settings, spec, sinks=sketches[-1:]))
    return study_preset(preset, outcomes, judge(preset.claims, outcomes)), tuple(sketches)
