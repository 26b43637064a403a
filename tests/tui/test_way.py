"""How passes are computed is told wherever runs are."""

from __future__ import annotations

from dataclasses import replace

from engine.events import EngineInfo
from tuiapp.view.way import tell_way

CPU = EngineInfo("m", "cpu", "float32", "native paged", 1000, 4096, 256, 16)


def test_threads_are_counted_where_they_compute():
    assert tell_way(CPU) == "attention by native paged, 1 thread"
    assert tell_way(replace(CPU, num_threads=2)) == "attention by native paged, 2 threads"
    on_cuda = replace(CPU, device_uuid="u", attention="paged triton", graphs="off: --enforce-eager")
    assert tell_way(on_cuda) == "attention by paged triton, CUDA graphs: off: --enforce-eager"


def test_a_compiled_model_is_said_to_be_one():
    compiled = replace(CPU, compilation="torch.compile, which makes a CPU slower")
    assert tell_way(compiled).endswith("1 thread, torch.compile, which makes a CPU slower")


def test_an_engine_that_computes_nothing_has_no_way():
    assert tell_way(replace(CPU, attention="-")) == ""
