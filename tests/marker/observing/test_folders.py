"""Folders are read as they are carried to another process: their regular files, and not too much of them."""

from __future__ import annotations

import os

import pytest

from autograder.contract.folders import MAX_FILES, MAX_FOLDER_BYTES, FolderError
from autograder.observing.folders import read_folder, show_age, write_folder

OLD = {"run.pt": b"old!"}


def test_folder_that_was_written_is_read_as_it_was(tmp_path):
    folder = {"b": b"1", "a": b"", "c": bytes(range(256))}
    (tmp_path / "left").mkdir()
    (tmp_path / "left" / "over").touch()
    write_folder(tmp_path, folder)
    assert read_folder(tmp_path, {}) == folder


def test_newest_file_comes_last_and_has_the_latest_time(tmp_path):
    write_folder(tmp_path, OLD)
    (tmp_path / "a").write_bytes(b"1")
    now = read_folder(tmp_path, OLD)
    show_age(tmp_path, now)
    assert list(now) == ["run.pt", "a"]
    assert max(tmp_path.iterdir(), key=os.path.getmtime).name == "a"


def test_only_regular_files_of_the_folder_are_read(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (tmp_path / "outside").write_bytes(b"secret")
    (folder / "new").write_bytes(b"state")
    (folder / "subfolder").mkdir()
    os.symlink("new", folder / "latest")
    os.symlink("../outside", folder / "leads out")
    os.symlink("gone", folder / "leads nowhere")
    os.symlink("leads out", folder / "leads to a link")
    os.mkfifo(folder / "pipe")
    assert read_folder(folder, {}) == {"new": b"state", "latest": b"state"}


def test_folder_with_too_many_or_too_large_files_is_refused(tmp_path):
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(MAX_FOLDER_BYTES + 1)
    with pytest.raises(FolderError, match="more than 4 MB"):
        read_folder(tmp_path, {})
    write_folder(tmp_path, {str(k): b"" for k in range(MAX_FILES + 1)})
    with pytest.raises(FolderError, match="more than 256 files"):
        read_folder(tmp_path, {})


@pytest.mark.parametrize("name", ["line\nbreak", "back\\slash", "x" * 201, "\u202e"])
def test_file_with_an_unusual_name_is_refused(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(FolderError, match="unusual name"):
        read_folder(tmp_path, {})
