"""The fake capture notices a Triton launch that a graph would repeat as it was."""

from __future__ import annotations

import pytest
import torch

from tests.runners.fake_capture import FakeCapture

pytest.importorskip("triton", reason="triton is not installed")
import triton
import triton.language as tl

SOURCE = torch.tensor([3.0, 0.0, 2.0, 1.0])


@triton.jit
def scale_kernel(source, output, factor, size: tl.constexpr):
    at = tl.program_id(0) * size + tl.arange(0, size)
    tl.store(output + at, tl.load(source + at) * factor)


def launch(source=SOURCE, factor=2.0, grid=(2,), size=2, output=None) -> torch.Tensor:
    output = torch.zeros_like(source) if output is None else output
    scale_kernel[grid](source, output, factor, size=size)
    return output


def test_a_launch_is_repeated_on_what_its_inputs_hold_now():
    source, capture = SOURCE.clone(), FakeCapture()
    replay = capture.capture(lambda: launch(source))
    source.add_(1)

    assert replay().tolist() == [8.0, 2.0, 6.0, 4.0]
    assert capture.num_launches == 1


CHANGES = {
    "a number": {"factor": 3.0},
    "the grid": {"grid": (1,)},
    "a grid that is asked for": {"grid": lambda arguments: (1,)},
    "a constant": {"size": 4, "grid": (1,)},
    "the place of an input": {"source": SOURCE.clone()},
    "the place of an output": {"output": torch.zeros(4)},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_launch_that_changes_is_noticed(change):
    changes = iter([{}, {}, {}, change])
    replay = FakeCapture().capture(lambda: launch(**next(changes)))

    with pytest.raises(RuntimeError, match=r"operator \d+ was recorded as"):
        replay()


def test_a_number_that_comes_from_a_tensor_between_launches_is_refused():
    with pytest.raises(RuntimeError, match="item waits"):
        FakeCapture().capture(lambda: launch(factor=SOURCE.sum().item()))


def test_one_launch_more_is_noticed():
    counts = iter([1, 1, 1, 2])

    def run() -> torch.Tensor:
        output = torch.zeros(4)
        for _ in range(next(counts)):
            launch(output=output)
        return output

    with pytest.raises(RuntimeError, match="operators were recorded, and now there are"):
        FakeCapture().capture(run)()


def test_another_kernel_is_noticed():
    @triton.jit
    def other_kernel(source, output, factor, size: tl.constexpr):
        at = tl.program_id(0) * size + tl.arange(0, size)
        tl.store(output + at, tl.load(source + at) + factor)

    kernels = iter([scale_kernel, scale_kernel, scale_kernel, other_kernel])

    def run() -> torch.Tensor:
        output = torch.zeros(4)
        next(kernels)[(2,)](SOURCE, output, 2.0, size=2)
        return output

    with pytest.raises(RuntimeError, match="launch scale_kernel"):
        FakeCapture().capture(run)()
