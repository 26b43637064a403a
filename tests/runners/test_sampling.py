"""Tokens follow the distribution, the masks and the seed, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from engine.plan import Plan, Row
from engine.request import Request, SamplingParams, Sequence
from engine.runners.inputs.fields import Shape
from engine.runners.inputs.fill import fill
from engine.runners.inputs.pack import pack
from engine.runners.inputs.slots import SlotTable
from engine.runners.inputs.staging import Staging
from engine.runners.sampling.sample import Draw, choose_draw, sample, widths_for

EOS = frozenset({0, 3})


def make_seq(name: str = "r", num_output: int = 0, **sampling: Any) -> Sequence:
    seq = Sequence(Request(name, (1, 2), SamplingParams(**sampling)))
    seq.token_ids += [1] * num_output
    return seq


def draw(
    logits: list[float], seqs: list[Sequence], *, is_static: bool = False, num_padding: int = 0
) -> list[int]:
    """One token for each sequence, all behind the same logits.

    Args:
        is_static: as in a graph: no look at what a tensor holds.
        num_padding: rows that are there for nobody.
    """
    slots = SlotTable(64, 1, EOS)
    for slot, seq in enumerate(seqs):
        seq.slot, seq.block_table = slot, [0]
    packed = pack(Plan(tuple(Row(seq, seq.num_tokens) for seq in seqs)), slots)
    num_rows = len(seqs) + num_padding
    shape = Shape(packed.num_tokens, num_rows, packed.num_ruled_out)
    staging = Staging(torch.device("cpu"))
    needed, largest_k = choose_draw(packed, slots)
    fill(staging.open(shape), packed, slots, {}, needed)
    widths = () if is_static else widths_for(largest_k)
    fields = staging.send(shape)
    return sample(torch.tensor([logits] * num_rows), fields, needed, widths).tolist()


def test_at_temperature_zero_the_likeliest_token_is_taken():
    assert draw([0.0, 1.0, 3.0, 2.0], [make_seq()]) == [2]


def test_greedy_and_random_rows_share_a_pass():
    seqs = [make_seq(), make_seq(temperature=1.0, top_k=1), make_seq(), make_seq(temperature=5.0)]

    tokens = draw([0.0, 1.0, 3.0, 2.0], seqs)

    assert tokens[:3] == [2, 2, 2]
    assert tokens[3] in range(4)


def test_drawn_tokens_follow_the_distribution():
    seqs = [make_seq(f"r{n}", temperature=1.0) for n in range(4000)]
    probabilities = torch.tensor([0.1, 0.2, 0.3, 0.4])

    tokens = torch.tensor(draw(probabilities.log().tolist(), seqs))

    shares = tokens.bincount(minlength=4) / 4000
    torch.testing.assert_close(shares, probabilities, atol=0.025, rtol=0)


def test_temperature_sharpens_the_distribution():
    seqs = [make_seq(f"r{n}", temperature=0.5) for n in range(4000)]

    tokens = torch.tensor(draw(torch.tensor([0.1, 0.2, 0.3, 0.4]).log().tolist(), seqs))

    shares = tokens.bincount(minlength=4) / 4000  # squares of the probabilities, normalised
    torch.testing.assert_close(shares, torch.tensor([1, 4, 9, 16]) / 30, atol=0.025, rtol=0)


def test_filtered_tokens_are_never_drawn():
    seqs = [make_seq(f"r{n}", temperature=2.0, top_k=2) for n in range(500)]

    assert set(draw([1.0, 4.0, 3.0, 2.0], seqs)) == {1, 2}


def test_a_token_depends_on_seed_and_position_but_not_on_company_or_row():
    logits = torch.randn(50, generator=torch.Generator().manual_seed(0)).tolist()
    seq = make_seq(temperature=1.0, seed=11, num_output=5)
    crowd = [make_seq(f"other{n}", temperature=1.0, top_p=0.5, num_output=n) for n in range(7)]

    alone = draw(logits, [seq])[0]

    assert draw(logits, [*crowd, seq])[-1] == alone
    assert draw(logits, [seq, *crowd])[0] == alone


def test_streams_differ_by_seed_by_position_and_by_id():
    logits = [0.0] * 1000
    by_seed = [make_seq(temperature=1.0, seed=seed) for seed in range(30)]
    by_position = [make_seq(temperature=1.0, num_output=n) for n in range(30)]
    by_id = [make_seq(f"r{n}", temperature=1.0) for n in range(30)]

    for seqs in (by_seed, by_position, by_id):
        assert len(set(draw(logits, seqs))) > 25


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_ignore_eos_masks_every_end_token(temperature):
    seqs = [make_seq(f"r{n}", temperature=temperature, ignore_eos=True) for n in range(100)]

    assert set(draw([9.0, 1.0, 1.5, 9.0], seqs)) <= {1, 2}


def test_ends_are_masked_until_min_tokens():
    seqs = [make_seq(num_output=n, min_tokens=2, stop_token_ids=frozenset({2})) for n in range(4)]

    assert draw([9.0, 1.0, 8.0, 7.0], seqs) == [1, 1, 0, 0]


def test_a_stop_token_of_the_request_is_not_masked_by_ignore_eos():
    assert draw(
        [9.0, 1.0, 8.0, 7.0], [make_seq(ignore_eos=True, stop_token_ids=frozenset({2}))]
    ) == [2]


def test_one_rows_mask_leaves_the_others_alone():
    seqs = [make_seq(), make_seq(ignore_eos=True), make_seq()]

    assert draw([9.0, 1.0, 2.0, 0.0], seqs) == [0, 2, 0]


def test_no_rows_give_no_tokens():
    staging, shape = Staging(torch.device("cpu")), Shape(0, 0)
    staging.open(shape)

    assert sample(torch.empty(0, 4), staging.send(shape), Draw.GREEDY).tolist() == []


def test_a_graph_samples_what_an_eager_pass_samples_whatever_its_padding():
    logits = torch.randn(600, generator=torch.Generator().manual_seed(0)).tolist()
    kinds: list[dict[str, Any]] = [
        {},
        {"temperature": 0.8},
        {"temperature": 1.1, "top_k": 40, "top_p": 0.9},
        {"temperature": 0.9, "min_p": 0.05, "min_tokens": 9},
        {"temperature": 2.0, "top_p": 0.999, "ignore_eos": True},
    ]
    seqs = [make_seq(f"r{n}", n % 7, **kinds[n % 5]) for n in range(100)]

    assert draw(logits, seqs, is_static=True, num_padding=28)[:100] == draw(logits, seqs)


def test_the_coldest_temperature_draws_a_token_of_the_vocabulary():
    assert draw([0.0, 1.0, 3.0, 2.0], [make_seq(temperature=1e-39)]) == [2]


def test_logits_that_are_no_numbers_are_told_from_every_token():
    assert draw([float("nan")] * 4, [make_seq(temperature=1.0), make_seq()]) == [4, 4]
