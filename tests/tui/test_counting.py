"""One of a thing is told of as one."""

from engine.plan import Skip, SkipReason
from engine.settings import BatcherName, EngineSettings
from tests.builders import ask
from tests.tui.stage import StageBackend
from tuiapp.attacks import Attacks
from tuiapp.counting import counted, verb
from tuiapp.explain.why import explain_skip
from tuiapp.screens.live_keys import USUAL_KEYS
from tuiapp.session import Session
from tuiapp.view.snapshot import Snapshot
from tuiapp.view.tell import tell
from tuiapp.view.viewmodel import ViewModel


def test_nouns_and_verbs_go_with_the_number():
    assert [counted(number, "pass") for number in (0, 1, 2)] == ["0 passes", "1 pass", "2 passes"]
    assert counted(2, "token") == "2 tokens"
    assert [verb(number, "is", "are") for number in (1, 2)] == ["is", "are"]


def shown(*requests, passes, **knobs):
    """What the screen of an engine has, after so many passes."""
    backend = StageBackend(**knobs)
    for request in requests:
        backend.submit(request)
    backend.run(passes)
    model = ViewModel(backend.log)
    return backend, model.poll(backend.now())


def test_one_slot_is_held():
    asked = [ask("a", 8, 2), ask("b", 8, 40)]
    _, snapshot = shown(
        *asked, passes=6, batcher=BatcherName.STATIC, max_batch_size=2, max_num_seqs=2
    )
    assert str(tell(snapshot, USUAL_KEYS)).startswith("1 of 2 slots is held but idle until b ")


def test_one_request_is_here():
    _, snapshot = shown(ask("a", 8, 2), passes=1, batcher=BatcherName.STATIC, max_batch_size=4)
    assert str(tell(snapshot, USUAL_KEYS)).startswith("1 of 4 requests is here: ")


def test_one_block_is_needed_and_was_free():
    snapshot = Snapshot(settings=EngineSettings(), block_owners=(None,) * 40)
    told = explain_skip(Skip("a", SkipReason.BLOCKS, needed=1, available=1), snapshot)
    assert told == "1 KV block is needed, 1 of 40 was free"


def test_one_client_hangs_up():
    backend, snapshot = shown(ask("a", 8, 40), passes=4)
    attacks = Attacks(Session(backend, backend.core.settings))
    assert attacks.cancel(snapshot) == "1 client hung up"
