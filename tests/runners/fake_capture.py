"""A capture that needs no GPU: replaying runs the function again and checks that it is the same.

It refuses what the capture of a CUDA graph refuses or gets wrong without a word:

- the host waits for the device: `.item()`, `.tolist()`, `bool()`, a tensor as text, `synchronize`;
- something is copied between the host and the device: `.to("cpu")`, `copy_` into or out of the
  host's memory, a tensor made of the host's numbers;
- a shape depends on what a tensor holds: `nonzero`, masks as an index;
- at a replay an operator, a Triton launch, its grid, a number or the place of an input is another
  than when it was recorded.

An operator is written down with its arguments: a tensor made meanwhile by which operator made it,
one that was there before by its address, all else by its value. So is a launch, with its grid;
what happens in the interpreted kernel itself is the device's own affair.

All tensors lie on the CPU. What the captured function says is on the device is told from the host
by its index: while a capture is under way, a tensor says that it lies on `cpu:0`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Container
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
    torch.Tensor.__repr__,
    torch.Tensor.__format__,
}
FROM_PYTHON = {torch.tensor, torch.as_tensor, torch.from_numpy}
ASKS_WHERE = {torch.Tensor.device.__get__}
DEVICE = torch.device("cpu", 0)
SYNCHRONIZING = (torch.cpu, torch.cuda, torch.accelerator)
INTERPRETER = "triton.runtime.interpreter"

Line = tuple[Any, ...]


class FakeCapture:
    """Args:
        host: knows which tensors lie in the host's memory.

    Attributes:
        num_captures, num_replays: so far.
        num_launches: of Triton kernels, in all that was recorded.
    """

    def __init__(self, host: Container[torch.Tensor] = ()) -> None:
        self.num_captures = 0
        self.num_replays = 0
        self.num_launches = 0
        self._host = host

    def capture(self, run: Run) -> Run:
        for _ in range(NUM_WARM_UPS):
            run()
        first = Recording(self._host)
        with first:
            output = run()
        self.num_captures += 1
        self.num_launches += sum(line[0].startswith("launch") for line in first.lines)

        def replay() -> torch.Tensor:
            again = Recording(self._host)
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
    """What a function has torch and Triton do, while it is entered."""

    def __init__(self, host: Container[torch.Tensor]) -> None:
        self.lines: list[Line] = []
        self._made: dict[int, tuple[int, int]] = {}
        self._held: list[torch.Tensor] = []  # or another tensor might get the address or the id
        operators = _Operators(self._note, host)
        self._modes = _Python(), operators, _Launches(self._note_launch), _Waits()

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

    def _note_launch(self, name: str, grid: Any, arguments: dict[str, Any]) -> None:
        described = {key: self._describe(value) for key, value in arguments.items()}
        self.lines.append((f"launch {name}", grid, described))

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

    def __init__(
        self, note: Callable[[Any, Any, Any], None], host: Container[torch.Tensor]
    ) -> None:
        super().__init__()
        self._note = note
        self._host = host

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if is_kernel():
            return func(*args, **kwargs)
        refuse(func, args, self._host)
        with self:
            parts = func.decompose(*args, **kwargs)
        if parts is not NotImplemented:
            return parts
        output = func(*args, **kwargs)
        self._note(func, (args, kwargs), output)
        return output


class _Python(TorchFunctionMode):
    """Sees what reads, makes or moves a tensor of the CPU without an operator."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        problem = why_not(func, args, kwargs)
        if problem and not is_kernel():
            raise RuntimeError(f"{func.__name__} {problem}")
        return DEVICE if func in ASKS_WHERE and not is_kernel() else func(*args, **kwargs)


class _Launches:
    """Sees each launch of a kernel that is interpreted."""

    def __init__(self, note: Callable[[str, Any, dict[str, Any]], None]) -> None:
        self._note = note
        self._undo: Callable[[], None] = nothing

    def __enter__(self) -> None:
        interpreter = sys.modules.get(INTERPRETER)
        if interpreter is None:
            return  # then there are no kernels yet either
        kind, note = interpreter.GridExecutor, self._note
        launch = kind.__call__

        def noted(executor: Any, *args: Any, **kwargs: Any) -> None:
            arguments = dict(zip(executor.arg_names, args, strict=False)) | kwargs
            grid = executor.grid(arguments) if callable(executor.grid) else executor.grid
            note(executor.fn.__qualname__, grid, arguments)
            launch(executor, *args, **kwargs)

        kind.__call__ = noted
        self._undo = lambda: setattr(kind, "__call__", launch)

    def __exit__(self, *error: object) -> None:
        self._undo()


class _Waits:
    """Refuses calls that wait for the device and know no tensor."""

    def __init__(self) -> None:
        self._before = [module.synchronize for module in SYNCHRONIZING]

    def __enter__(self) -> None:
        def synchronize(*_: object) -> None:
            raise RuntimeError("synchronize waits for the device")

        for module in SYNCHRONIZING:
            module.synchronize = synchronize

    def __exit__(self, *error: object) -> None:
        for module, before in zip(SYNCHRONIZING, self._before, strict=True):
            module.synchronize = before


def nothing() -> None:
    """Do nothing."""


def why_not(func: Any, args: Any, kwargs: dict[str, Any]) -> str:
    """What a capture cannot hold about a call; empty for nothing."""
    if func in PYTHON_WAITS:
        return "waits for the device"
    if func in FROM_PYTHON:
        return "copies from the host"
    if func is torch.Tensor.to and any(map(is_host, (*args[1:], *kwargs.values()))):
        return "copies to the host"
    return ""


def is_host(where: Any) -> bool:
    """Whether an argument of `Tensor.to` names the host."""
    if isinstance(where, str):
        return where == "cpu"
    return isinstance(where, torch.device) and where == torch.device("cpu")


def is_kernel() -> bool:
    """Whether it is Triton's interpreter that asks: on a device, that is the kernel itself."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_filename.endswith("triton/runtime/interpreter.py"):
            return True
        frame = frame.f_back
    return False


def refuse(func: Any, args: Any, host: Container[torch.Tensor]) -> None:
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
    if name == "copy_" and (args[0] in host) is not (args[1] in host):
        raise RuntimeError(f"copy_ copies {'to' if args[0] in host else 'from'} the host")
    if name in ("index", "index_put", "index_put_"):
        indices = [each for each in args[1] if each is not None]
        if any(index.dtype in (torch.bool, torch.uint8) for index in indices):
            raise RuntimeError(f"the shape that {name} gives depends on data")
