"""How far an engine has come before it takes requests."""

from __future__ import annotations

from engine.loading import Loading, LoadStage, LoadStep


def test_a_stage_that_counts_says_how_far_it_is():
    step = LoadStep(LoadStage.WEIGHTS, 3, 12)
    assert str(step) == "reading weights, 3 of 12 tensors"
    assert step.share == 0.25


def test_a_stage_that_counts_nothing_has_no_share():
    step = LoadStep(LoadStage.CACHE)
    assert str(step) == "building the KV cache"
    assert step.share is None


def test_the_newest_step_is_kept():
    loading = Loading()
    assert loading.step.stage is LoadStage.START
    loading.report(LoadStep(LoadStage.MEASURE))
    assert loading.step == LoadStep(LoadStage.MEASURE)
