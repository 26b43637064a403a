from __future__ import annotations

import json

import pytest
import torch

from engine.runners.torch_trace import TorchTrace


def test_it_writes_down_every_operation_between_two_moments(tmp_path):
    path = tmp_path / "t.json"
    trace = TorchTrace(path)
    torch.zeros(3).cos()
    trace.start()
    torch.zeros(3).sin()
    trace.stop()

    names = {event.get("name") for event in json.loads(path.read_text())["traceEvents"]}

    assert "aten::sin" in names
    assert "aten::cos" not in names


def test_a_file_that_cannot_be_written_is_an_error_of_the_system(tmp_path):
    trace = TorchTrace(tmp_path / "missing" / "t.json")
    trace.start()
    with pytest.raises(FileNotFoundError):
        trace.stop()
