"""nbgrader's formgrader in a class of the course: an instructor who only clicks gets the same marks as the command gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jupyterlab_session import running_lab
from nbgrader_class import ORDER, UNIT, Course, mistaken

from autograder.hosts.nbgrader_plugins import MarkSubmission
from autograder.publishing.nbgrader_course import course_directory

pytestmark = [pytest.mark.slow, pytest.mark.browser]

STUDENT = mistaken("no-scale", 2)


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Course:
    """A class with one submission that has not been marked yet."""
    course = Course(tmp_path_factory.mktemp("formgrader"))
    course.run("nbgrader", "generate_assignment", UNIT)
    course.submit(STUDENT.name, STUDENT.notebook(course))
    return course


@pytest.fixture(scope="module")
def page(browser, course, tmp_path_factory):
    """Formgrader's list of assignments, in a server that was started in the class."""
    with running_lab(course.directory, tmp_path_factory.mktemp("home")) as lab:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.lab = lab
        yield page
        page.close()


def test_formgrader_s_button_gives_the_same_marks_as_the_command(page, course, tmp_path):
    page.goto(f"{page.lab.url}formgrader/manage_assignments?token={page.lab.token}")
    row = page.get_by_role("row").filter(has_text=UNIT)
    row.wait_for()

    page.goto(f"{page.lab.url}formgrader/manage_submissions/{UNIT}?token={page.lab.token}")
    row = page.get_by_role("row").filter(has_text=STUDENT.name)
    row.locator("td.autograde a").click()
    page.get_by_text("Successfully autograded").wait_for(timeout=120_000)

    seed = MarkSubmission(config=course_directory(course.directory).config).seed_for(STUDENT.name, UNIT)
    file = Path("submitted", STUDENT.name, UNIT, f"{UNIT}.ipynb")
    said = course.run("gradaccum", "check", "--json", "--sandbox", "--seed", str(seed), str(file)).stdout
    exercises = json.loads(said)["files"][0]["exercises"]
    assert (
        course.grades(STUDENT.name) == {e["id"]: e["score"] for e in exercises} == dict(zip(ORDER, STUDENT.points, strict=True))
    )


def test_formgrader_shows_the_marked_notebook_with_the_verdict_and_both_fingerprints(page):
    page.goto(f"{page.lab.url}formgrader/gradebook/{UNIT}/{UNIT}?token={page.lab.token}")
    page.locator("td.name a").first.click()
    page.get_by_text("Your loop's fingerprint").first.wait_for()
    assert page.get_by_text("train_epoch: 2 of 6 points, partly right").count() == 1
