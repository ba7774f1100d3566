"""Classes that several test files start from: making one takes seconds."""

from __future__ import annotations

import pytest
from graded_class import GradedClass


@pytest.fixture(scope="session")
def released(tmp_path_factory, scheduler) -> GradedClass:
    """A class with a released unit and no students. Not to be changed: use :meth:`GradedClass.copied_to`."""
    return GradedClass(tmp_path_factory.mktemp("released"), scheduler)


@pytest.fixture
def course(released, tmp_path) -> GradedClass:
    """A released class for a single test, in which nothing has been handed in."""
    return released.copied_to(tmp_path)
