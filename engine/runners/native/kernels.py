"""`Kernels`: the functions of the compiled library, with the arguments that they read."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

POINTER, COUNT, REAL, FLAG = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float, ctypes.c_int32
DTYPES = {torch.float32: "float32", torch.bfloat16: "bfloat16"}

Kernel = Callable[[ctypes.Structure], None]


class LinearArguments(ctypes.Structure):
    """Of linear.cpp, where they are explained."""

    _fields_ = (
        *((name, POINTER) for name in ("hidden", "weights", "bias", "other", "output")),
        *((name, COUNT) for name in ("num_tokens", "num_inputs", "num_outputs")),
        ("activation", FLAG),
        ("num_threads", FLAG),
    )


class DecodeArguments(ctypes.Structure):
    """Of attention.cpp, where they are explained."""

    _fields_ = (
        *((name, POINTER) for name in ("query", "entries", "output", "sinks", "scores")),
        *((name, POINTER) for name in ("block_tables", "kv_lens")),
        *((name, COUNT) for name in ("num_rows", "table_width", "block_size")),
        *((name, COUNT) for name in ("num_heads", "num_kv_heads", "key_dim", "value_dim")),
        *((name, COUNT) for name in ("row_stride", "head_stride", "window")),
        ("scaling", REAL),
        ("softcap", REAL),
        ("num_scores", COUNT),
        ("num_threads", FLAG),
    )


class NormArguments(ctypes.Structure):
    """Of pointwise.cpp, where they are explained."""

    _fields_ = (
        *((name, POINTER) for name in ("hidden", "weight", "output")),
        *((name, COUNT) for name in ("num_rows", "width")),
        ("epsilon", REAL),
    )


class TurnArguments(ctypes.Structure):
    """Of pointwise.cpp, where they are explained."""

    _fields_ = (
        *((name, POINTER) for name in ("heads", "weights", "cosines", "sines")),
        *((name, COUNT) for name in ("num_tokens", "token_stride", "num_heads", "dims")),
        ("num_turning", COUNT),
        ("epsilon", REAL),
    )


class WriteArguments(ctypes.Structure):
    """Of pointwise.cpp, where they are explained."""

    _fields_ = (
        *((name, POINTER) for name in ("key", "value", "entries", "slots")),
        *((name, COUNT) for name in ("num_tokens", "num_kv_heads", "key_size", "value_size")),
        *((name, COUNT) for name in ("key_token_stride", "key_head_stride")),
        *((name, COUNT) for name in ("value_token_stride", "value_head_stride")),
    )


@dataclass(frozen=True, slots=True)
class Kernels:
    """What the library computes in one precision.

    Each takes the structure of its name; the memory that it points to has to live meanwhile.

    Attributes:
        num_threads: that products and attention run on.
    """

    dtype: torch.dtype
    num_threads: int
    linear: Kernel
    attend: Kernel
    norm: Kernel
    turn: Kernel
    write: Kernel


def load_kernels(library: Path, dtype: torch.dtype, num_threads: int) -> Kernels:
    """Open a compiled library.

    Raises:
        OSError: it is none.
        AttributeError: it is another one.
    """
    functions = ctypes.CDLL(str(library))

    def bind(name: str, arguments: type[ctypes.Structure]) -> Kernel:
        function = getattr(functions, name)
        function.argtypes, function.restype = [ctypes.POINTER(arguments)], None
        kernel: Kernel = function
        return kernel

    kind = DTYPES[dtype]
    return Kernels(
        dtype,
        num_threads,
        linear=bind(f"linear_{kind}", LinearArguments),
        attend=bind(f"attend_{kind}", DecodeArguments),
        norm=bind(f"norm_{kind}", NormArguments),
        turn=bind(f"turn_{kind}", TurnArguments),
        write=bind("write_entries", WriteArguments),
    )
