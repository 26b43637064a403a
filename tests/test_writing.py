import pytest

from engine.config import ConfigError
from tuiapp.writing import check_writable, make_folder, write_file


def test_a_file_that_can_be_written_is_left_as_it_was(tmp_path):
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text("kept")
    check_writable(old)
    check_writable(new)
    assert old.read_text() == "kept"
    assert not new.exists()


def test_a_file_in_no_folder_is_refused_by_name(tmp_path):
    path = tmp_path / "nowhere" / "x.json"
    for refuse in (lambda: check_writable(path), lambda: write_file(path, "")):
        with pytest.raises(ConfigError, match=r"x\.json: cannot be written: No such file"):
            refuse()


def test_a_folder_below_a_file_is_refused_by_name(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match=r"below: cannot be made: Not a directory"):
        make_folder(tmp_path / "file" / "below")
