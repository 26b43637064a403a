"""What goes between host and device in a pass, told without a device by whose memory is whose.

The host's side is what `host_memory` gave; everything else is the device's. On a CPU a copy between
the two is an operator like any other, and is counted here; what makes a host wait is refused.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from engine.runners.inputs import fetching, staging
from engine.runners.inputs.fences import host_memory
from tests.runners.fake_capture import (
    BY_DATA,
    FROM_PYTHON,
    PYTHON_WAITS,
    WAITING,
    is_kernel,
)


class HostSide:
    """Knows the memory of the host in all that is made after it."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._places: set[int] = set()
        self._held: list[torch.Tensor] = []  # or another tensor might get the address
        for module in (staging, fetching):
            patch.setattr(module, "host_memory", self._make)

    def __contains__(self, tensor: torch.Tensor) -> bool:
        return tensor.untyped_storage().data_ptr() in self._places

    def _make(self, num_bytes: int, device: torch.device) -> torch.Tensor:
        memory = host_memory(num_bytes, device)
        self._held.append(memory)
        self._places.add(memory.untyped_storage().data_ptr())
        return memory


class Traffic:
    """Counts while it is entered.

    Attributes:
        seen: `to device`, `to host`, and `waits in NAME` for each call that makes the host wait.
    """

    def __init__(self, host: HostSide) -> None:
        self.seen: Counter[str] = Counter()
        self._modes = _Python(host, self.seen), _Operators(host, self.seen)

    def __enter__(self) -> Counter[str]:
        for mode in self._modes:
            mode.__enter__()
        return self.seen

    def __exit__(self, *error: object) -> None:
        for mode in reversed(self._modes):
            mode.__exit__(*error)


class _Operators(TorchDispatchMode):
    def __init__(self, host: HostSide, seen: Counter[str]) -> None:
        super().__init__()
        self._host = host
        self._seen = seen

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func._schema.name.removeprefix("aten::")
        if name in WAITING | BY_DATA and not is_kernel():
            self._seen[f"waits in {name}"] += 1
        if name == "copy_":
            target, source = args[0] in self._host, args[1] in self._host
            if target != source:
                self._seen["to host" if target else "to device"] += 1
        return func(*args, **(kwargs or {}))


class _Python(TorchFunctionMode):
    """Sees what reads a tensor of the CPU without an operator."""

    def __init__(self, host: HostSide, seen: Counter[str]) -> None:
        super().__init__()
        self._host = host
        self._seen = seen

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in PYTHON_WAITS and args[0] not in self._host and not is_kernel():
            self._seen[f"waits in {func.__name__}"] += 1
        if func in FROM_PYTHON and not is_kernel():
            self._seen["to device"] += 1
        return func(*args, **(kwargs or {}))
