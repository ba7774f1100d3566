"""The class report counts correctly: points and needs of each student, results of the class, and what to go through again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sample_class import CLASS, EARLIER, POINTS, TABLES, UNIT, exercise, marks, nothing

from autograder.classroom.gradebook.cell_grades import CellGrade
from autograder.classroom.grading.marks_store import ExerciseMarks, MarksStore, PartMarks, StudentMarks
from autograder.classroom.report.class_data import ClassData, read_class
from autograder.classroom.report.class_report import ClassReport, Unjudged, class_report
from autograder.classroom.report.lessons import Lesson
from autograder.classroom.report.student_report import (
    ABSENT,
    BROKEN,
    FAILURES,
    GONE,
    PARTLY,
    SOLVED,
    STATES,
    UNREADABLE,
    UNWRITTEN,
    WAITING,
)
from autograder.publishing.nbgrader_course import CONFIG, config_text
from gradaccum.diagnosis.catalogue import mistake


@pytest.fixture(scope="module")
def report() -> ClassReport:
    return class_report(CLASS)


def student(report: ClassReport, name: str):
    return next(one for one in report.students if one.person.id == name)


def reasons(*submissions: StudentMarks) -> tuple[str, ...]:
    return class_report(ClassData("class", marks=submissions)).students[0].reasons


# Numbers


def test_points_are_added_up_for_each_student(report):
    assert [(s.person.id, s.points, s.max_points) for s in report.students] == [
        ("a", 10, 10),
        ("b", 5, 10),
        ("c", 3, 10),
        ("d", 0, 10),
    ]


def test_the_distribution_counts_only_students_with_marks(report):
    assert report.shares == pytest.approx((0.3, 0.5, 1.0))
    assert report.units[0].shares == pytest.approx((0.3, 0.5, 1.0))
    assert (report.units[0].absent, report.units[0].waiting) == (1, 0)


def test_each_exercise_counts_students_by_state(report):
    loop, puzzle = report.units[0].exercises[-2:]
    assert loop.exercise == "train_epoch"
    assert loop.states == dict.fromkeys(STATES, 0) | {SOLVED: 1, PARTLY: 1, BROKEN: 1, ABSENT: 1}
    assert (puzzle.exercise, puzzle.states[UNWRITTEN], puzzle.states[SOLVED]) == ("name_that_loop", 1, 2)
    assert loop.mean == pytest.approx((6 + 2 + 0) / 3)


def test_mistakes_are_ranked_by_points_lost_and_those_in_one_exercise_share_its_points(report):
    ranked = [(one.slug, one.students, one.lost) for one in report.mistakes]
    assert ranked == [("no-scale", 1, 4.5), ("tail-dropped", 1, 0.5)]
    assert report.mistakes[0].exercises == (("repaired_lost_tail", 1), ("train_epoch", 1))
    assert report.mistakes[0].sentence == mistake("no-scale").message


def test_sections_to_revisit_are_ranked_by_points_lost_and_add_up_with_the_rest_to_all_points_lost(report):
    first = report.revisits[0]
    assert (first.lesson, first.lost, first.students) == (Lesson(UNIT, "Explore: missing 1/N"), 4.5, 1)
    assert first.causes == (("no-scale", "", 1),)
    assert sum(one.lost for one in report.revisits) == pytest.approx(5)
    assert report.unjudged == Unjudged(7.0, (("not written", 1), ("raises an error", 1)))


@pytest.mark.parametrize("failure", FAILURES)
def test_an_answer_of_which_there_is_nothing_to_judge_is_no_reason_to_revisit_a_section(failure):
    made = class_report(ClassData("class", marks=(nothing("a", failure),)))
    assert made.revisits == ()
    assert made.unjudged == Unjudged(10.0, ((FAILURES[failure], len(POINTS)),))


def test_of_a_file_that_cannot_be_read_no_exercise_is_said_not_to_run():
    unreadable = replace(nothing("a", "missing"), problem="the file is empty")
    (student,) = class_report(ClassData("class", marks=(unreadable,))).students
    assert {result.state for result in student.results} == {UNREADABLE}
    assert f"{UNREADABLE} in unit 04" in student.reasons


def test_a_cell_that_is_not_python_does_not_run_and_one_that_is_not_there_is_not_in_the_file():
    made = class_report(ClassData("class", marks=(nothing("a", "broken"), nothing("b", "absent"))))
    assert [{result.state for result in one.results} for one in made.students] == [{BROKEN}, {GONE}]
    assert "nothing written in unit 04" in made.students[1].reasons


def test_what_was_cut_off_with_the_rest_of_a_file_is_said_once():
    cut = replace(marks("a", exercise("train_epoch", 0, failure="absent")), damage="is damaged; 12 cells could be read")
    made = class_report(ClassData("class", marks=(cut,)))
    assert made.students[0].reasons == (
        "file damaged, and marked as far as it can be read, in unit 04",
        "below half of the points",
    )
    assert made.students[0].results[3].state == GONE
    assert (made.revisits, made.unjudged.causes) == ((), (("not in what could be read of the file", 1),))


def test_practice_exercises_are_not_in_the_report():
    practice = ExerciseMarks("average_gradients", (PartMarks("p", "t", 1, 1, ""),))
    made = class_report(ClassData("c", marks=(StudentMarks("a", "00_start_here", "k", "cpu", 1.0, (practice,)), marks("a"))))
    assert [unit.unit for unit in made.units] == [UNIT]


def test_students_are_ordered_by_last_name(report):
    assert [one.person.last_name for one in report.students] == ["Berg", "Chen", "Diaz", "Engel"]


def test_the_example_of_a_mistake_has_as_few_other_mistakes_as_possible():
    both = tuple(table.replace("1/4", "1/8") for table in TABLES)
    data = ClassData(
        "c",
        marks=(
            marks("a", exercise("train_epoch", 0, "tail-dropped", "no-scale", tables=both)),
            marks("b", exercise("train_epoch", 0, "no-scale", tables=TABLES)),
        ),
    )
    found = {one.slug: one for one in class_report(data).mistakes}
    assert found["no-scale"].example == TABLES
    assert (found["tail-dropped"].example, found["tail-dropped"].example_mistakes) == (both, ("tail-dropped", "no-scale"))


# Who needs help


def test_students_who_need_help_are_listed_with_reasons_the_weakest_first(report):
    assert [(one.person.id, one.reasons) for one in report.needing_help] == [
        ("d", ("no notebook handed in",)),
        ("c", ("below half of the points",)),
        ("b", ("no-scale in 2 exercises",)),
    ]


def test_a_mistake_that_much_of_the_class_repeats_is_for_the_lecture():
    twice = [exercise(name, 0, "no-scale") for name in ("train_epoch", "repaired_lost_tail")]
    seldom = [marks(name, *twice) for name in "ab"], [marks(name) for name in "cdef"]
    often = [marks(name, *twice) for name in "abc"], [marks(name) for name in "defg"]
    for (repeating, others), needing in ((seldom, 2), (often, 0)):
        made = class_report(ClassData("c", marks=(*repeating, *others)))
        assert sum("no-scale in 2 exercises" in one.reasons for one in made.needing_help) == needing
        assert made.mistakes[0].slug == "no-scale"


@pytest.mark.parametrize("failure", ["raised", "time", "died"])
def test_a_submission_in_which_nothing_runs_is_a_reason_for_help(failure):
    assert reasons(nothing("a", failure)) == ("nothing runs in unit 04", "below half of the points")


def test_an_untouched_submission_is_a_reason_for_help():
    assert reasons(nothing("a", "unwritten"))[0] == "nothing written in unit 04"


def test_an_unreadable_file_is_a_reason_for_help_but_not_to_revisit_a_section():
    made = class_report(ClassData("class", marks=(nothing("a", "missing", "it is not JSON"),)))
    assert made.students[0].reasons[0] == "file cannot be read in unit 04"
    assert made.revisits == ()


def test_a_missing_unit_is_named_if_the_student_handed_in_others():
    made = class_report(ClassData("class", marks=(marks("a"), StudentMarks("b", EARLIER, "k", "cpu", 1.0, ()))))
    assert student(made, "a").reasons[0] == "no notebook handed in for unit 03"


def test_an_unmarked_submission_is_not_a_reason_for_help_and_costs_no_points():
    made = class_report(ClassData("class", marks=(marks("a"),), handed_in=frozenset({("a", EARLIER), ("b", UNIT)})))
    assert student(made, "a").share == 1.0
    assert student(made, "a").reasons == ()
    assert {r.state for r in student(made, "b").results if r.unit == UNIT} == {WAITING}
    assert [(unit.unit, unit.waiting) for unit in made.units] == [(EARLIER, 1), (UNIT, 1)]


# The gradebook


def test_points_given_by_hand_replace_those_of_the_marker():
    grades = {("b", UNIT, "train_epoch"): CellGrade(5.0, by_hand=True), ("a", UNIT, "train_epoch"): CellGrade(0.0)}
    made = class_report(ClassData("class", marks=CLASS.marks, grades=grades))
    loop = student(made, "b").results[3]
    assert (loop.points, loop.by_hand, loop.state, loop.lost) == (5.0, True, PARTLY, 1.0)
    assert student(made, "a").results[3].points == 6


def test_an_exercise_with_full_marks_given_by_hand_is_not_to_be_revisited():
    made = class_report(
        ClassData("c", marks=(nothing("a", "raised"),), grades={("a", UNIT, e): CellGrade(p, True) for e, p in POINTS.items()})
    )
    assert student(made, "a").share == 1.0
    assert made.revisits == ()


def test_graded_cells_of_the_gradebook_decide_which_exercises_count_and_their_points():
    data = ClassData(
        "c",
        marks=CLASS.marks,
        cells={UNIT: {"essay": 4.0, "train_epoch": 12.0}},
        grades={("b", UNIT, "essay"): CellGrade(3.0, True)},
    )
    bo = student(class_report(data), "b")
    assert [(r.exercise, r.points, r.max_points) for r in bo.results] == [("train_epoch", 4.0, 12.0), ("essay", 3.0, 4.0)]
    assert student(class_report(data), "a").results[1].state == WAITING


def test_points_known_only_to_the_gradebook_count_and_their_loss_has_no_known_cause():
    made = class_report(ClassData("c", grades={("a", UNIT, name): CellGrade(points / 2) for name, points in POINTS.items()}))
    assert made.students[0].points == 5
    assert made.revisits[0].causes[0][1] == "marked by nbgrader alone"


def test_the_penalty_for_lateness_is_subtracted():
    made = class_report(ClassData("c", marks=CLASS.marks, penalties={("b", UNIT): 2.0}))
    assert student(made, "b").points == 3
    assert made.units[0].shares == pytest.approx((0.3, 0.3, 1.0))


@pytest.fixture(scope="module")
def class_with_gradebook(tmp_path_factory):
    """A class with a gradebook in which Bo's train_epoch was given 5.5 points by hand."""
    from nbgrader.api import Gradebook

    from autograder.classroom.gradebook.enrolment import enrol
    from autograder.classroom.students import Student

    folder = tmp_path_factory.mktemp("class")
    (folder / CONFIG).write_text(config_text(""))
    url = f"sqlite:///{folder}/gradebook.db"
    enrol((Student("a", "Ada", "Berg"), Student("b", "Bo", "Chen"), Student("d", "Di", "Engel")), url)
    with Gradebook(url) as gradebook:
        gradebook.add_assignment(UNIT)
        gradebook.add_notebook(UNIT, UNIT)
        for name, points in POINTS.items():
            gradebook.add_grade_cell(name, UNIT, UNIT, max_score=points, cell_type="code")
        gradebook.add_submission(UNIT, "b")
        for name in POINTS:
            grade = gradebook.find_grade(name, UNIT, UNIT, "b")
            grade.auto_score, grade.needs_manual_grade = 0.0, False
        gradebook.find_grade("train_epoch", UNIT, UNIT, "b").manual_score = 5.5
        gradebook.db.commit()
    for one in CLASS.marks[:2]:
        MarksStore(folder).write(one, "{}")
    return folder


@pytest.mark.slow
def test_names_and_points_given_by_hand_are_read_from_the_gradebook(class_with_gradebook):
    made = class_report(read_class(class_with_gradebook))
    assert [one.person.name for one in made.students] == ["Ada Berg", "Bo Chen", "Di Engel"]
    assert [r.points for r in student(made, "b").results] == [1, 1, 0, 5.5, 1]
    assert [r.by_hand for r in student(made, "b").results] == [False, False, False, True, False]
    assert student(made, "d").reasons == ("no notebook handed in",)
