"""For each mistake a loop of the class that shows it, as fingerprints."""

from __future__ import annotations

from autograder.classroom.report.class_data import ClassData

Example = tuple[tuple[str, ...], tuple[str, ...]]
"""The fingerprints of a loop, and its mistakes."""
NO_EXAMPLE: Example = ((), ())


def examples_of(data: ClassData) -> dict[tuple[str, str], Example]:
    """For each mistake in each exercise the loop that shows it best: with few other mistakes, and small.

    Whose loop it is does not influence the choice, so nothing about an example points to a student.
    """
    best: dict[tuple[str, str], tuple[tuple[int, int, tuple[str, ...]], Example]] = {}
    for exercise in (exercise for one in data.marks for exercise in one.exercises if exercise.fingerprints):
        slugs = tuple(mistake.slug for mistake in exercise.mistakes)
        rank = (len(slugs), sum(map(len, exercise.fingerprints)), exercise.fingerprints)
        for slug in slugs:
            if (slug, exercise.id) not in best or rank < best[slug, exercise.id][0]:
                best[slug, exercise.id] = (rank, (exercise.fingerprints, slugs))
    return {key: example for key, (_, example) in best.items()}


def best_example(examples: list[Example]) -> Example:
    """The example with the fewest mistakes; of several, that of the exercise in which most students made the mistake."""
    return min((one for one in examples if one[0]), key=lambda one: len(one[1]), default=NO_EXAMPLE)
