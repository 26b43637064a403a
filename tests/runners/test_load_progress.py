"""How many tensors were read, and nothing on the terminal."""

from __future__ import annotations

import sys

from transformers.utils import logging

from engine.loading import LoadStage, LoadStep
from engine.runners.build import build_parts
from engine.runners.loading.load_progress import counting_tensors
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings


def steps_of_a_load():
    steps = []
    build_parts(ModelSpec(device="cpu"), EngineSettings(num_kv_blocks=40), steps.append)
    return steps


def test_a_load_counts_every_tensor_and_names_its_stages(capfd):
    steps = steps_of_a_load()
    counted = [step for step in steps if step.total]
    assert [step.done for step in counted] == list(range(1, counted[0].total + 1))
    stages = dict.fromkeys(step.stage for step in steps)
    stages.pop(LoadStage.KERNELS, None)  # only where no test before has compiled them
    assert list(stages) == [
        LoadStage.FIND,
        LoadStage.WEIGHTS,
        LoadStage.ARRANGE,
        LoadStage.MEASURE,
        LoadStage.CACHE,
        LoadStage.CAPTURE,
    ]
    assert capfd.readouterr() == ("", "")


def test_the_bar_of_a_gguf_file_is_read_and_held_back(capsys):
    steps = []
    with counting_tensors(steps.append, is_gguf=True):
        sys.stderr.write("Converting:  44%|####4     | 120/272 [00:01<00:01, 90.1it/s]")
    assert steps == [LoadStep(LoadStage.WEIGHTS, 120, 272)]
    assert capsys.readouterr().err == ""


def test_the_hook_of_others_is_put_back():
    def other(make_bar, args, options):
        return make_bar(*args, **options)

    before = logging.set_tqdm_hook(other)
    try:
        with counting_tensors(lambda step: None):
            pass
        assert logging.set_tqdm_hook(before) is other
    finally:
        logging.set_tqdm_hook(before)
