"""Collection is paused during heavy imports; only the marker's own processes stop looking through what was imported."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.support.garbage_collection import collection_paused

ROOT = Path(__file__).parents[3]
STUDENTS_KERNEL = """
import gc, weakref

class Node:
    pass

node = Node()
node.itself = node
reference = weakref.ref(node)
import autograder.check
assert reference() is node
del node
gc.collect()
print(reference(), gc.isenabled(), gc.get_freeze_count())
"""
FORK_SERVER = """
import os, sys
from autograder.isolation import worker
import gc
assert gc.get_freeze_count() == 0  # importing the module freezes nothing: pytest --grade does that, too
out = os.dup(1)
worker.get_ready()
os.write(out, f"{gc.isenabled()} {gc.get_freeze_count() > 100_000}".encode())
"""


@pytest.fixture(autouse=True)
def as_before():
    enabled = gc.isenabled()
    yield
    (gc.enable if enabled else gc.disable)()


def run_python(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_collection_is_paused_only_inside_the_block():
    gc.enable()
    with collection_paused():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_collection_that_was_disabled_before_stays_disabled():
    gc.disable()
    with collection_paused():
        pass
    assert not gc.isenabled()


def test_an_error_inside_the_block_enables_collection_again():
    gc.enable()
    with pytest.raises(ImportError), collection_paused():
        raise ImportError
    assert gc.isenabled()


def test_what_was_made_inside_the_block_can_be_collected_afterwards():
    with collection_paused():
        made = [{} for _ in range(10)]
        made.append(made)
    assert any(thing is made for thing in gc.get_objects())


@pytest.mark.slow
def test_importing_check_leaves_garbage_collection_in_a_students_kernel_as_it_was():
    assert run_python(STUDENTS_KERNEL) == "None True 0"


@pytest.mark.slow
def test_a_process_that_submissions_are_forked_from_freezes_what_it_imported():
    assert run_python(FORK_SERVER) == "True True"
