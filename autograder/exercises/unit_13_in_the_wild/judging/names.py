"""The names of fingerprints, and what a function reads if its names are wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autograder.exercises.unit_13_in_the_wild.judging.playing import NAMED, named, play
from autograder.exercises.unit_13_in_the_wild.observing.trainers import Build
from autograder.judging.calls import Formula
from autograder.support.counted import counted
from autograder.support.side_by_side import side_by_side

CLOSE = 1e-4
"""Difference up to which two shares are the same: what is given is off by 1e-6, shares of other trainers by more than 1e-3."""

Given = Sequence[Mapping[str, Any]]


def names(fingerprints: Given) -> list[str]:
    """For each fingerprint the first name whose trainer leaves it."""
    return [_name(one["found"], one["tokens"], one["accumulation_steps"]) for one in fingerprints]


def _name(found: Sequence[Sequence[float]], tokens: Sequence[int], steps: int, other: str = "right") -> str:
    build = Build(0, steps, tuple((count,) for count in tokens))
    return next((name for name in NAMED if _close(found, play(named(build, name)))), other)


def _close(found: Sequence[Sequence[float]], played: Sequence[Sequence[float]]) -> bool:
    return len(found) == len(played) and all(
        abs(a - b) < CLOSE for row, others in zip(found, played, strict=True) for a, b in zip(row, others, strict=True)
    )


def _without_tokens(fingerprints: Given) -> list[str]:
    """As if all micro-batches held equally many tokens: rows of equal shares are right."""
    read = []
    for one, name in zip(fingerprints, names(fingerprints), strict=True):
        equal = _name(one["found"], [1] * len(one["tokens"]), one["accumulation_steps"], other=name)
        read.append(equal if name in ("mean-of-means", "tail-scale") else name)
    return read


def _without_leftover(fingerprints: Given) -> list[str]:
    """What is read off full windows alone."""
    return ["right" if name in ("tail-scale", "tail-dropped") else name for name in names(fingerprints)]


WRONG_NAMES: dict[str, Formula] = {
    "tokens-not-read": _without_tokens,
    "leftover-not-read": _without_leftover,
}
"""Functions that do not read all of a fingerprint, by the slug of their mistake."""


def names_message(fingerprints: Given, found: object) -> str:
    """How many names are wrong, and what is in the first fingerprint whose name is."""
    due = names(fingerprints)
    if not isinstance(found, list) or len(found) != len(due):
        yours = f" Yours has {len(found)}." if isinstance(found, list) else ""
        return f"Return a list with one name for each of the {len(due)} fingerprints.{yours}"
    wrong = [k for k, pair in enumerate(zip(found, due, strict=True)) if pair[0] != pair[1]]
    first = wrong[0] if wrong else 0
    given = fingerprints[first]
    row = next((shares for shares in given["found"] if any(shares)), given["found"][-1])
    said = f"“{text}”" if len(text := str(found[first])) <= 30 else f"“{text[:30]}…”"
    if found[first] not in tuple(NAMED):  # it may be anything, and not hashable
        said += ", which is not one of the names"
    shares = ", ".join(f"{share:.3g}" for share in row[: given["accumulation_steps"]])
    verb, updates = "is" if len(wrong) == 1 else "are", len(given["found"])
    rows = f"{updates} updates, the first of which begins" if updates != 1 else "1 update, which begins"
    return (
        f"{len(wrong)} of {len(due)} names {verb} wrong. Number {first + 1} has N = {given['accumulation_steps']}, "
        f"micro-batches of {', '.join(map(str, given['tokens']))} tokens and {rows} (rounded) with {shares}. "
        f"You say {said}.{_instead(given, found[first])}{_taken_for(found, due)}"
    )


def _instead(given: Mapping[str, Any], said: object) -> str:
    """Where a fingerprint first differs from that of the name that is said, as a sentence to append."""
    name = next((name for name in NAMED if name == said), None)
    if name is None:
        return ""
    found, steps = given["found"], given["accumulation_steps"]
    played = play(named(Build(0, steps, tuple((count,) for count in given["tokens"])), name))
    if len(played) != len(found):
        return f" A trainer of that name would make {counted(len(played), 'update')}."
    rows = enumerate(zip(played, found, strict=True), 1)
    shares = ((k, i, a, b) for k, pair in rows for i, (a, b) in enumerate(zip(*pair, strict=True), 1))
    update, micro_batch, would, holds = next((one for one in shares if abs(one[2] - one[3]) >= CLOSE), (0, 0, 0.0, 0.0))
    if not update:
        return ""
    of_that_name, here = side_by_side(would, holds, 3)
    return (
        f" Update {update} of a trainer of that name would hold {of_that_name} of micro-batch {micro_batch}, "
        f"and here it holds {here}."
    )


def _taken_for(found: Sequence[object], due: Sequence[str]) -> str:
    """Which name is said instead of which, as a sentence to append, if all of several wrong names show it; empty otherwise."""
    wrong = [(str(said)[:30], wanted) for said, wanted in zip(found, due, strict=True) if said != wanted]
    pairs = set(wrong)
    if len(wrong) < 2:
        return ""
    if sorted(map(str, found)) == sorted(due):
        return " These are the names that are due, in another order."
    said, wanted = ({pair[k] for pair in pairs} for k in (0, 1))
    if len(said) == 1 and len(wanted) > 1:
        return f" All wrong names are “{said.pop()}”, where {len(wanted)} different ones are due."
    if len(pairs) == 1:
        return f" All wrong names are “{said.pop()}”, where “{wanted.pop()}” is due."
    return f" “{wanted.pop()}” is due for all that you name wrongly." if len(wanted) == 1 else ""
