import pytest

from engine.clock import VirtualClock, WallClock
from engine.cost import Linear
from engine.runners.parts import ModelSpec
from engine.settings import EngineSettings
from tests.builders import ask
from tuiapp.running.engines import Engines


def test_a_simulation_has_a_clock_that_need_not_be_waited_for():
    engines = Engines(ModelSpec(device="sim:linear"))
    one, two = engines.build(EngineSettings()), engines.build(EngineSettings(max_num_seqs=4))
    assert isinstance(one.clock, VirtualClock)
    assert one.clock is not two.clock
    assert one.log is not two.log
    assert (one.settings.max_num_seqs, two.settings.max_num_seqs) == (8, 4)


def test_a_model_is_loaded_once_and_each_engine_has_a_cache_as_if_it_had_been_loaded_for_it():
    spec = ModelSpec(device="cpu")
    engines = Engines(spec)
    wanted = [EngineSettings(max_num_seqs=2, max_batch_size=2), EngineSettings(block_size=32)]
    for settings in wanted:
        core, alone = engines.build(settings), Engines(spec).build(settings)
        assert isinstance(core.clock, WallClock)
        assert core.info == alone.info
        assert core.queues.pool.num_blocks == alone.queues.pool.num_blocks
        assert core.runner.attention.block_size == settings.block_size
    first, second = engines.build(wanted[0]), engines.build(wanted[1])
    assert first.runner.model is second.runner.model


def test_a_cache_of_a_size_of_ones_own_is_kept():
    engines = Engines(ModelSpec(device="cpu"))
    engines.build(EngineSettings())
    core = engines.build(EngineSettings(num_kv_blocks=40))
    assert core.queues.pool.num_blocks == 40
    assert core.runner.attention.cache.num_blocks == pytest.approx(40, abs=1)


def test_a_model_with_a_cost_keeps_its_tokens_and_takes_the_time_of_the_cost():
    spec = ModelSpec(device="cpu")
    real = Engines(spec).build(EngineSettings(num_kv_blocks=48))
    costed = Engines(spec, real, cost=Linear())
    assert (costed.is_simulated, costed.has_model) == (True, True)
    for _ in range(2):
        core = costed.build(EngineSettings(num_kv_blocks=48))
        core.add(ask("a", 8, 4))
        while core.has_work:
            core.step()
        assert core.info.is_simulated
        assert core.runner.runner.model is real.runner.model
        assert core.clock.now() == pytest.approx(4 * 0.0121, rel=0.02)
