"""Parts that compute by our own kernels give what torch's own parts give."""

from __future__ import annotations

import pytest
import torch

from engine.runners.kv_cache import KvCache, LayerShape
from engine.runners.layers.gated_mlp import GatedMlp
from engine.runners.layers.pack_linears import pack_linears
from engine.runners.layers.rms_norm import RmsNorm
from engine.runners.layers.rotation import Rotation
from engine.runners.native.parts import NativeLinear, NativeMaker
from tests.runners.builders import make_model
from tests.runners.native_kernels import make_native
from tests.runners.passes import CPU
from tests.runners.test_gated_mlp import make_mlp
from tests.runners.test_rotation import make_embeddings

DTYPES = (torch.float32, torch.bfloat16)


def make_maker(dtype: torch.dtype = torch.float32) -> NativeMaker:
    torch.manual_seed(0)
    return NativeMaker(make_native(dtype).kernels)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("num_outputs", [1, 16, 40, 64])
def test_a_linear_layer_of_any_size_serves_any_number_of_tokens(num_outputs, bias, dtype):
    maker = make_maker(dtype)
    linear = torch.nn.Linear(24, num_outputs, bias=bias, dtype=dtype)
    native = maker.linear(linear)

    with torch.inference_mode():
        for num_tokens in (0, *range(1, 9), 37):
            hidden = torch.randn(1, num_tokens, 24, dtype=dtype)
            torch.testing.assert_close(native(hidden), linear(hidden), atol=1e-2, rtol=2**-7)


def test_a_token_gets_the_same_output_in_any_company():
    linear = make_maker().linear(torch.nn.Linear(48, 80))
    hidden = torch.randn(13, 48)

    with torch.inference_mode():
        together = linear(hidden)
        alone = torch.cat([linear(row[None]) for row in hidden])

    assert torch.equal(alone, together)


def test_no_kernel_reads_what_is_not_laid_out_for_it():
    linear = make_maker(torch.bfloat16).linear(torch.nn.Linear(48, 80, dtype=torch.bfloat16))

    with pytest.raises(RuntimeError, match=r"of 48 inputs in torch\.bfloat16 got 48 in"):
        linear(torch.randn(3, 48))
    with pytest.raises(RuntimeError, match=r"got 24 in torch\.bfloat16"):
        linear(torch.randn(3, 24, dtype=torch.bfloat16))


def test_several_threads_compute_the_same():
    linear, hidden = torch.nn.Linear(48, 200), torch.randn(13, 48)
    one, three = (
        NativeMaker(make_native(num_threads=count).kernels).linear(linear) for count in (1, 3)
    )

    with torch.inference_mode():
        assert torch.equal(one(hidden), three(hidden))


def test_layers_of_one_input_are_one_and_can_be_added_to_something():
    first, second = torch.nn.Linear(24, 8), torch.nn.Linear(24, 33)
    native = make_maker().linear(first, second)
    hidden, other = torch.randn(5, 24), torch.randn(5, 41)

    with torch.inference_mode():
        expected = other + torch.cat((first(hidden), second(hidden)), dim=-1)
        torch.testing.assert_close(native.add_to(other, hidden), expected)
        turned = other.t().contiguous().t()  # the same, as it lies elsewhere in memory
        torch.testing.assert_close(native.add_to(turned, hidden), expected)


@pytest.mark.parametrize("activation", ["silu", "gelu", "gelu_pytorch_tanh"])
def test_a_gated_layer_computes_what_transformers_does(activation):
    original, hidden = make_mlp(activation), torch.randn(1, 11, 32)

    mlp = GatedMlp.of(original, make_maker())

    with torch.inference_mode():
        torch.testing.assert_close(mlp(hidden), original(hidden), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("num_inner", [2, 20, 40, 44])
def test_a_gated_layer_of_any_size_adds_its_biases(num_inner):
    original, hidden = make_mlp("silu", num_inner), torch.randn(1, 3, 32)

    mlp = GatedMlp.of(original, make_maker())

    with torch.inference_mode():
        torch.testing.assert_close(mlp(hidden), original(hidden), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("width", [16, 24, 96])
def test_a_norm_of_any_width_divides_by_the_root_mean_square(width, dtype):
    maker, weight = make_maker(dtype), torch.randn(width, dtype=dtype)
    hidden = torch.randn(1, 5, width, dtype=dtype)

    normed = maker.norm(weight, 1e-3)(hidden)

    torch.testing.assert_close(normed, RmsNorm(weight, 1e-3)(hidden))


@pytest.mark.parametrize("num_turning", [8, 16, 32])
@pytest.mark.parametrize("has_norm", [True, False], ids=["normed", "as they are"])
def test_heads_turn_in_place_as_in_torch(num_turning, has_norm):
    maker, embeddings = make_maker(), make_embeddings(5, num_turning)
    norm = RmsNorm(torch.randn(3, 32), 1e-3) if has_norm else None
    heads = torch.randn(1, 5, 4, 32)
    turning = heads.narrow(2, 0, 3)
    expected = Rotation().turn(turning.clone(), embeddings, norm)
    untouched = heads[:, :, 3].clone()

    turned = maker.turner().turn(turning, embeddings, norm)

    torch.testing.assert_close(turned, expected)
    assert turned.data_ptr() == heads.data_ptr()
    assert torch.equal(heads[:, :, 3], untouched)


def test_every_linear_layer_of_a_model_is_packed_and_nothing_else():
    model = make_model("llama")

    pack_linears(model, make_maker())

    kinds = [type(module) for module in model.modules()]
    assert kinds.count(NativeLinear) == 2 * 7 + 1
    assert torch.nn.Linear not in kinds


def test_layers_in_another_precision_are_left_alone():
    maker = make_maker(torch.bfloat16)

    assert not maker.can_take(torch.nn.Linear(4, 4))
    assert not maker.can_take(torch.nn.Linear(3, 4, dtype=torch.bfloat16))
    assert maker.can_take(torch.nn.Linear(4, 4, dtype=torch.bfloat16))


def test_keys_and_values_go_where_torch_puts_them():
    shapes = {0: LayerShape(2, 16, 32, torch.bfloat16)}
    kernels = make_native(torch.bfloat16).kernels
    plain, native = (KvCache(shapes, 3, 4, CPU, made).layers[0] for made in (None, kernels))
    heads = torch.randn(1, 3, 5, 48).to(torch.bfloat16)  # [1, T, N, D]; keys are a part of each
    key, value = heads[0, :, :2, :16], heads[0, :, 2:4, 16:]
    slots = torch.tensor([9, 0, 5])

    for cache in (plain, native):
        cache.write(slots, key, value)

    assert torch.equal(native.entries, plain.entries)
