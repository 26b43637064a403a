"""Which of the compiled libraries stay in the cache."""

from __future__ import annotations

import os
import time

from engine.runners.native.kept import delete_superseded, is_whole, note_use, seal

HOUR, DAY = 3600.0, 86_400.0


def make(path, made_ago, used_ago):
    now = time.time()
    path.write_bytes(b"library")
    os.utime(path, (now - used_ago, now - made_ago))
    return path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_library_without_its_end_is_not_whole(tmp_path):
    library = make(tmp_path / "kernels-a.so", 0, 0)
    assert not is_whole(library)
    seal(library)
    assert is_whole(library)
    library.write_bytes(library.read_bytes()[:-1])
    assert not is_whole(library)
    assert not is_whole(tmp_path / "none.so")


def test_what_nobody_used_for_a_week_goes_and_what_is_used_stays_however_old(tmp_path):
    library = make(tmp_path / "kernels-new.so", 0, 0)
    make(tmp_path / "kernels-unused.so", 9 * DAY, 8 * DAY)
    make(tmp_path / "kernels-in-use.so", 90 * DAY, 6 * DAY)
    make(tmp_path / "notes.so", 90 * DAY, 90 * DAY)

    delete_superseded(library)

    assert names(tmp_path) == ["kernels-in-use.so", "kernels-new.so", "notes.so"]


def test_of_many_young_ones_only_those_used_last_stay(tmp_path):
    library = make(tmp_path / "kernels-new.so", 0, 0)
    for number in range(20):
        make(tmp_path / f"kernels-{number:02}.so", HOUR * (number + 1), HOUR * (number + 1))

    delete_superseded(library)

    assert names(tmp_path) == [*(f"kernels-{number:02}.so" for number in range(7)), library.name]


def test_what_a_killed_compiler_left_goes_and_what_one_works_on_stays(tmp_path):
    library = make(tmp_path / "kernels-new.so", 0, 0)
    for name, ago in (("compiling-dead", 2 * HOUR), ("compiling-alive", 60.0)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "linear.o").touch()
        os.utime(folder, (time.time() - ago,) * 2)

    delete_superseded(library)

    assert names(tmp_path) == ["compiling-alive", library.name]


def test_a_use_is_noted_without_making_the_library_look_new(tmp_path):
    library = make(tmp_path / "kernels-a.so", 5 * DAY, 5 * DAY)
    made = library.stat().st_mtime
    note_use(library)
    assert library.stat().st_atime > time.time() - 60
    assert library.stat().st_mtime == made
    note_use(tmp_path / "gone.so")
