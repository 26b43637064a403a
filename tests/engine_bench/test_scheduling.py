from __future__ import annotations

from engine.bench.scheduling import measure_logging, measure_scheduling


def test_every_size_has_its_parts_and_more_sequences_cost_more():
    few, many = measure_scheduling((2, 128), num_steps=20)
    assert (few.num_seqs, many.num_seqs) == (2, 128)
    assert few.rest == few.step - few.schedule - few.launch
    told = many.schedule + many.launch + many.apply + many.detokenise + many.record
    assert 0 < many.state < many.schedule + many.apply, "a part of what is measured there"
    assert 0 < told < 1.5 * many.step, "medians of parts add up to about that of the whole"
    assert many.step > few.step > 0
    assert many.metrics > 0


def test_an_event_costs_some_time_to_log():
    assert 0 < measure_logging(1000) < 1e-3
