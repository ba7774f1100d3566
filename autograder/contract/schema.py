"""What an observation may consist of. It is checked on arrival, so that judging meets nothing that it is not made for.

A process that runs student code may send anything. A :class:`Schema` says, for one trial, which tensors and facts can have been
observed: their names, types, shapes and lengths. What does not fit is the submission's failure; whatever goes wrong with what
fits is a fault of the marker (see :mod:`autograder.marking.in_process`). Sizes are bounded here, and so is the cost of judging.

Facts are described by objects with a method ``misfit``, which says in words what is wrong with a value, or returns an empty
string. A length is a number, a range ``(least, most)``, or a name: what has the same name has the same length.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor

from autograder.contract.observation import Failure, Observation

FLOATS = frozenset((torch.float64, torch.float32, torch.float16, torch.bfloat16))
"""What parameters and gradients may be made of."""

ANY_DTYPE = FLOATS | {torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool}

MAX_ELEMENTS = 100_000
"""Numbers in a tensor whose shape student code chooses. What is due has some hundreds."""

MAX_DIMENSIONS = 8
"""Dimensions of such a tensor."""

MAX_ENTRIES = 1000
"""Tensors of one observation."""

MAX_WHOLE = 2**63 - 1
"""Largest whole number. JSON has larger ones, which Python refuses to turn into floats or texts."""

MAX_TEXT = 400
"""Characters of a text, unless a schema says otherwise."""

MAX_VALUES, MAX_DEPTH = 10_000, 10
"""Values in all, and levels of nesting, of what a function returned."""

Length = int | str | tuple[int, int]


class Lengths:
    """The named lengths of one observation: the range of each, and what has been found so far."""

    def __init__(self, ranges: Mapping[str, tuple[int, int]]):
        self._ranges = ranges
        self._found: dict[str, int] = {}

    def misfit(self, found: int, due: Length) -> str:
        if isinstance(due, str):
            if found != self._found.setdefault(due, found):
                return f"tells of {found} {due}, something else of {self._found[due]}"
            least, most = self._ranges[due]
            return "" if least <= found <= most else f"tells of {found} {due}; {_between(least, most)} can be judged"
        least, most = due if isinstance(due, tuple) else (due, due)
        return "" if least <= found <= most else f"has the length {found}, which should be {_between(least, most)}"


class Fact(Protocol):
    """A description of JSON values."""

    def misfit(self, value: Any, lengths: Lengths) -> str:
        """What is wrong with a value, as the end of a sentence that begins with its name; empty if it fits."""
        ...


@dataclass(frozen=True)
class Truth:
    """``True`` or ``False``."""

    def misfit(self, value: Any, lengths: Lengths) -> str:
        return "" if isinstance(value, bool) else "is neither True nor False"


@dataclass(frozen=True)
class Whole:
    """A whole number."""

    least: int = 0
    most: int = MAX_WHOLE

    def misfit(self, value: Any, lengths: Lengths) -> str:
        fits = type(value) is int and self.least <= value <= self.most
        return "" if fits else f"is not a whole number, {_between(self.least, self.most)}"


@dataclass(frozen=True)
class Number:
    """A number; it may be infinite or NaN."""

    def misfit(self, value: Any, lengths: Lengths) -> str:
        fits = type(value) is float or (type(value) is int and abs(value) <= MAX_WHOLE)
        return "" if fits else f"is not a number of at most {MAX_WHOLE}"


@dataclass(frozen=True)
class Text:
    """A text."""

    most: int = MAX_TEXT

    def misfit(self, value: Any, lengths: Lengths) -> str:
        fits = isinstance(value, str) and len(value) <= self.most
        return "" if fits else f"is not a text of at most {self.most} characters"


@dataclass(frozen=True)
class ListOf:
    """A list."""

    item: Fact
    length: Length

    def misfit(self, value: Any, lengths: Lengths) -> str:
        if not isinstance(value, list):
            return "is not a list"
        return lengths.misfit(len(value), self.length) or _first_misfit(enumerate(value), lambda _: self.item, lengths)


@dataclass(frozen=True)
class Each:
    """A list of these, in this order."""

    items: tuple[Fact, ...]

    def misfit(self, value: Any, lengths: Lengths) -> str:
        if not isinstance(value, list) or len(value) != len(self.items):
            return f"is not a list of length {len(self.items)}"
        return _first_misfit(enumerate(value), self.items.__getitem__, lengths)


@dataclass(frozen=True)
class DictOf:
    """A dictionary with any keys."""

    item: Fact
    most: int = MAX_ENTRIES

    def misfit(self, value: Any, lengths: Lengths) -> str:
        if not isinstance(value, dict) or len(value) > self.most:
            return f"is not a dictionary of at most {self.most} entries"
        return _first_misfit(value.items(), lambda _: self.item, lengths)


@dataclass(frozen=True)
class Record:
    """A dictionary with these keys; what is :class:`Maybe` there may be missing."""

    entries: Mapping[str, Fact | Maybe]

    def misfit(self, value: Any, lengths: Lengths) -> str:
        return _entries_misfit(value, self.entries, lengths) if isinstance(value, dict) else "is not a dictionary"


@dataclass(frozen=True)
class NoneOr:
    """None, or something else."""

    item: Fact

    def misfit(self, value: Any, lengths: Lengths) -> str:
        return "" if value is None else self.item.misfit(value, lengths)


@dataclass(frozen=True)
class Either:
    """One of several things; what is wrong is said of the last."""

    items: tuple[Fact, ...]

    def misfit(self, value: Any, lengths: Lengths) -> str:
        misfits = [item.misfit(value, lengths) for item in self.items]
        return "" if "" in misfits else misfits[-1]


@dataclass(frozen=True)
class Plain:
    """What a function may return as plain data: numbers, truth values, texts, nothing, and lists and dictionaries of these."""

    def misfit(self, value: Any, lengths: Lengths) -> str:
        level, values = [value], 0
        for _ in range(MAX_DEPTH):
            values += len(level)
            if values > MAX_VALUES:
                return f"holds more than {MAX_VALUES} values"
            if any(type(one) is int and abs(one) > MAX_WHOLE for one in level):
                return f"holds a number above {MAX_WHOLE}"
            if any(isinstance(one, str) and len(one) > MAX_VALUES for one in level):
                return f"holds a text of more than {MAX_VALUES} characters"
            lists = [one for one in level if isinstance(one, list)]
            lists += [list(one.values()) for one in level if isinstance(one, dict)]
            level = [item for one in lists for item in one]
            if not level:
                return ""
        return f"is nested more than {MAX_DEPTH} levels deep"


@dataclass(frozen=True)
class Array:
    """A tensor. Without a shape it may have any of up to :data:`MAX_ELEMENTS` numbers."""

    shape: tuple[Length, ...] | None = None
    dtypes: Collection[torch.dtype] = ANY_DTYPE

    def misfit(self, value: Tensor, lengths: Lengths) -> str:
        if value.dtype not in self.dtypes:
            return f"is of {str(value.dtype).removeprefix('torch.')}, which is not expected there"
        if self.shape is None:
            small = value.dim() <= MAX_DIMENSIONS and math.prod(max(1, length) for length in value.shape) <= MAX_ELEMENTS
            return "" if small else f"is far larger than anything that was asked for: {_shape_in_words(value.shape)}"
        if len(value.shape) != len(self.shape):
            return f"is a tensor with {value.dim()} dimensions where {len(self.shape)} are due"
        return next(filter(None, map(lengths.misfit, value.shape, self.shape)), "")


@dataclass(frozen=True)
class Maybe:
    """A tensor or a fact that may be missing."""

    what: Any


@dataclass(frozen=True)
class Form:
    """One way in which an observation may be made up.

    Attributes:
        tensors: by name. A name that ends in ``*`` stands for all that begin like it and are not named themselves.
        facts: by name.
        lengths: the range of each named length.
    """

    tensors: Mapping[str, Array | Maybe] = field(default_factory=dict)
    facts: Mapping[str, Fact | Maybe] = field(default_factory=dict)
    lengths: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def misfit(self, seen: Observation) -> str:
        """What does not fit, in words; empty if everything does."""
        if len(seen.tensors) > MAX_ENTRIES:
            return f"there are more than {MAX_ENTRIES} tensors"
        lengths = Lengths(self.lengths)
        return _entries_misfit(seen.tensors, self.tensors, lengths) or _entries_misfit(seen.facts, self.facts, lengths)

    def names_in(self, seen: Observation) -> int:
        """How many names an observation has in common with it, less those that it has alone."""
        names, own = seen.tensors.keys() | seen.facts.keys(), self.tensors.keys() | self.facts.keys()
        return len(names & own) - len(names - own)


NOTHING = Form()
"""An observation of a failure alone."""


@dataclass(frozen=True)
class Schema:
    """What can have been observed on a trial.

    Attributes:
        forms: the ways in which an observation may be made up.
        failed: the same for a trial that has no result. There may always be nothing beside the failure.
    """

    forms: tuple[Form, ...]
    failed: tuple[Form, ...] = ()

    def admitted(self, seen: Observation) -> Observation:
        """The observation if it fits, and otherwise one with a failure that says what does not fit."""
        if seen.failure:
            fits = any(not form.misfit(seen) for form in (NOTHING, *self.failed))
            return seen if fits else Observation(failure=seen.failure)
        likely = max(self.forms, key=lambda form: form.names_in(seen))
        misfit = likely.misfit(seen)
        if not misfit or any(not form.misfit(seen) for form in self.forms if form is not likely):
            return seen
        return Observation(failure=Failure("misfit", f"What your code brought about cannot be judged: {misfit}."))


def _entries_misfit(found: Mapping[str, Any], due: Mapping[str, Any], lengths: Lengths) -> str:
    """What is wrong with entries by name: the first that is missing, should not be there, or does not fit."""
    missing = [name for name, what in due.items() if name not in found and not isinstance(what, Maybe) and name[-1:] != "*"]
    if missing:
        return f"{quoted(missing[0])} is missing"
    patterns = sorted((name[:-1] for name in due if name.endswith("*")), key=len, reverse=True)

    def described(name: str) -> Any:
        pattern = next((start for start in patterns if name.startswith(start)), None)
        what = due.get(name) or (None if pattern is None else due[f"{pattern}*"])
        return what.what if isinstance(what, Maybe) else what

    if surplus := [name for name in found if described(name) is None]:
        return f"{quoted(surplus[0])} should not be there"
    return _first_misfit(found.items(), described, lengths)


def _first_misfit(items: Any, described: Any, lengths: Lengths) -> str:
    for name, value in items:
        if misfit := described(name).misfit(value, lengths):
            return f"{quoted(name)} {misfit}"
    return ""


def quoted(name: object) -> str:
    """A name as a message shows it: short, and in characters that every terminal has."""
    return f"entry {name + 1}" if isinstance(name, int) else ascii(name)[:60]


def _between(least: int, most: int) -> str:
    if most >= MAX_WHOLE:
        return f"at least {least}"
    return str(least) if least == most else f"{least} to {most}"


def _shape_in_words(shape: Sequence[int]) -> str:
    return " by ".join(map(str, shape[:4])) + (" by …" if len(shape) > 4 else "")
