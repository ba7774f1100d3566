"""Find out which mistakes were made by playing variants, right and wrong, until one does what was found.

A *variant* is one way to write something: a loop, a loss, a way of counting. What a search needs is

- candidates: variants with the mistakes each of them makes, fewest mistakes first. They come from one of two kinds of table:
  :data:`Choices` says which mistake each value of an attribute is, and :func:`combinations` makes all variants of it; a table
  of variants by mistake is used as it stands, by :func:`each_alone` and :func:`pairs`;
- what was found on each trial;
- a function that *plays* a variant on a trial, which yields what such code would have done there;
- a function that compares the two.

:func:`simplest_matches` and :func:`first_match` do the rest. Nothing is guessed from text or from error messages, and mistakes
that were made together are found together.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

V = TypeVar("V")
"""A variant."""
N = TypeVar("N", bound=NamedTuple)
"""A variant that is a named tuple whose defaults are right."""
T = TypeVar("T")
"""A trial, or its name."""
F = TypeVar("F")
"""What was found on a trial."""
P = TypeVar("P")
"""What a variant does when it is played on a trial."""

Choices = Mapping[str, Mapping[Any, tuple[str, ...]]]
"""For each attribute of a variant its values, the right one first, and the mistakes each of them is."""


class Candidate(NamedTuple, Generic[V]):
    """A variant and the slugs of the mistakes it makes."""

    variant: V
    mistakes: tuple[str, ...]


def combinations(
    kind: type[N],
    choices: Choices,
    *,
    is_distinct: Callable[[N], bool] = lambda variant: True,
    moot: Callable[[N], Collection[str]] = lambda variant: (),
    max_mistakes: int | None = None,
) -> tuple[Candidate[N], ...]:
    """All combinations of choices with the mistakes they make, fewest mistakes first.

    Variants with equally many mistakes come in the order of the choices, the last attribute changing fastest.

    Args:
        kind: the variants' type.
        choices: for each attribute of this type, in any order, its values and the mistakes they are.
        is_distinct: whether a combination is a variant of its own and not another one under a different name.
        moot: mistakes that make no difference in this combination, and so are not counted.
        max_mistakes: leave out variants with more mistakes than this.
    """
    tables = [choices[name] for name in kind._fields]
    found = []
    for variant in filter(is_distinct, map(kind._make, itertools.product(*tables))):
        without = moot(variant)
        slugs = [slug for table, value in zip(tables, variant, strict=True) for slug in table[value] if slug not in without]
        mistakes = tuple(dict.fromkeys(slugs))
        if max_mistakes is None or len(mistakes) <= max_mistakes:
            found.append(Candidate(variant, mistakes))
    return fewest_first(found)


def each_alone(variants: Mapping[str, Iterable[V]], slugs: Iterable[str] | None = None) -> Iterator[Candidate[V]]:
    """Each of these mistakes alone, in all variants that make it.

    Args:
        variants: by mistake.
        slugs: the mistakes; all of the table if not given.
    """
    for slug in variants if slugs is None else slugs:
        for variant in variants[slug]:
            yield Candidate(variant, (slug,))


def pairs(
    first: Iterable[Candidate[N]],
    second: Iterable[Candidate[N]],
    can_meet: Callable[[Candidate[N], Candidate[N]], bool] = lambda one, other: True,
) -> Iterator[Candidate[N]]:
    """Each of the first with each of the second, as one variant with the mistakes of both.

    Args:
        first: candidates, for instance with a mistake in clipping.
        second: others of the same type, which differ from a right variant in other attributes.
        can_meet: whether two of them make sense together.
    """
    for one, other in itertools.product(first, second):
        if can_meet(one, other):
            yield Candidate(merged(one.variant, other.variant), (*one.mistakes, *other.mistakes))


def merged(one: N, other: N) -> N:
    """The first variant with everything in which the second is not right."""
    right = other._field_defaults
    return one._replace(**{name: value for name, value in other._asdict().items() if value != right[name]})


def fewest_first(candidates: Iterable[Candidate[V]]) -> tuple[Candidate[V], ...]:
    """Candidates by their number of mistakes, otherwise in the order in which they came."""
    return tuple(sorted(candidates, key=lambda candidate: len(candidate.mistakes)))


def simplest_matches(
    candidates: Iterable[Candidate[V]],
    found: Mapping[T, F],
    play: Callable[[V, T], P],
    same: Callable[[F, P], bool],
) -> Iterator[Candidate[V]]:
    """The candidates with the fewest mistakes that do on every trial what was found there, one by one.

    Args:
        candidates: fewest mistakes first.
        found: what was found, by trial.
        play: what a variant does on a trial.
        same: whether what was found and what a variant does are the same, up to rounding.
    """
    fewest: int | None = None
    for candidate in candidates:
        if fewest is not None and len(candidate.mistakes) > fewest:
            return
        if all(same(seen, play(candidate.variant, trial)) for trial, seen in found.items()):
            fewest = len(candidate.mistakes)
            yield candidate


def first_match(
    candidates: Iterable[Candidate[V]],
    found: Mapping[T, F],
    play: Callable[[V, T], P],
    same: Callable[[F, P], bool],
) -> Candidate[V] | None:
    """The first candidate that does on every trial what was found there, or None; see :func:`simplest_matches`."""
    return next(simplest_matches(candidates, found, play, same), None)
