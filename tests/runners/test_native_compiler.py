"""A library is compiled once, and what is missing for it is said."""

from __future__ import annotations

import os
import shutil
import time

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


@pytest.fixture
def copying(monkeypatch, tmp_path):
    """A cache of its own, and a compiler that only copies what was compiled before."""
    make_native()
    script = tmp_path / "copying-c++"
    script.write_text(f'#!/bin/sh\nfor last; do :; done\ncp "{compile_library()}" "$last"\n')
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "batchscope"


def test_a_library_that_lost_its_end_is_compiled_anew(copying):
    library = compile_library()
    content = library.read_bytes()
    library.write_bytes(content[: len(content) // 2])  # to open it would kill the process
    steps = []

    assert find_native(torch.float32, 1, steps.append).kernels
    assert steps == [LoadStep(LoadStage.KERNELS)]
    assert library.read_bytes() == content


def test_a_library_that_cannot_be_opened_is_compiled_anew(copying):
    library = compile_library()
    content = library.read_bytes()
    library.write_bytes(bytes(64) + content[64:])
    steps = []

    assert find_native(torch.float32, 1, steps.append).kernels
    assert steps == [LoadStep(LoadStage.KERNELS)]
    assert library.read_bytes() == content


def test_one_that_stays_of_no_use_is_compiled_anew_only_once(monkeypatch, copying, tmp_path):
    script = tmp_path / "useless-c++"
    script.write_text('#!/bin/sh\nfor last; do :; done\necho useless > "$last"\n')
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    steps = []

    native = find_native(torch.float32, 1, steps.append)

    assert native.kernels is None
    assert native.reason.startswith("its library cannot be loaded: ")
    assert len(steps) == 2


def test_a_new_library_takes_the_place_of_old_ones_and_of_nothing_else(copying):
    copying.mkdir()
    names = ("kernels-old.so", "kernels-young.so", "notes.so")
    for name in names:
        (copying / name).touch()
    for name in ("kernels-old.so", "notes.so"):
        os.utime(copying / name, (0, 0))

    library = compile_library()

    left = sorted(path.name for path in copying.iterdir())
    assert left == sorted([library.name, "kernels-young.so", "notes.so"])


def test_that_a_library_is_used_is_noted_in_its_file(copying):
    library = compile_library()
    os.utime(library, (0, 0))

    compile_library()

    assert library.stat().st_atime > time.time() - 60
    assert library.stat().st_mtime == 0


def test_a_compiler_of_the_users_choice_is_taken(monkeypatch):
    monkeypatch.setenv("CXX", "true")

    assert find_compiler() == shutil.which("true")


def test_what_goes_with_the_compiler_of_choice_is_kept(monkeypatch):
    monkeypatch.setenv("CXX", "env true")

    assert find_compiler() == f"{shutil.which('env')} true"


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
