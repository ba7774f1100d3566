"""A class on JupyterHub, from the guide's commands to fetched feedback: an instructor, three students and every button."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from documents import lines_in_blocks, shell_lines
from hub_machine import PASSWORD, HubMachine, missing, running_machine
from jupyterlab_session import PATIENCE

pytestmark = [pytest.mark.slow, pytest.mark.browser]

GUIDE, NEEDS_MORE = "jupyterhub.md", "# needs "
UNIT, EXCHANGE, PODS = "03_accumulate", "/srv/nbgrader/exchange", "/srv/pods"
TEACHER, STUDENTS = "teacher", ("ada", "bob", "eve")
CLASS, SHARED = f"/home/{TEACHER}/my-class", f"/home/{TEACHER}/shared"
MISTAKE = (Path(__file__).parents[1] / "submissions" / UNIT / "mistakes" / "no_scale.py").read_text(encoding="utf-8")
POINTS = {"ada": 10, "bob": 4, "eve": 0}
"""Ada solves everything, Bob forgets to divide, Eve submits what she was given."""


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """A machine on which the commands of the guide have been run, with its hub; and what these commands printed, in a file."""
    if os.environ.get("CI") != "true" and os.environ.get("GRADACCUM_HUB_TEST") != "1":
        pytest.skip("makes users, in namespaces of its own: ask for it, as root, with GRADACCUM_HUB_TEST=1")
    if lacking := missing():
        pytest.fail(lacking)
    users = (TEACHER, *STUDENTS)
    with running_machine(tmp_path_factory.mktemp("hub"), users) as machine:
        machine.configure(users, more="\n".join(lines_in_blocks(GUIDE, "python")))
        machine.path("/srv/ngshare/files").mkdir(parents=True)
        machine.install_ngshare("/srv/ngshare/venv")
        (machine.folder / "said.txt").write_text("".join(follow(machine, line) for line in guide_lines()), encoding="utf-8")
        with machine.running_hub(users):
            yield machine


def guide_lines() -> list[str]:
    """The commands of the guide, but for those that need more than this machine has."""
    return [line for line in shell_lines(GUIDE) if NEEDS_MORE not in line]


def follow(machine: HubMachine, line: str) -> str:
    """Run a command of the guide, as the user who owns the class or, if it says so, as administrator; what it prints."""
    user = "root" if "sudo " in line else TEACHER
    return machine.run(user, line.replace("sudo ", ""), HOME=str(Path(CLASS).parent))


@pytest.fixture(scope="module")
def desks(browser, machine):
    """Everybody's JupyterLab, in a browser of their own, by their names."""
    contexts = {user: browser.new_context(viewport={"width": 1600, "height": 1100}) for user in (TEACHER, *STUDENTS)}
    yield {user: log_in(context.new_page(), machine, user) for user, context in contexts.items()}
    for context in contexts.values():
        context.close()


def log_in(page, machine: HubMachine, user: str):
    page.set_default_timeout(PATIENCE)
    page.goto(f"{machine.url}/hub/login?next=%2Fuser%2F{user}%2Flab")
    page.get_by_label("Username").fill(user)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.locator(".jp-Launcher").wait_for()
    return page


@pytest.fixture(scope="module")
def class_page(desks):
    """The class's own JupyterLab, reached from the instructor's Course List."""
    desk = desks[TEACHER]
    choose(desk, "Course List")
    link = desk.get_by_role("link", name="gradaccum")
    with desk.context.expect_page() as opened:
        link.click()
    opened.value.set_default_timeout(PATIENCE)
    return opened.value


@pytest.fixture(scope="module")
def formgrader(class_page):
    """Formgrader, a frame in the class's JupyterLab."""
    frame = class_page.frame_locator("iframe[src*='formgrader']")
    frame.get_by_role("row").filter(has_text=UNIT).wait_for()
    return frame


def choose(page, name: str) -> None:
    """Choose from the menu Nbgrader."""
    page.get_by_role("menuitem", name="Nbgrader").click()
    page.get_by_role("menuitem", name=name).click()


def press(formgrader, button: str, said: str) -> None:
    """Press a button in the unit's row of Formgrader, and close the dialog that has to say this."""
    formgrader.get_by_role("row").filter(has_text=UNIT).locator(f"td.{button} a").click()
    dialog = formgrader.get_by_role("dialog")
    dialog.get_by_text(said).wait_for()
    dialog.get_by_role("button", name="Close").first.click()
    dialog.wait_for(state="hidden")


def test_the_instructor_s_course_list_opens_formgrader_and_its_buttons_release_a_unit(machine, formgrader):
    press(formgrader, "assign", "Successfully created")
    press(formgrader, "release", "Successfully released")
    assert machine.path(f"{EXCHANGE}/gradaccum/outbound/{UNIT}/{UNIT}.ipynb").exists()


def test_the_guide_shows_what_its_commands_print(machine):
    said = (machine.folder / "said.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines_in_blocks(GUIDE) if line not in said] == []


def test_students_fetch_validate_and_submit_in_their_assignment_lists(machine, desks, formgrader):
    for student in STUDENTS:
        desk = desks[student]
        choose(desk, "Assignment List")
        desk.locator("#released_assignments_list").get_by_role("button", name="Fetch").click()
        desk.locator("#fetched_assignments_list").get_by_role("button", name="Submit").wait_for()
        write_answers(machine, student)
    said = {student: validate(desks[student]) for student in ("ada", "bob")}
    assert "Success" in said["ada"]
    assert "check(accumulate_gradient)" in said["bob"]
    for student in STUDENTS:
        desk = desks[student]
        desk.locator("#fetched_assignments_list").get_by_role("button", name="Submit").click()
        desk.locator("#submitted_assignments_list").get_by_text(UNIT).first.wait_for()
    inbound = machine.path(f"{EXCHANGE}/gradaccum/inbound")
    assert {path.name.partition("+")[0]: machine_owner(machine, path) for path in inbound.iterdir()} == {s: s for s in STUDENTS}


def write_answers(machine: HubMachine, student: str) -> None:
    """Change the notebook that a student has fetched into what this student writes."""
    place = machine.home(student) / UNIT / f"{UNIT}.ipynb"
    notebook = json.loads(place.read_text(encoding="utf-8"))
    source = json.loads(machine.path(f"{CLASS}/source/{UNIT}/{UNIT}.ipynb").read_text(encoding="utf-8"))
    solutions = {cell["id"]: cell["source"] for cell in source["cells"] if cell["id"].endswith("-solution")}
    if student == "bob":
        solutions["accumulate_gradient-solution"] = MISTAKE
    for cell in notebook["cells"] if student != "eve" else ():
        cell["source"] = solutions.get(cell["id"], cell["source"])
    place.write_text(json.dumps(notebook), encoding="utf-8")


def validate(desk) -> str:
    """What the button Validate of the Assignment List says about the unit's notebook."""
    fetched = desk.locator("#fetched_assignments_list")
    fetched.get_by_role("button", name=UNIT).click()
    fetched.get_by_role("button", name="Validate").click()
    dialog = desk.get_by_role("dialog")
    said = dialog.inner_text()
    dialog.get_by_role("button", name="OK").click()
    return said


def machine_owner(machine: HubMachine, path: Path) -> str:
    """The name of the user of the machine who owns a path."""
    users = machine.path("/etc/passwd").read_text().splitlines()
    return next(user.split(":")[0] for user in users if int(user.split(":")[2]) == path.stat().st_uid)


def test_formgrader_collects_and_marks_as_the_command_does(machine, formgrader):
    press(formgrader, "collect", "Successfully collected")
    formgrader.get_by_role("row").filter(has_text=UNIT).locator("td.num-submissions a").click()
    row = formgrader.get_by_role("row").filter(has_text="bob")
    row.locator("td.autograde a").click()
    dialog = formgrader.get_by_role("dialog")
    dialog.get_by_text("Successfully autograded").wait_for(timeout=2 * PATIENCE)
    dialog.get_by_role("button", name="Close").first.click()
    by_button = marks(machine)
    assert {student: points for student, points in by_button.items() if points} == {"bob": POINTS["bob"]}
    machine.run(TEACHER, "cd my-class && gradaccum classroom grade .")
    assert marks(machine) == POINTS


def marks(machine: HubMachine) -> dict[str, float]:
    """Everybody's points in the gradebook."""
    from nbgrader.api import Gradebook

    copy = shutil.copy(machine.path(f"{CLASS}/gradebook.db"), machine.folder)  # SQLite refuses paths that lead through /proc
    with Gradebook(f"sqlite:///{copy}") as gradebook:
        return {submission.student.id: submission.score for submission in gradebook.assignment_submissions(UNIT)}


def test_feedback_comes_back_to_the_student_it_is_for(machine, desks, formgrader):
    formgrader.get_by_role("link", name="Manage Assignments").first.click()
    press(formgrader, "generate-feedback", "Successfully generated feedback")
    press(formgrader, "release-feedback", "Successfully released feedback")
    desk = desks["bob"]
    submitted = desk.locator("#submitted_assignments_list")
    desk.locator("#refresh_assignments_list").click()
    submitted.get_by_role("button", name="Fetch Feedback").click()
    submitted.get_by_text("view feedback").wait_for()
    (page,) = (machine.home("bob") / UNIT / "feedback").rglob("*.html")
    assert "accumulate_gradient: 0 of 6 points" in page.read_text(encoding="utf-8")


def test_students_see_no_course_in_their_course_list_and_cannot_enter_the_class(machine, desks):
    desk = desks["eve"]
    choose(desk, "Course List")
    desk.locator("#formgrader_list_placeholder").wait_for()
    answer = desk.goto(f"{machine.url}/services/gradaccum/lab")
    assert answer.status == 403


def test_students_can_read_neither_the_class_nor_each_other(machine):
    for place in (CLASS, f"/home/{STUDENTS[0]}", f"{EXCHANGE}/gradaccum/inbound"):
        assert machine.run("eve", f"ls {place} 2>&1 || true").endswith("Permission denied\n"), place


def test_with_ngshare_assignments_and_feedback_travel_through_a_service_of_the_hub(machine):
    teacher, eve = (as_user_of_the_hub(machine, user) for user in (TEACHER, "eve"))
    machine.run(TEACHER, "mkdir shared && cp -r my-class/source my-class/nbgrader_config.py shared")
    machine.run(TEACHER, f"gradaccum classroom hub shared --ngshare {machine.url}/services/ngshare")
    machine.run("root", f"install -D -m 644 {SHARED}/hub/nbgrader_config.py {PODS}/nbgrader_config.py")
    for line in (
        "ngshare-course-management create_course gradaccum teacher",
        "ngshare-course-management add_student gradaccum eve",
        f"cd shared && gradaccum classroom release . && nbgrader release_assignment {UNIT}",
    ):
        machine.run(TEACHER, line, **teacher)
    machine.run("eve", f"mkdir pod && cd pod && nbgrader fetch_assignment {UNIT} && nbgrader submit {UNIT}", **eve)
    machine.run(TEACHER, f"cd shared && nbgrader collect {UNIT}", **teacher)
    assert machine.path(f"{SHARED}/submitted/eve/{UNIT}/{UNIT}.ipynb").exists()
    machine.run(TEACHER, "cd shared && cp -r submitted feedback")  # its time is what ngshare knows a submission by
    machine.run(TEACHER, f"cd shared/feedback/eve/{UNIT} && rm {UNIT}.ipynb && echo Right > {UNIT}.html")
    machine.run(TEACHER, f"cd shared && nbgrader release_feedback {UNIT}", **teacher)
    machine.run("eve", f"cd pod && nbgrader fetch_feedback {UNIT}", **eve)
    (page,) = (machine.home("eve") / "pod" / UNIT / "feedback").rglob("*.html")
    assert page.read_text(encoding="utf-8") == "Right\n"


def as_user_of_the_hub(machine: HubMachine, user: str) -> dict[str, str]:
    """The environment of somebody with a token of the hub, and with the configuration of nbgrader for ngshare."""
    token = machine.api("POST", f"users/{user}/tokens", {"note": "ngshare"})["token"]
    return {"JUPYTERHUB_USER": user, "JUPYTERHUB_API_TOKEN": token, "JUPYTER_CONFIG_PATH": PODS}
