from pathlib import Path

import pytest

from engine.generate.clients import Clients, ExponentialThink, FixedThink, LognormalThink
from engine.generate.draft import Draft
from engine.generate.lengths import Exponential, Fixed
from engine.generate.streams import stream
from engine.generate.traits import Cancelling, Prefix, Text
from engine.generate.write import write
from engine.prompts import PromptMaker
from engine.tokenizer import ToyTokenizer

MANY = 4000


def people(**changes) -> Clients:
    table = {
        "name": "people",
        "count": 2,
        "requests_each": 2,
        "ramp_s": 4.0,
        "think": FixedThink(mean_s=0.5),
        "prompt": Fixed(value=8),
        "output": Fixed(value=5),
    }
    return Clients(**(table | changes))


def drafts(count: int) -> list[Draft]:
    return [Draft(f"chat-{at}", "chat", float(at), 16, 4) for at in range(count)]


def test_each_client_asks_again_after_its_answer_and_a_thought():
    assert [(d.id, d.arrival, d.follows, d.delay) for d in people().drafts(seed=1)] == [
        ("people-0-0", 0.0, "", 0.0),
        ("people-1-0", 2.0, "", 0.0),
        ("people-0-1", 0.0, "people-0-0", 0.5),
        ("people-1-1", 0.0, "people-1-0", 0.5),
    ]


def test_other_lengths_leave_the_thoughts_alone():
    think = ExponentialThink(mean_s=2.0)
    before = [d.delay for d in people(think=think).drafts(seed=1)]
    after = [d.delay for d in people(think=think, output=Exponential(mean=9)).drafts(seed=1)]
    assert before == after


@pytest.mark.parametrize("think", [ExponentialThink(mean_s=2.0), LognormalThink(mean_s=2.0)])
def test_thoughts_take_as_long_as_they_should_on_average(think):
    assert think.draw(stream(1, "people", "think"), MANY).mean() == pytest.approx(2.0, rel=0.06)


def test_a_share_of_the_clients_goes_away():
    changed = Cancelling(fraction=0.25, after_tokens=3).apply(drafts(MANY), 1, "chat")
    leaving = [draft for draft in changed if draft.cancel_after_tokens == 3]
    assert len(leaving) / MANY == pytest.approx(0.25, rel=0.1)
    assert all(draft.cancel_after_s is None for draft in changed)


def test_clients_go_away_by_time_too():
    [draft] = Cancelling(after_s=1.5).apply(drafts(1), 1, "chat")
    assert (draft.cancel_after_s, draft.cancel_after_tokens) == (1.5, None)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Cancelling(), "one of after_s and after_tokens must be given"),
        (lambda: Cancelling(after_s=1, after_tokens=1), "one of after_s and after_tokens must be"),
        (lambda: Cancelling(fraction=1.5, after_s=1), "fraction must be 0 to 1, got 1.5"),
        (lambda: Prefix(groups=0, tokens=4), "groups must be above 0, got 0"),
        (lambda: Text(path="x.txt"), 'path is needed with from = "file", only'),
        (lambda: people(count=0), "count must be above 0, got 0"),
    ],
)
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_prompts_of_a_group_begin_alike_and_are_so_much_longer():
    grouped = Prefix(groups=2, tokens=24).apply(drafts(40), 1, "chat")
    requests = write(grouped, PromptMaker(ToyTokenizer()), seed=1)
    assert {len(request.prompt_token_ids) for request in requests} == {16 + 24}
    begins = {request.prompt_token_ids[:24] for request in requests}
    assert len(begins) == 2
    assert len({request.prompt_token_ids for request in requests}) > 20


def test_prompts_are_cut_from_a_file(tmp_path):
    (tmp_path / "mine.txt").write_text("batch " * 50 + "\n")
    cut = Text(source="file", path="mine.txt").apply([Draft("a", "chat", 0.0, 300, 4)], tmp_path)
    [request] = write(cut, PromptMaker(ToyTokenizer()), seed=1)
    assert len(request.prompt_token_ids) == 300
    assert ToyTokenizer().decode(request.prompt_token_ids).count(" batch batch") > 100


def test_a_text_that_is_not_there_or_empty_is_refused(tmp_path):
    (tmp_path / "empty.txt").write_text("\n")
    for path, message in (("gone.txt", "path names no file"), ("empty.txt", "an empty file")):
        with pytest.raises(ValueError, match=message):
            Text(source="file", path=path).apply(drafts(1), Path(tmp_path))


def test_an_output_may_be_as_long_as_a_text():
    answer = Draft("a", "chat", 0.0, None, None, text="Hello?", answer="the batch is full")
    [request] = write([answer], PromptMaker(ToyTokenizer()), seed=1)
    assert request.sampling.max_tokens == len(ToyTokenizer().encode("the batch is full"))
