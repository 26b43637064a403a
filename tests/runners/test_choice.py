"""The way to attend is chosen by what there is, and a refusal says what would help."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from engine.config import ConfigError
from engine.runners.attention.choice import Choice, Demands, Platform, choose

H200 = Platform("cuda", (9, 0), True, False, True, "2.13.0")
CPU = Platform("cpu", (0, 0), True, False, True, "2.13.0")
NATIVE = replace(CPU, no_native="")
LLAMA = Demands(torch.bfloat16, 16, frozenset({(128, 128)}), has_softcap=False, has_sinks=False)
IN_LARGE_BLOCKS = replace(LLAMA, block_size=256)
NO_TRITON = replace(H200, has_triton=False)
MISSING = "not triton: triton is not installed (pip install triton)"


def test_a_cuda_device_with_triton_takes_it():
    assert choose("auto", H200, LLAMA) == Choice("triton")


def test_a_cpu_gathers_with_nothing_to_regret():
    assert choose("auto", CPU, LLAMA) == Choice("gather")
    assert choose("auto", replace(CPU, is_interpreting=True), LLAMA) == Choice("gather")


def test_a_cpu_with_kernels_of_its_own_takes_them_and_else_says_what_is_missing():
    assert choose("auto", NATIVE, LLAMA) == Choice("native")
    assert choose("auto", replace(NATIVE, no_native="no compiler"), LLAMA) == Choice(
        "gather", "not native: no compiler"
    )
    assert choose("auto", NATIVE, replace(LLAMA, dims=frozenset({(24, 24)}))) == Choice(
        "gather", "not native: heads of 24 dimensions are no multiple of 16"
    )
    assert choose("auto", replace(NATIVE, native_dtype=torch.float32), LLAMA) == Choice(
        "gather",
        "not native: its kernels are for torch.float32, and the keys in torch.bfloat16",
    )


def test_without_triton_the_next_best_is_taken_and_the_reason_kept():
    assert choose("auto", NO_TRITON, IN_LARGE_BLOCKS) == Choice("varlen", MISSING)
    blocks = "blocks of 16 tokens are no multiple of 256 (block_size = 256 allows it)"
    assert choose("auto", NO_TRITON, LLAMA) == Choice("gather", f"{MISSING}; not varlen: {blocks}")


def test_an_old_device_gathers():
    reason = "not triton or varlen: it needs compute capability 8.0, and this device has 7.5"

    assert choose("auto", replace(H200, capability=(7, 5)), LLAMA) == Choice("gather", reason)


@pytest.mark.parametrize("name", ["triton", "varlen", "gather"])
def test_a_way_that_can_is_taken_when_asked_for(name):
    assert choose(name, H200, IN_LARGE_BLOCKS) == Choice(name)


def test_triton_interprets_on_a_cpu_where_it_is_told_to():
    assert choose("triton", replace(CPU, is_interpreting=True), LLAMA) == Choice("triton")


@pytest.mark.parametrize(
    ("name", "platform", "demands", "problem"),
    [
        ("triton", NO_TRITON, LLAMA, "triton is not installed (pip install triton)"),
        ("triton", CPU, LLAMA, "it needs a CUDA device, and this is cpu"),
        (
            "triton-tuned",
            replace(CPU, is_interpreting=True),
            LLAMA,
            "it needs a CUDA device, and this is cpu",
        ),
        (
            "triton",
            H200,
            replace(LLAMA, dims=frozenset({(576, 512)})),
            "heads of 576 dimensions are more than its 512",
        ),
        ("varlen", CPU, LLAMA, "it needs a CUDA device, and this is cpu"),
        (
            "varlen",
            replace(H200, has_varlen=False, torch="2.11.0"),
            LLAMA,
            "torch 2.11.0 has no varlen_attn for a paged cache (torch 2.13 has)",
        ),
        ("varlen", H200, LLAMA, "blocks of 16 tokens are no multiple of 256"),
        (
            "varlen",
            H200,
            replace(IN_LARGE_BLOCKS, dtype=torch.float32),
            "it cannot do float32 (--dtype bfloat16)",
        ),
        (
            "varlen",
            H200,
            replace(IN_LARGE_BLOCKS, has_softcap=True),
            "the model's attention has softcap, which it cannot do",
        ),
        (
            "varlen",
            H200,
            replace(IN_LARGE_BLOCKS, has_sinks=True),
            "the model's attention has sinks, which it cannot do",
        ),
        (
            "varlen",
            H200,
            replace(IN_LARGE_BLOCKS, dims=frozenset({(192, 128)})),
            "the model's keys have 192 dimensions and its values 128",
        ),
        ("native", H200, LLAMA, "it needs a CPU, and this is cuda"),
        ("native", CPU, LLAMA, "its kernels have not been loaded"),
        (
            "varlen",
            H200,
            replace(IN_LARGE_BLOCKS, dims=frozenset({(512, 512)})),
            "it takes multiples of 8 up to 256 dimensions, not 512",
        ),
    ],
)
def test_a_way_that_cannot_is_refused_with_the_reason(name, platform, demands, problem):
    with pytest.raises(ConfigError) as caught:
        choose(name, platform, demands)

    assert str(caught.value).startswith(f"--attention {name}: {problem}")
    assert str(caught.value).endswith("; or take --attention auto")


def test_a_name_that_is_none_is_refused_with_the_nearest():
    with pytest.raises(ConfigError, match=r"unknown attention 'tritn'; did you mean 'triton'\?"):
        choose("tritn", H200, LLAMA)
