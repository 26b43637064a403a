"""What a user does, as the engine gets it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from engine.events import Arrived
from engine.generate.demo import DemoMix
from engine.settings import BatcherName, EngineSettings
from tests.tui.stage import StageBackend
from tuiapp.presets import find_preset
from tuiapp.session import Session

PRESETS = (Path(__file__).parent / "presets",)


def arrivals(backend):
    return [event.request for event in backend.log.since(0)[0] if isinstance(event, Arrived)]


def make_session(**knobs):
    backend = StageBackend(**knobs)
    return backend, Session(backend, backend.core.settings, seed=3)


def test_a_preset_changes_the_settings_the_session_began_with_not_those_of_the_last_preset():
    backend, session = make_session()
    session.play_preset(find_preset("heavy-load", PRESETS))
    assert backend.core.settings.max_num_seqs == 16
    session.play_preset(find_preset("straggler", PRESETS))
    assert backend.core.settings.max_num_seqs == 8
    assert session.settings == backend.core.settings


def test_a_preset_played_again_finds_an_empty_cache():
    backend, session = make_session(enable_prefix_caching=True)
    preset = find_preset("heavy-load", PRESETS)
    session.play_preset(preset)
    backend.run(20)
    pool = backend.core.queues.pool
    session.play_preset(preset)
    assert backend.core.queues.pool is not pool
    assert backend.core.queues.running == []


def test_what_the_engine_made_of_the_settings_is_kept_for_presets():
    backend = StageBackend()
    base = EngineSettings(batcher=BatcherName.STATIC)
    session = Session(backend, base)
    session.settle(replace(base, long_prefill_token_threshold=64))
    session.play_preset(find_preset("straggler", PRESETS))
    assert session.settings.long_prefill_token_threshold == 64


def test_before_the_engine_is_ready_nothing_is_sent():
    backend, session = make_session()
    backend.tokenizer = None
    session.play_requests_of(find_preset("straggler", PRESETS))
    assert arrivals(backend) == []
    assert backend.feed is None


def test_what_plays_is_joined_by_what_was_injected_since_it_began():
    _, session = make_session()
    session.injector.burst()
    assert session.has_injected
    session.play_preset(find_preset("straggler", PRESETS))
    assert not session.has_injected
    session.injector.burst()
    assert session.has_injected


def test_a_chunk_left_to_the_model_stays_what_the_engine_fitted_it_to():
    _, session = make_session()
    session.configure(replace(session.settings, long_prefill_token_threshold=None))
    assert session.settings.long_prefill_token_threshold == 64


def test_the_gentle_mix_holds_back_at_three_batches_unless_it_is_made_faster():
    backend = StageBackend(batcher=BatcherName.STATIC)
    session = Session(backend, backend.core.settings, seed=7)
    session.play("gentle mix", DemoMix(session.prompts, 30.0, 1, most_open=24))
    backend.run(200)
    assert len(backend.core.queues.waiting) == 16
    assert session.title == "gentle mix held"
    session.configure(replace(session.settings, max_batch_size=4))
    backend.run(3000)
    assert len(backend.core.queues.waiting) == 8
    session.change_speed(1)
    assert session.title == "gentle mix"
    backend.run(200)
    assert len(backend.core.queues.waiting) > 50


def test_a_mix_that_nobody_limited_stays_so():
    backend = StageBackend(batcher=BatcherName.STATIC)
    session = Session(backend, backend.core.settings, seed=7)
    session.play("gentle mix", DemoMix(session.prompts, 30.0, 1))
    backend.run(200)
    assert len(backend.core.queues.waiting) > 50
    assert session.held_at is None
