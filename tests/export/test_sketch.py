import pytest

from engine.events import Work
from tests.builders import ask, make_core
from tests.studies import small_study
from tuiapp.export.sketch import NUM_BINS, Raster, Sketch


def test_a_raster_joins_moments_of_like_work():
    raster = Raster(width=1.0)
    raster.add(0, Work.PREFILL, 10.0, 12.0)
    raster.add(0, Work.DECODE, 12.0, 15.0)
    raster.add(1, Work.HELD, 14.0, 16.0)
    assert raster.began == 10.0
    assert raster.stretches(0) == [(0, 2, Work.PREFILL), (2, 3, Work.DECODE)]
    assert raster.stretches(1) == [(4, 2, Work.HELD)]


def test_a_moment_shows_what_was_done_for_most_of_it():
    raster = Raster(width=1.0)
    raster.add(0, Work.PREFILL, 0.0, 0.4)
    raster.add(0, Work.DECODE, 0.4, 1.2)
    assert raster.stretches(0) == [(0, 1, Work.DECODE)], (
        "a fifth of the second moment is too little"
    )


def test_a_run_that_outgrows_the_raster_is_drawn_smaller_and_nothing_is_lost():
    raster = Raster(width=1.0)
    for second in range(5 * NUM_BINS):
        raster.add(0, Work.DECODE if second % 100 < 50 else Work.HELD, second, second + 1.0)
    assert raster.width == 8.0
    assert len(raster.slots[0]) == NUM_BINS * len(Work)
    assert sum(raster.slots[0]) == pytest.approx(5 * NUM_BINS)
    works = [work for _, _, work in raster.stretches(0)]
    assert works[:4] == [Work.DECODE, Work.HELD, Work.DECODE, Work.HELD]


def test_latencies_are_those_of_the_report():
    study, sketches = small_study()
    for outcome, sketch in zip(study.outcomes, sketches, strict=True):
        service = outcome.report.service
        for values, spread in (
            (sketch.ttfts, service.ttft),
            (sketch.e2es, service.e2e),
            (sketch.gaps, service.itl),
        ):
            assert len(values) == (spread.n if spread else 0)
            assert max(values, default=None) == (spread.max if spread else None)


def test_a_slot_that_is_free_is_drawn_empty():
    core, sketch = make_core(ask("a", 4, 2), ask("b", 4, 9)), Sketch()
    for _ in range(12):
        core.step()
    sketch.write(core.log.since(0)[0])
    short, long = (sketch.raster.stretches(slot)[-1] for slot in (0, 1))
    assert (short[0] + short[1]) * sketch.raster.width == pytest.approx(2.0, abs=0.1)
    assert (long[0] + long[1]) * sketch.raster.width == pytest.approx(9.0, abs=0.1)
