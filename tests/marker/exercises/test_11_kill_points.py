"""The states that a kill can leave a folder in: half-written files, and everything between two calls."""

from __future__ import annotations

import os
import sys
import threading

import pytest

from autograder.exercises.unit_11_running_it.observing.kill_points import interrupted
from autograder.observing.folders import write_folder

OLD = {"run.pt": b"old!"}


@pytest.fixture
def folder(tmp_path):
    write_folder(tmp_path, OLD)
    return tmp_path


def moments_of(folder, save):
    with interrupted(folder, OLD) as moments:
        save(folder / "run.pt")
    return moments


def test_a_kill_while_a_file_is_written_in_place_leaves_part_of_it(folder):
    assert moments_of(folder, lambda path: path.write_bytes(b"new!")) == [{"run.pt": b"ne"}]


def test_a_kill_while_a_file_is_replaced_leaves_the_old_one_or_the_new_one(folder):
    def save(path):
        new = path.with_suffix(".new")
        new.write_bytes(b"new!")
        os.replace(new, path)

    assert moments_of(folder, save) == [OLD | {"run.new": b"ne"}, {"run.pt": b"new!"}]


def test_a_kill_between_removing_and_writing_a_file_leaves_nothing(folder):
    def save(path):
        path.unlink()
        path.write_bytes(b"new!")

    assert moments_of(folder, save) == [{}, {"run.pt": b"ne"}]


def test_a_file_that_is_still_written_after_its_renaming_can_be_cut_short(folder):
    def save(path):
        with open(path.with_suffix(".new"), "wb") as file:
            path.with_suffix(".new").replace(path)
            file.write(b"new!")

    assert moments_of(folder, save)[-1] == {"run.pt": b"ne"}


def test_of_two_files_written_in_turn_at_most_one_is_left_half_written(folder):
    def save(path):
        path.write_bytes(b"new!")
        path.with_suffix(".2").write_bytes(b"more")

    assert moments_of(folder, save) == [{"run.pt": b"ne"}, {"run.pt": b"new!", "run.2": b"mo"}]


@pytest.fixture
def hasty_threads():
    """Threads that take turns every ten microseconds, so that one acts in the middle of another's look at the folder."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.slow
def test_file_replaced_by_another_thread_counts_as_whole(folder, hasty_threads):
    def replace(path):
        path.with_suffix(".new").write_bytes(b"new!")
        path.with_suffix(".new").replace(path)

    def save(path):
        thread = threading.Thread(target=replace, args=(path,))
        thread.start()
        thread.join()

    for _ in range(100):
        write_folder(folder, OLD)
        assert moments_of(folder, save)[-1] == {"run.pt": b"new!"}


def test_a_save_that_writes_nothing_has_no_kill_points(folder):
    assert moments_of(folder, lambda path: path.read_bytes()) == []


def test_a_profiler_that_was_active_before_is_active_again_afterwards(folder):
    before = sys.getprofile()
    with pytest.raises(ZeroDivisionError):
        moments_of(folder, lambda path: 1 / 0)
    assert sys.getprofile() is before
