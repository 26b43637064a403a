"""`Capture`: record what a function launches on the device, to launch it again in one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch

Run = Callable[[], torch.Tensor]
NUM_WARM_UPS = 2  # what is made at the first call, such as a workspace, is not to be recorded


class Capture(Protocol):
    """Records functions that read and write the same memory at every call."""

    def capture(self, run: Run) -> Run:
        """Run a function some times and record it.

        Returns:
            What does the same again; its result is always the same tensor, overwritten.

        Raises:
            RuntimeError: the function does what cannot be recorded, such as waiting for the
                device.
        """
        ...


class CudaCapture:
    """CUDA graphs that share one pool of memory, since no two of them run at once.

    Only what this thread launches is recorded, and only its calls can spoil a recording.
    """

    def __init__(self, device: torch.device) -> None:
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._pool = torch.cuda.graph_pool_handle()

    def capture(self, run: Run) -> Run:
        current = torch.cuda.current_stream(self._stream.device)
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            for _ in range(NUM_WARM_UPS):
                run()
        current.wait_stream(self._stream)
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(
                graph, pool=self._pool, stream=self._stream, capture_error_mode="thread_local"
            ):
                output = run()
        finally:
            torch.cuda.set_stream(current)  # torch stays on its own where a recording fails

        def replay() -> torch.Tensor:
            graph.replay()
            return output

        return replay
