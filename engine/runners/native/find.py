"""`find_native`: the kernels for a precision on this machine, or why there are none."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from engine.loading import Report, report_nowhere
from engine.runners.native.compiler import CompilerError, compile_library
from engine.runners.native.kernels import DTYPES, Kernels, load_kernels


@dataclass(frozen=True, slots=True)
class Native:
    """What there is of our own kernels.

    Attributes:
        kernels: None where there are none.
        reason: why not, and what would help; empty where nobody looked.
    """

    kernels: Kernels | None = None
    reason: str = ""


NO_NATIVE = Native()


def find_native(dtype: torch.dtype, num_threads: int, report: Report = report_nowhere) -> Native:
    """Compile and load the kernels, unless a library of them is there.

    Args:
        num_threads: that torch has, whose OpenMP they share.
    """
    if dtype not in DTYPES:
        name = str(dtype).removeprefix("torch.")
        return Native(reason=f"there are no kernels for {name} (--dtype bfloat16)")
    try:
        return Native(_load(dtype, num_threads, report))
    except CompilerError as error:
        return Native(reason=str(error))
    except (OSError, AttributeError) as error:
        return Native(reason=f"its library cannot be loaded: {error}")


def _load(dtype: torch.dtype, num_threads: int, report: Report) -> Kernels:
    """Open the library; one that cannot be, as with another libc, is compiled anew once.

    Raises:
        CompilerError: it cannot be compiled.
        OSError: what was compiled is no library.
        AttributeError: it is another one; the loader would give it again, since it is open.
    """
    try:
        return load_kernels(compile_library(report), dtype, num_threads)
    except OSError:
        library = compile_library(report, is_anew=True)
        return load_kernels(library, dtype, num_threads)
