"""The bench names the mistakes of a loop on its own, without the marker."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gradaccum.diagnosis.catalogue import mistake
from gradaccum.diagnosis.naming import name_mistakes
from gradaccum.fingerprint import fingerprint
from gradaccum.loops import GALLERY
from gradaccum.problems import Problem

PROBLEM = Problem(accumulation_steps=3, epochs=((2, 5, 3, 4, 1, 6, 3, 2), (4, 2), (3, 1, 2, 5)), stale=True)
NAMED = sorted(GALLERY.keys() - {"eval-mode"})
"""A loop in evaluation mode has no linear fingerprint."""


@pytest.mark.parametrize("slug", NAMED)
def test_the_mistake_of_a_gallery_loop_is_named_from_its_fingerprint(slug):
    due = () if slug == "right" else (slug,)
    assert name_mistakes(fingerprint(GALLERY[slug], PROBLEM), PROBLEM) == due
    assert all(mistake(one).message for one in due)


def test_naming_mistakes_loads_neither_torch_nor_the_marker():
    check = "import sys, gradaccum.diagnosis.naming; sys.exit(bool({'torch', 'autograder'} & sys.modules.keys()))"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
