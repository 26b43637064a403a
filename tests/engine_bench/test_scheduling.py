from __future__ import annotations

from engine.bench.scheduling import measure_scheduling


def test_every_size_has_its_parts_and_more_sequences_cost_more():
    few, many = measure_scheduling((2, 128), num_steps=20)
    assert (few.num_seqs, many.num_seqs) == (2, 128)
    assert few.step == few.schedule + few.launch + few.rest
    assert many.step > few.step > 0
    assert many.metrics > 0
