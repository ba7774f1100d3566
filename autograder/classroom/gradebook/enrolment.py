"""The students in nbgrader's gradebook: entering them, and reading them back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from autograder.classroom.gradebook.nbgrader_converters import commands_of_this_python
from autograder.classroom.students import Student

if TYPE_CHECKING:
    from nbgrader.api import Gradebook


MAX_NAMED = 5
"""New students who are named; if there are more, they are only counted."""


@dataclass
class Enrolment:
    """What giving students to a class did.

    Attributes:
        before: how many were in the class.
        new: ids of those who were not.
        updated: how many were, and something else is known of them now.
        unchanged: how many were, as they are.
    """

    before: int = 0
    new: list[str] = field(default_factory=list)
    updated: int = 0
    unchanged: int = 0

    def __str__(self) -> str:
        names = f" ({', '.join(self.new)})" if 0 < len(self.new) <= MAX_NAMED else ""
        return f"{len(self.new)} new{names}, {self.updated} updated, {self.unchanged} unchanged"


def enrol(students: Iterable[Student], db_url: str) -> Enrolment:
    """Add students to the gradebook, or update what it knows about them. No student and no known fact is deleted.

    Raises:
        NoGradebookError: its database cannot be used.
    """
    from nbgrader.api import Gradebook, InvalidEntry, MissingEntry
    from sqlalchemy.exc import SQLAlchemyError

    from autograder.classroom.gradebook.database import NoGradebookError, database_name, database_trouble
    from autograder.publishing.nbgrader_course import CONFIG

    try:
        with commands_of_this_python(), Gradebook(db_url) as gradebook:
            done = Enrolment(len(gradebook.students))
            for student in students:
                facts = asdict(student)
                facts.pop("id")
                try:
                    known = gradebook.find_student(student.id)
                except MissingEntry:
                    done.new.append(student.id)
                else:
                    before = {name: getattr(known, name) or "" for name in facts}
                    facts = {name: value or before[name] for name, value in facts.items()}
                    if facts == before:
                        done.unchanged += 1
                    else:
                        done.updated += 1
                gradebook.update_or_create_student(student.id, **facts)
            return done
    except (SQLAlchemyError, InvalidEntry, ImportError) as error:
        advice = f"see to it, or to c.CourseDirectory.db_url in {CONFIG}, and give the roster again"
        trouble = f"{database_name(db_url)}: {database_trouble(error)}"
        raise NoGradebookError(f"the gradebook cannot be used ({trouble}); {advice}") from None


def enrolled(db_url: str) -> tuple[tuple[Student, ...], bool]:
    """The students in the gradebook of a class, ordered by id, and whether they are a roster.

    They are not a roster if the gradebook knows nothing but ids: nbgrader adds the id of every student whose work it marks.

    Raises:
        NoGradebookError: the gradebook exists and cannot be read.
    """
    from autograder.classroom.gradebook.database import gradebook_exists, open_gradebook

    if not gradebook_exists(db_url):
        return (), False  # opening it would create it

    with open_gradebook(db_url) as gradebook:
        facts = [(s.first_name, s.last_name, s.email, s.lms_user_id) for s in gradebook.students]
        students = tuple(sorted(students_in(gradebook), key=lambda student: student.id))
    return students, any(fact is not None for row in facts for fact in row)


def students_in(gradebook: Gradebook) -> list[Student]:
    """The students in an open gradebook, in its order."""
    return [
        Student(s.id, s.first_name or "", s.last_name or "", s.email or "", s.lms_user_id or "") for s in gradebook.students
    ]
