"""A library is compiled once, and what is missing for it is said."""

from __future__ import annotations

import shutil

import pytest
import torch

from engine.loading import LoadStage, LoadStep
from engine.runners.native.compiler import CompilerError, compile_library, find_compiler
from engine.runners.native.find import find_native
from tests.runners.native_kernels import make_native


def test_a_library_that_is_there_is_not_compiled_again():
    make_native()
    library = compile_library()
    before = library.stat().st_mtime_ns

    assert compile_library() == library
    assert library.stat().st_mtime_ns == before


def test_compiling_is_told_and_finding_is_not(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    steps = []

    compiled = make_native(report=steps.append)
    found = make_native(report=steps.append)

    assert steps == [LoadStep(LoadStage.KERNELS)]
    assert compiled.kernels
    assert found.kernels


def test_a_compiler_of_the_users_choice_is_taken(monkeypatch):
    monkeypatch.setenv("CXX", "true")

    assert find_compiler() == shutil.which("true")


def test_without_a_compiler_it_is_said_what_would_help(monkeypatch):
    monkeypatch.setenv("CXX", "")
    monkeypatch.setenv("PATH", "")

    with pytest.raises(CompilerError, match=r"no C\+\+ compiler is installed \(g\+\+\)"):
        find_compiler()


def test_a_compiler_that_fails_is_quoted(monkeypatch, tmp_path):
    broken = tmp_path / "broken-c++"
    broken.write_text("#!/bin/sh\necho 'unknown processor' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CXX", str(broken))

    assert find_native(torch.float32, 1).reason == (
        f"{broken} cannot compile the kernels: unknown processor"
    )


def test_a_compiler_that_makes_nothing_is_told(monkeypatch):
    monkeypatch.setenv("CXX", "true")

    assert "cannot compile into" in find_native(torch.float32, 1).reason


def test_a_precision_without_kernels_is_told_without_a_compiler(monkeypatch):
    monkeypatch.setenv("CXX", "none")

    assert find_native(torch.float16, 1).reason == (
        "there are no kernels for float16 (--dtype bfloat16)"
    )
