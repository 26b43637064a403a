"""Presets with clients that wait, go away or think, played as on the screen."""

from collections import Counter

from engine.events import Arrived, Configured, Finished, Noted
from engine.request import FinishReason
from tests.builders import events_of
from tests.tui.stage import StageBackend
from tuiapp.presets import find_preset
from tuiapp.session import Session


def play(*names: str) -> StageBackend:
    """Play presets one after the other, each to its end."""
    backend = StageBackend(num_kv_blocks=1024)
    session = Session(backend, backend.core.settings)
    for name in names:
        session.play_preset(find_preset(name))
        backend.run(100_000)
    return backend


def reasons(backend: StageBackend) -> Counter[FinishReason]:
    return Counter(event.reason for event in events_of(backend.log, Finished))


def test_clients_go_away_and_a_note_says_so():
    backend = play("cancel")
    assert reasons(backend) == {FinishReason.LENGTH: 20, FinishReason.ABORT: 4}
    [noted] = events_of(backend.log, Noted)
    assert noted.text == "Four of the eight long answers are cancelled now"


def test_people_take_turns_and_can_be_played_again():
    backend = play("closed-clients", "closed-clients")
    assert reasons(backend) == {FinishReason.LENGTH: 2 * 192}
    ids = [event.request.id for event in events_of(backend.log, Arrived)]
    assert len(set(ids)) == 2 * 192
    assert "people-23-7.2" in ids


def test_knobs_turn_while_it_plays():
    blocks = [e.settings.num_kv_blocks for e in events_of(play("kv-squeeze").log, Configured)]
    assert blocks[-3:] == [1024, 160, 1024]


def test_who_watches_is_told_that_a_trace_is_not_there():
    [noted] = events_of(play("azure-chat-minute").log, Noted)
    assert noted.text.startswith("azure: AzureLLMInferenceTrace_conv.csv is not there; requests")
