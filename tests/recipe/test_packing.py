import pytest
import torch

from engine.recipe.packing import Batch, join, pack
from engine.recipe.settings import Settings
from engine.recipe.tokenizer import ASSISTANT_ID, BOS_ID, END_ID, PAD_ID, USER_ID
from engine.recipe.training import new_model

TINY = Settings(
    vocab_size=300, hidden_size=32, intermediate_size=64, num_layers=2, num_heads=2, num_kv_heads=1
)


def documents_of(batch: Batch) -> list[list[int]]:
    split = batch.ids[0].split(batch.lengths)
    return [part.tolist() for part in split if part[0] != PAD_ID]


def numbered(*lengths: int) -> list[list[int]]:
    """Documents of these lengths; each repeats a token of its own."""
    return [[10 + number] * length for number, length in enumerate(lengths)]


def test_no_token_is_lost_and_none_comes_twice():
    documents = numbered(30, 90, 50, 100, 20, 60, 99, 1, 250, 40)
    batches = list(pack(documents, 100, 1.0))
    assert sorted(text for batch in batches for text in documents_of(batch)) == documents


def test_rows_have_one_length_unless_a_document_needs_more():
    batches = list(pack(numbered(30, 90, 250, 50, 100), 100, 1.0))
    assert [sum(batch.lengths) for batch in batches] == [250, 100, 100, 100]
    assert all(batch.ids.shape == batch.positions.shape for batch in batches)


def test_a_document_that_does_not_fit_waits_for_the_next_row():
    batches = list(pack(numbered(60, 50, 35, 10), 100, 1.0))
    assert [batch.lengths for batch in batches] == [[60, 35, 5], [50, 10, 40]]


def test_positions_begin_anew_with_each_document():
    assert join(numbered(3, 2), 6, 1.0).positions.tolist() == [[0, 1, 2, 0, 1, 0]]


def test_only_what_the_user_says_weighs_less_and_padding_weighs_nothing():
    document = [BOS_ID, USER_ID, 20, 21, ASSISTANT_ID, 30, END_ID]
    weights = join([document], 9, prompt_weight=0.25).weights
    assert weights.tolist() == [1.0, 0.25, 0.25, 0.25, 1.0, 1.0, 0.0, 0.0, 0.0]


def test_a_packed_document_is_read_as_if_it_were_alone():
    model = new_model(TINY).eval()
    first, second = [1, 50, 60, 70, 2], [1, 80, 90, 2]
    packed, alone = join([first, second], 12, 1.0), join([second], 4, 1.0)
    with torch.no_grad():
        beside, by_itself = (
            model(
                input_ids=batch.ids,
                position_ids=batch.positions,
                lengths=batch.lengths,
                use_cache=False,
            ).logits[0]
            for batch in (packed, alone)
        )
    torch.testing.assert_close(beside[5:9], by_itself, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("lengths", [[], [5]])
def test_a_short_stream_is_packed_whole(lengths):
    batches = list(pack(numbered(*lengths), 100, 1.0))
    assert [documents_of(batch) for batch in batches] == [[[10] * length] for length in lengths]
