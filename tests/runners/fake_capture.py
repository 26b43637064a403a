"""A capture that needs no GPU: replaying runs the function again and checks that it is the same.

It refuses what the capture of a CUDA graph refuses or gets wrong without a word:

- the host waits for the device: `.item()`, `.tolist()`, `bool()`, a copy to the host;
- a shape depends on what a tensor holds: `nonzero`, masks as an index;
- a tensor is made of the host's numbers, whose copy would not be recorded;
- at a replay an operator, a number or the place of an input is another than when it was recorded.

An operator is written down with its arguments: a tensor made meanwhile by which operator made it,
one that was there before by its address, all else by its value.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from engine.runners.capture import NUM_WARM_UPS, Run

WAITING = {"_local_scalar_dense", "item", "is_nonzero", "equal", "allclose", "unique_dim"}
BY_DATA = {"nonzero", "masked_select", "_unique2", "unique_consecutive", "bincount", "argwhere"}
FROM_HOST = {"lift_fresh", "lift_fresh_copy", "scalar_tensor"}
PYTHON_WAITS = {
    torch.Tensor.tolist,
    torch.Tensor.item,
    torch.Tensor.numpy,
    torch.Tensor.cpu,
    torch.Tensor.__bool__,
    torch.Tensor.__int__,
    torch.Tensor.__float__,
    torch.Tensor.__index__,
    torch.Tensor.__array__,
}
FROM_PYTHON = {torch.tensor, torch.as_tensor, torch.from_numpy}

Line = tuple[Any, ...]


class FakeCapture:
    """Attributes:
    num_captures, num_replays: so far.
    """

    def __init__(self) -> None:
        self.num_captures = 0
        self.num_replays = 0

    def capture(self, run: Run) -> Run:
        for _ in range(NUM_WARM_UPS):
            run()
        first = Recording()
        with first:
            output = run()
        self.num_captures += 1

        def replay() -> torch.Tensor:
            again = Recording()
            with again:
                result = run()
            self.num_replays += 1
            compare(first.lines, again.lines)
            return output.copy_(result)

        return replay


def compare(first: list[Line], again: list[Line]) -> None:
    """Raises:
    RuntimeError: the operators are not all the same.
    """
    for place, (line, other) in enumerate(zip(first, again, strict=False)):
        if line != other:
            raise RuntimeError(f"operator {place} was recorded as {line}, and now is {other}")
    if len(first) != len(again):
        raise RuntimeError(f"{len(first)} operators were recorded, and now there are {len(again)}")


class Recording:
    """What a function has torch do, while it is entered."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._made: dict[int, tuple[int, int]] = {}
        self._held: list[torch.Tensor] = []  # or another tensor might get the address or the id
        self._modes = _Python(), _Operators(self._note)

    def __enter__(self) -> None:
        for mode in self._modes:
            mode.__enter__()

    def __exit__(self, *error: object) -> None:
        for mode in reversed(self._modes):
            mode.__exit__(*error)

    def _note(self, func: Any, args: Any, output: Any) -> None:
        inputs, _ = tree_flatten(args)
        self.lines.append((str(func), *(self._describe(each) for each in inputs)))
        made, _ = tree_flatten(output)
        for index, tensor in enumerate(made):
            if isinstance(tensor, torch.Tensor) and id(tensor) not in self._made:
                self._held.append(tensor)
                self._made[id(tensor)] = (len(self.lines) - 1, index)

    def _describe(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        where = self._made.get(id(value))
        if where is None:
            self._held.append(value)
            where = ("at", value.data_ptr())
        return (*where, tuple(value.shape), value.stride(), value.dtype)


class _Operators(TorchDispatchMode):
    """Sees each operator that runs, those within composite ones included."""

    def __init__(self, note: Callable[[Any, Any, Any], None]) -> None:
        super().__init__()
        self._note = note

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if is_kernel():
            return func(*args, **kwargs)
        refuse(func, args)
        with self:
            parts = func.decompose(*args, **kwargs)
        if parts is not NotImplemented:
            return parts
        output = func(*args, **kwargs)
        self._note(func, (args, kwargs), output)
        return output


class _Python(TorchFunctionMode):
    """Sees what reads or makes a tensor of the CPU without an operator."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in PYTHON_WAITS and not is_kernel():
            raise RuntimeError(f"{func.__name__} waits for the device")
        if func in FROM_PYTHON:
            raise RuntimeError(f"{func.__name__} copies from the host")
        return func(*args, **(kwargs or {}))


def is_kernel() -> bool:
    """Whether it is Triton's interpreter that asks: on a device, that is the kernel itself."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename.endswith("triton/runtime/interpreter.py"):
            return True
        frame = frame.f_back
    return False


def refuse(func: Any, args: Any) -> None:
    """Raises:
    RuntimeError: a capture cannot hold the operator.
    """
    name, overload = func._schema.name.removeprefix("aten::"), func._overloadname
    if name in WAITING:
        raise RuntimeError(f"{name} waits for the device")
    if name in BY_DATA or (name == "repeat_interleave" and overload == "Tensor"):
        raise RuntimeError(f"the shape that {name} gives depends on data")
    if name in FROM_HOST or (name == "where" and overload.startswith("Scalar")):
        raise RuntimeError(f"{name} copies from the host")
    if name in ("index", "index_put", "index_put_"):
        indices = [each for each in args[1] if each is not None]
        if any(index.dtype in (torch.bool, torch.uint8) for index in indices):
            raise RuntimeError(f"the shape that {name} gives depends on data")
