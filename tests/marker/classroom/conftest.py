"""Classes that several test files start from: making one takes seconds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from exported_class import export as export_command
from exported_class import make_school
from graded_class import GradedClass
from handed_in import BareClass


@pytest.fixture(scope="session")
def released(tmp_path_factory, scheduler) -> GradedClass:
    """A class with a released unit and no students. Not to be changed: use :meth:`GradedClass.copied_to`."""
    return GradedClass(tmp_path_factory.mktemp("released"), scheduler)


@pytest.fixture
def course(released, tmp_path) -> GradedClass:
    """A released class for a single test, in which nothing has been handed in."""
    return released.copied_to(tmp_path)


@pytest.fixture
def roster_class(tmp_path) -> BareClass:
    """A class with a roster, see :mod:`handed_in`."""
    return BareClass(tmp_path)


@pytest.fixture
def open_class(tmp_path) -> BareClass:
    """A class without a roster."""
    return BareClass(tmp_path, ())


@pytest.fixture(scope="session")
def school(tmp_path_factory) -> Path:
    """A class to export, see :mod:`exported_class`."""
    return make_school(tmp_path_factory.mktemp("school") / "class")


@pytest.fixture
def export(school, tmp_path, monkeypatch) -> Callable[..., Any]:
    """Exports ``school``, or another ``directory``, in an empty directory, see :func:`exported_class.export`."""
    monkeypatch.chdir(tmp_path)
    return lambda *options, directory=school, to="out.csv": export_command(directory, tmp_path, *options, to=to)
