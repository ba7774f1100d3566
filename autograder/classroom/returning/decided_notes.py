"""What an instructor has decided, on a student's page: comments and changed points, above the verdict that they are about."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from nbformat.v4 import new_output
from nbgrader.preprocessors.base import NbGraderPreprocessor

from autograder.classroom.dropped import reasons_for_dropping
from autograder.classroom.gradebook.cell_grades import PointsOfCell, points_of_each_cell
from autograder.classroom.gradebook.database import open_gradebook
from autograder.classroom.gradebook.lateness import Lateness, update_lateness
from autograder.classroom.regrades import Regrade, read_regrades
from autograder.classroom.returning.page_markdown import markdown_html
from autograder.contract.units import UNITS

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from autograder.classroom.grading.class_to_mark import ClassToMark

BOX = (
    '<div class="from-instructor" style="border-left:4px solid #0072b2;padding:0.2em 0.8em;margin:0.4em 0 0.8em;'
    'font-family:sans-serif"><b>From your instructor</b>%s</div>'
)


@dataclass(frozen=True)
class Decisions:
    """What an instructor has decided about the submissions of a class.

    Attributes:
        late: late submissions, by (student, unit).
        dropped: the reason for each exercise that does not count, by (unit, exercise).
        points: of each graded cell, by (student, unit, cell).
        regrades: requests that were answered.
        remarks: for the instructor, a line each.
    """

    late: Mapping[tuple[str, str], Lateness] = field(default_factory=dict)
    dropped: Mapping[tuple[str, str], str] = field(default_factory=dict)
    points: Mapping[tuple[str, str, str], PointsOfCell] = field(default_factory=dict)
    regrades: Sequence[Regrade] = ()
    remarks: Sequence[str] = ()


def read_decisions(marked_class: ClassToMark, only: Collection[tuple[str, str]]) -> Decisions:
    """What has been decided until now; penalties for late work are brought up to date.

    Args:
        marked_class: the class.
        only: (student, unit) of the submissions that remarks may be about.

    Raises:
        TableError: a table of the class cannot be used.
        NoGradebookError: the gradebook cannot be used.
    """
    course = marked_class.coursedir
    late_work = update_lateness(course)
    with open_gradebook(course.db_url) as gradebook:
        points = points_of_each_cell(gradebook, UNITS)
    remarks = [*late_work.complaints, *late_work.remarks(only.__contains__)]
    return Decisions(late_work.late, reasons_for_dropping(course), points, read_regrades(course), remarks)


class ShowDecisions(NbGraderPreprocessor):
    """Puts decisions where the template and the student see them. Comes after GetGrades, which has put comments there.

    The converter that makes the page has the attribute ``decisions``.
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        decisions, place = self.parent.parent.decisions, resources["nbgrader"]
        student, unit = place["student"], place["assignment"]
        roles = {cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader for cell in nb.cells if "nbgrader" in cell.metadata}
        for cell in nb.cells:
            role = cell.metadata.get("nbgrader", {})
            if not role.get("grade"):
                continue
            name = role["grade_id"]
            reason = decisions.dropped.get((unit, name))
            if reason is not None:
                role["dropped"] = f"does not count: {reason}" if reason else "does not count"
                place["score"] -= float(role["score"])
                place["max_score"] -= float(role["points"])
            if cell.cell_type == "code":
                change = changed_points(decisions.points.get((student, unit, name)), float(role["points"]))
                requests = [one for one in decisions.regrades if one.exercise_key == (student, unit, name)]
                role["remarks"] = [
                    *(["changed by your instructor"] if change else []),
                    *(["regraded"] if any(one.reason or one.before != one.after for one in requests) else []),
                ]
                comment = _taken(roles.get(f"{name}-solution", {}))
                remarked = comment or any(not one.reason and one.answer for one in requests)
                role["remarks"] += ["with a comment"] if remarked else []
                texts = [
                    *([f"<p>This exercise {escape(role['dropped'])}</p>"] if reason is not None else []),
                    *([f"<p>{escape(change)}</p>"] if change else []),
                    *map(_answer, requests),
                    *([markdown_html(comment)] if comment else []),
                ]
                if texts:
                    cell.outputs.insert(0, new_output("display_data", {"text/html": BOX % "".join(texts)}))
        place["score"] = max(0.0, place["score"])
        place["lateness"] = str(decisions.late.get((student, unit), ""))
        return nb, resources


def changed_points(points: PointsOfCell | None, most: float) -> str:
    """A sentence on points that a person gave in place of those from marking; empty if nobody did."""
    if points is None or points.score == points.automatic or not points.by_hand:
        return ""
    if points.automatic is None:
        return f"Points by hand: {points.score:.4g} of {most:.4g}."
    return f"Points changed from {points.automatic:.4g} to {points.score:.4g} of {most:.4g}."


def _taken(role: dict[str, Any]) -> str:
    """The comment on an answer, taken away from where nbgrader would show it: below the answer, out of sight."""
    comment = role.get("comment") or ""
    if comment == "No response." or role.get("grade"):
        return ""
    role["comment"] = ""
    return comment


def _answer(one: Regrade) -> str:
    """What became of a request; without a reason, the instructor looked unasked. Students wrote it, so nothing is markup."""
    asked = f"<p>You asked for a regrade: <q>{escape(one.reason)}</q></p>" if one.reason else ""
    if one.before == one.after:
        result = f"Its points stay as they are: {one.after}."
    else:
        result = f"Its points are now {one.after}, in place of {one.before}."
    answer = f"<p>{escape(one.answer)}</p>" if one.answer else ""  # a paragraph of its own, with a full stop or without
    return f"{asked}{answer}<p>{escape(result)}</p>"
