"""Marks submissions of a class from beginning to end, and says what points students have then."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autograder.classroom.csv_tables import TableError
from autograder.classroom.dropped import dropped_exercises
from autograder.classroom.gradebook.class_marks import ClassMarks, read_marks
from autograder.classroom.gradebook.database import NoGradebookError, gradebook_exists, open_gradebook
from autograder.classroom.gradebook.lateness import LateWork, update_lateness
from autograder.classroom.grading.class_to_mark import ClassToMark, HandedIn
from autograder.classroom.grading.grading_run import GradingRun, Outcome
from autograder.classroom.grading.terminal_output import progress
from autograder.classroom.grading.workers import workers


def grade_class(
    marked_class: ClassToMark,
    handed_in: Sequence[HandedIn],
    stop_if_asked: Callable[[], None],
    *,
    again: bool = False,
    number: int = 0,
    scheduler: str = "",
) -> Outcome:
    """Mark submissions that have changed, and put their marks into the gradebook.

    Args:
        marked_class: the class, locked.
        handed_in: the submissions.
        stop_if_asked: raises if the command is to stop.
        again: also mark submissions that have not changed.
        number: of processes that mark; 0 for one for each core.
        scheduler: of dask, with workers of its own; empty for workers on this machine.

    Raises:
        GradingError: the gradebook cannot be read.
        OSError: marks cannot be written.
        WorkersError: there is nobody to mark.
    """
    run = GradingRun(marked_class, handed_in, again)
    if run.number:
        with (
            workers(scheduler, number, run.number, marked_class.device, marked_class.sandbox) as pool,
            progress(run.number) as step,
        ):
            for job, result in pool.map(run.jobs()):
                run.done(job, result)
                step()
                stop_if_asked()
    run.record_the_rest()
    run.complain_of_unmarked()
    stop_if_asked()
    return run.outcome


def points_now(marked_class: ClassToMark) -> tuple[ClassMarks | None, LateWork, list[str]]:
    """Bring lateness in the gradebook up to date and read the points that students have there.

    Returns:
        The points, or None if there is no gradebook, or it or a table of the class cannot be used; what is known about late
        work; and complaints, a line each.
    """
    course, url = marked_class.coursedir, marked_class.coursedir.db_url
    if not gradebook_exists(url):
        return None, LateWork(), []
    try:
        late_work = update_lateness(course)
        with open_gradebook(url) as gradebook:
            points = read_marks(gradebook, dropped=dropped_exercises(course))
        return points, late_work, [*late_work.complaints]
    except (NoGradebookError, TableError) as error:
        problem = "the table of marks shows neither what was taken off nor what was changed by hand"
        return None, LateWork(), [f"{problem}: {line}" for line in str(error).splitlines()]
