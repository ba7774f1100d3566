"""Marks reach the gradebook through nbgrader's Autograde, with the class's own steps, but without being made a second time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import sqlalchemy
from nbgrader.preprocessors import AssignLatePenalties, Execute, LimitOutput, SaveAutoGrades
from sqlalchemy.exc import SQLAlchemyError

from autograder.classroom.gradebook.database import database_trouble
from autograder.classroom.gradebook.recorder import Recorder
from autograder.hosts.nbgrader_plugins import MarkSubmission
from autograder.publishing.nbgrader_course import course_directory, make_course


@pytest.fixture
def recording_steps(tmp_path) -> Callable[..., list[type]]:
    """The preprocessors with which marks are recorded in a class whose configuration ends in this line."""

    def steps(configuration: str = "") -> list[type]:
        make_course(tmp_path, {})
        with (tmp_path / "nbgrader_config.py").open("a") as file:
            file.write(f"\n{configuration}\n")
        return Recorder(course_directory(tmp_path))._config.Autograde.autograde_preprocessors

    return steps


@pytest.mark.parametrize(
    "configuration", ["", "del c.Autograde.autograde_preprocessors"], ids=["made by init", "nbgrader's own"]
)
def test_recording_saves_grades_and_penalties_without_marking(recording_steps, configuration):
    steps = recording_steps(configuration)
    assert {SaveAutoGrades, AssignLatePenalties} <= set(steps)
    assert not {Execute, MarkSubmission} & set(steps)


@pytest.mark.parametrize(
    "name",
    [
        "autograder.nbgrader_plugins.MarkSubmission",
        "autograder.hosts.nbgrader_plugins.MarkSubmission",
        "nbgrader.preprocessors.Execute",
        "nbgrader.preprocessors.execute.Execute",
    ],
)
def test_marking_is_left_out_under_whichever_name_the_configuration_gives_it(recording_steps, name):
    own_step = "nbgrader.preprocessors.LimitOutput"
    assert recording_steps(f'c.Autograde.autograde_preprocessors = ["{name}", "{own_step}"]') == [LimitOutput]


def test_a_database_without_room_is_named_with_what_to_do():
    with sqlalchemy.create_engine("sqlite://").connect() as connection:
        connection.execute(sqlalchemy.text("create table one (text text)"))
        connection.execute(sqlalchemy.text("pragma max_page_count = 2"))
        with pytest.raises(SQLAlchemyError) as raised:
            connection.execute(sqlalchemy.text("insert into one values (zeroblob(100000))"))
    assert database_trouble(raised.value).startswith("database or disk is full; make room there and start again")
