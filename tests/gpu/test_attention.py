"""On the device, every way to attend equals plain attention in float64, in CUDA graphs as well."""

from __future__ import annotations

import pytest
import torch

from engine.config import ConfigError
from engine.runners.attention.attend import AttentionOptions
from engine.runners.attention.backend import AttentionBackend
from engine.runners.attention.choice import Demands, choose
from engine.runners.attention.ways import find_platform, make_backend
from engine.runners.inputs.pack import Span
from engine.runners.kv_cache import LayerCache, LayerShape
from engine.runners.triton.paged_triton import TritonAttention
from tests.runners.passes import (
    Heads,
    Pass,
    Rows,
    attend_plainly,
    empty_batch,
    make_pass,
    refill,
)

pytestmark = pytest.mark.gpu

HEADS = {
    "groups of four": Heads(8, 2, 128, 128),
    "groups of three": Heads(9, 3, 64, 64),
    "wide": Heads(4, 2, 256, 256),
    "unequal": Heads(4, 4, 192, 128),
}
OPTIONS = {
    "plain": AttentionOptions(),
    "windowed": AttentionOptions(window=300),
    "softcapped": AttentionOptions(softcap=2.0),
    "sinks": AttentionOptions(window=128, sinks=torch.tensor([-1.0, 0.5, 2.0, 0.0])),
}
PASSES = {
    "decodes": [Rows(1, 0), Rows(1, 17), Rows(1, 511), Rows(1, 1300)],
    "mixed": [Rows(1, 9), Rows(1, 900), Rows(70, 0), Rows(130, 400)],
    "padded": [Rows(40, 0), Rows(40, 0, 30), Rows(40, 7, 40)],
}
SHORT = {
    "decodes": [Rows(1, 0), Rows(1, 40)],
    "mixed": [Rows(1, 9), Rows(6, 0), Rows(9, 20)],
    "padded": [Rows(9, 0, 4), Rows(9, 7, 9)],
}
LAYERS = [
    *(("groups of three", options) for options in OPTIONS),
    *((heads, "plain") for heads in HEADS if heads != "groups of three"),
]
TOLERANCES = {
    torch.float32: {"rtol": 1e-4, "atol": 1e-4},
    torch.float16: {"rtol": 4e-3, "atol": 4e-3},
    torch.bfloat16: {"rtol": 3e-2, "atol": 3e-2},
}


def make_way(name: str, made: Pass, options: AttentionOptions, block_size: int) -> AttentionBackend:
    """The backend, or a skip with the reason why it is none for this device and these demands."""
    shape, device = made.cache.shape, made.query.device
    demands = Demands(
        shape.dtype,
        block_size,
        frozenset({(shape.key_dim, shape.value_dim)}),
        options.softcap is not None,
        options.sinks is not None,
    )
    try:
        choose(name, find_platform(device), demands)
    except ConfigError as error:
        pytest.skip(str(error))
    return make_backend(name, block_size, device)


def make_case(
    rows: list[Rows],
    heads: Heads,
    options: AttentionOptions,
    block_size: int,
    dtype: torch.dtype,
    device: torch.device,
) -> tuple[Pass, AttentionOptions]:
    made = make_pass(rows, heads, block_size, dtype, device, leftovers=0.0)
    if options.sinks is None:
        return made, options
    repeats = -(-heads.num_heads // len(options.sinks))
    sinks = options.sinks.repeat(repeats)[: heads.num_heads].to(device)
    return made, AttentionOptions(options.scaling, options.window, options.softcap, sinks)


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize(("heads", "options"), LAYERS)
@pytest.mark.parametrize("rows", PASSES)
@pytest.mark.parametrize("way", ["triton", "varlen", "gather"])
def test_it_equals_plain_attention(way, rows, heads, options, dtype, device):
    block_size = 256 if way == "varlen" else 16
    passes = SHORT if device.type == "cpu" else PASSES
    made, options = make_case(
        passes[rows], HEADS[heads], OPTIONS[options], block_size, dtype, device
    )
    backend = make_way(way, made, options, block_size)

    output = made.attend(backend, options)

    expected = attend_plainly(made, options)
    torch.testing.assert_close(output[made.live], expected[made.live], **TOLERANCES[dtype])
    assert output.isfinite().all()


@pytest.mark.parametrize("way", ["triton", "varlen"])
@pytest.mark.parametrize("rows", [1, 3, 64])
def test_a_captured_pass_serves_rows_of_any_length(way, rows, device):
    if device.type != "cuda":
        pytest.skip("only a CUDA device captures")
    block_size, options = 256, AttentionOptions()
    pasts = [Rows(1, (rows * 37 + row * 211) % 3000) for row in range(rows)]
    made = make_pass(pasts, HEADS["groups of four"], block_size, torch.bfloat16, device, 0.0)
    backend = make_way(way, made, options, block_size)
    batch = empty_batch(rows, max_blocks=16, device=device)
    refill(batch, made.spans)
    backend.begin_decode(batch)
    made.attend_prepared(backend, options)  # what compiles at its first use has compiled then
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = made.attend_prepared(backend, options)

    for order in (made, backwards(made)):
        refill(batch, order.spans)
        graph.replay()
        expected = attend_plainly(order, options)
        torch.testing.assert_close(output, expected, **TOLERANCES[torch.bfloat16])


def backwards(made: Pass) -> Pass:
    """The same rows in the other order, for the queries as they lie."""
    spans = [span._replace(start=row) for row, span in enumerate(reversed(made.spans))]
    return Pass(spans, made.cache, made.query, made.keys[::-1], made.values[::-1])


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
def test_company_changes_no_bit_of_a_decoding_row(dtype, device):
    is_dry = device.type == "cpu"
    pasts = (0, 17, 40) if is_dry else (0, 17, 511, 1300, 2999, *range(64))
    heads, options = HEADS["groups of three"], AttentionOptions()
    together = make_pass([Rows(1, past) for past in pasts], heads, 16, dtype, device, 0.0)
    backend = make_way("triton", together, options, 16)
    output = together.attend(backend, options)

    for row, span in enumerate(together.spans):
        query = together.query[row : row + 1]
        backend.begin([span._replace(start=0)])
        alone = backend.attend(query, query, query, together.cache, options)
        assert alone.equal(output[row : row + 1])


def test_blocks_behind_two_billion_numbers_are_written_and_read(device):
    far, num_blocks = (69_000, 70_000) if device.type == "cuda" else (690, 700)
    shape, options = LayerShape(8, 128, 128, torch.bfloat16), AttentionOptions()
    key, value = torch.randn(2, 40, 8, 128).to(device, torch.bfloat16)
    query = torch.randn(1, 32, 128).to(device, torch.bfloat16)

    def attend_at(first_block: int, num_blocks: int) -> torch.Tensor:
        cache, backend = LayerCache(shape, num_blocks, 16, device), TritonAttention(16, device)
        backend.write(cache, first_block * 16 + torch.arange(40, device=device), key, value)
        backend.begin([Span(0, 1, 39, 40, [first_block, first_block + 1, first_block + 2])])
        return backend.attend(query, key, value, cache, options)

    assert attend_at(far, num_blocks).equal(attend_at(0, 3))
