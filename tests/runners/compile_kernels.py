"""Compile the Triton kernels for a device that need not be here; print what each takes, as JSON.

    python -m tests.runners.compile_kernels 90

A program of its own, since where Triton interprets, as in the other tests, it cannot compile.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from tempfile import NamedTemporaryFile
from typing import Any

import torch
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, CompiledKernel, compile

from engine.runners.kv_cache import LayerShape
from engine.runners.triton.fused_kernels import gate_kernel, norm_kernel, turn_kernel
from engine.runners.triton.paged_kernel import (
    UNALIGNED,
    UNSPECIALISED,
    attend_kernel,
    combine_kernel,
)
from engine.runners.triton.paged_launch import (
    LayerKind,
    Splitting,
    attend_constants,
    combine_constants,
)
from engine.runners.triton.write_kernel import write_kernel

TYPES = {torch.float32: "fp32", torch.bfloat16: "bf16", torch.float16: "fp16"}
IN_MODEL_DTYPE = ("query", "keys", "values", "output", "sinks")
IN_INT32 = ("block_tables", "kv_lens", "num_computed", "query_starts")
IN_FLOAT32 = ("partial_output", "partial_max", "partial_sum")
INSTRUCTIONS = ("mma", "wgmma", "tf32", "cp.async")


def make_kind(
    dtype: torch.dtype,
    heads: tuple[int, int],
    dims: tuple[int, int],
    block_size: int = 16,
    features: str = "",
) -> LayerKind:
    shape = LayerShape(heads[1], *dims, dtype)
    has = {f"has_{name}": name in features for name in ("window", "softcap", "sinks")}
    return LayerKind(shape, heads[0], block_size, **has)


KINDS = {
    "Llama 3.1 8B": make_kind(torch.bfloat16, (32, 8), (128, 128)),
    "Gemma 2 9B": make_kind(torch.bfloat16, (16, 8), (256, 256), features="window softcap"),
    "gpt-oss 20B": make_kind(torch.bfloat16, (64, 8), (64, 64), features="window sinks"),
    "DeepSeek V3": make_kind(torch.bfloat16, (16, 16), (192, 128), block_size=32),
    "the widest": make_kind(torch.bfloat16, (16, 4), (512, 512)),
    "Llama 3.1 8B in float16": make_kind(torch.float16, (32, 8), (128, 128), block_size=8),
    "all in float16": make_kind(torch.float16, (16, 8), (64, 64), 32, "window softcap sinks"),
    "SmolLM2 in float32": make_kind(torch.float32, (9, 3), (64, 64)),
    "all in float32": make_kind(torch.float32, (8, 2), (256, 256), 256, "window softcap sinks"),
}


SMALL: list[tuple[Any, dict[str, object], int]] = [  # as Llama 3.1 8B or Qwen3 launches them
    (norm_kernel, {"WIDTH": 4096, "PAD": 4096, "HAS_ADDEND": True}, 8),
    (
        turn_kernel,
        {"NUM_HEADS": 40, "HEAD_DIM": 128, "NUM_ANGLES": 128, "PAD": 128, "HAS_NORM": True},
        1,
    ),
    (gate_kernel, {"WIDTH": 14_336, "BLOCK": 1024, "ACTIVATION": "swish"}, 4),
    (gate_kernel, {"WIDTH": 14_336, "BLOCK": 1024, "ACTIVATION": "gelu none"}, 4),
    (gate_kernel, {"WIDTH": 14_336, "BLOCK": 1024, "ACTIVATION": "gelu tanh"}, 4),
    (
        write_kernel,
        {"NUM_KV_HEADS": 8, "KEY_DIM": 128, "VALUE_DIM": 128, "KEY_PAD": 128, "VALUE_PAD": 128},
        1,
    ),
]


def compile_all(capability: int) -> Iterator[dict[str, Any]]:
    for name, kind in KINDS.items():
        for is_decode in (True, False):
            tiles = kind.tiles(is_decode=is_decode)
            constants = attend_constants(
                kind, tiles, Splitting(), is_decode=is_decode, is_interpreted=False
            )
            options = {"num_warps": tiles.num_warps, "num_stages": tiles.num_stages}
            compiled = build(attend_kernel, kind, constants, capability, options)
            what = f"{name}, {'decode' if is_decode else 'chunks'}"
            yield report(what, compiled, TYPES[kind.shape.dtype])
    kind = KINDS["all in float32"]
    constants = combine_constants(kind, kind.tiles(is_decode=True), Splitting())
    yield report("combine", build(combine_kernel, kind, constants, capability, {}), "fp32")
    for dtype in ("bf16", "fp16", "fp32"):
        for kernel, constants, num_warps in SMALL:
            compiled = build_small(kernel, dtype, constants, capability, num_warps)
            yield report(f"{kernel.__name__} in {dtype}", compiled, dtype)


def build_small(
    kernel: Any, dtype: str, constants: dict[str, object], capability: int, num_warps: int
) -> CompiledKernel:
    """Compile a kernel whose tensors are all of one type, but for slots."""
    types = {"slots": "*i64", "epsilon": "fp32"}
    signature, attributes = {}, {}
    for index, name in enumerate(kernel.arg_names):
        default = "i32" if name.endswith("stride") else f"*{dtype}"
        signature[name] = "constexpr" if name in constants else types.get(name, default)
        if signature[name] not in ("constexpr", "fp32", "*i64"):
            attributes[(index,)] = [["tt.divisibility", 16]]
    source = ASTSource(kernel, signature, constants, attributes)
    target = GPUTarget("cuda", capability, 32)
    return compile(source, target=target, options={"num_warps": num_warps})


def build(
    kernel: Any,
    kind: LayerKind,
    constants: dict[str, object],
    capability: int,
    options: dict[str, int],
) -> CompiledKernel:
    """Compile as a launch does in which sizes and addresses are multiples of 16."""
    constants = constants | ({} if kind.has_sinks else {"sinks": None})
    signature, attributes = {}, {}
    for index, name in enumerate(kernel.arg_names):
        signature[name] = "constexpr" if name in constants else type_of(name, kind)
        is_aligned = signature[name] not in ("constexpr", "fp32")
        if is_aligned and name not in UNSPECIALISED + UNALIGNED:
            attributes[(index,)] = [["tt.divisibility", 16]]
    source = ASTSource(kernel, signature, constants, attributes)
    return compile(source, target=GPUTarget("cuda", capability, 32), options=options)


def type_of(name: str, kind: LayerKind) -> str:
    if name in IN_MODEL_DTYPE:
        return f"*{TYPES[kind.shape.dtype]}"
    if name in IN_INT32:
        return "*i32"
    if name in IN_FLOAT32:
        return "*fp32"
    return "fp32" if name in ("scale", "softcap") else "i32"


def report(name: str, compiled: CompiledKernel, dtype: str) -> dict[str, Any]:
    return {
        "name": name,
        "dtype": dtype,
        "shared": compiled.metadata.shared,
        "stack": stack_of(compiled.asm["cubin"]),
        "uses": [word for word in INSTRUCTIONS if word in compiled.asm["ptx"]],
    }


def stack_of(cubin: bytes) -> int:
    """Bytes that a thread keeps in memory because its registers do not suffice."""
    with NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        command = [knobs.nvidia.cuobjdump.path, "--dump-resource-usage", file.name]
        usage = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return int(re.findall(r"STACK:(\d+)", usage)[0])


if __name__ == "__main__":
    json.dump(list(compile_all(int(sys.argv[1]))), sys.stdout)
