"""Every contender in this process delivers what was asked for, on a model of random weights."""

from __future__ import annotations

import pytest

from engine.bench.generate import Generate, GenerateBatch, load_reference
from engine.bench.this_engine import ThisEngine
from tests.engine_bench.builders import DUMMY, TRAFFIC, make_dummy_core, num_output


@pytest.fixture(scope="module")
def core():
    return make_dummy_core()


@pytest.fixture(scope="module")
def requests(core):
    return TRAFFIC.draw(core.tokenizer)


def test_this_engine_serves_them_again_and_again_and_knows_where_its_time_went(core, requests):
    engine = ThisEngine(core, requests)
    assert [engine.serve(), engine.serve()] == [num_output(requests)] * 2
    host = engine.host()
    assert host is not None
    assert host.cycle.n > 1


def test_generate_counts_what_was_asked_for_and_not_the_padding(requests):
    assert Generate(load_reference(DUMMY), requests, 2).serve() == num_output(requests)


def test_generate_batch_serves_them_too(requests):
    assert GenerateBatch(load_reference(DUMMY), requests, TRAFFIC).serve() == num_output(requests)
