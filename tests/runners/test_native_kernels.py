"""What Python hands to the compiled kernels is what they read."""

from __future__ import annotations

import ctypes

import pytest

from engine.runners.native.compiler import compile_library
from engine.runners.native.kernels import (
    DecodeArguments,
    LinearArguments,
    NormArguments,
    TurnArguments,
    WriteArguments,
)
from tests.runners.native_kernels import make_native

STRUCTURES = (DecodeArguments, LinearArguments, NormArguments, TurnArguments, WriteArguments)


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda structure: structure.__name__)
def test_a_structure_is_as_large_as_the_compilers(structure):
    make_native()
    size = getattr(ctypes.CDLL(str(compile_library())), f"sizeof_{structure.__name__}")
    size.restype = ctypes.c_int64

    assert ctypes.sizeof(structure) == size()
