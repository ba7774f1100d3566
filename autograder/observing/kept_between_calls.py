"""What a function's calls change and later ones find so: default values, attributes, and what is defined outside of it."""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from types import CodeType, FunctionType
from typing import Any

from torch import Tensor, nn

from autograder.contract.observation import Observation

CHANGES = "Your code changes {}, so what a call does may depend on earlier calls."

MAX_ITEMS = 200
"""Items of a container that are looked at; of a larger one, only how many there are."""

DEPTH = 2
"""How deep containers are looked at within containers."""

_MEMORY = type(functools.lru_cache(lambda: None))

_Place = tuple[str, Callable[[], Any]]
"""Something that is there between two calls: in words, and how to get it."""


class Keeping:
    """Looks at what is there between the calls of a function: before the first observation, and after each.

    It tells a student more than points: an error in it must cost nobody anything. Nothing that student code defines is called.
    """

    def __init__(self, function: Callable):
        self._function = function
        self._before: list[tuple[_Place, object]] | None = None

    def noted(self, observer: Callable[[Callable, Any], Observation]) -> Callable[[Callable, Any], Observation]:
        """The observer, whose observations also say what the function has kept by then."""

        def observe(function: Callable, trial: Any) -> Observation:
            with suppress(Exception):
                self._look()
            seen = observer(function, trial)
            with suppress(Exception):
                return replace(seen, kept=self._changed())
            return seen

        return observe

    def _look(self) -> None:
        if self._before is None:
            self._before = []
            self._before = [(place, _content(place[1]())) for place in _places(self._function)]

    def _changed(self) -> str:
        changed = (words for (words, get), content in self._before or () if _content(get()) != content)
        return next((CHANGES.format(words) for words in changed), "")


def _places(function: Callable) -> Iterator[_Place]:
    """What is there between calls of a function or of a class's methods, and of what is defined beside them and used."""
    waiting: deque[tuple[str, Any]] = deque([("", function)])
    seen: set[int] = set()
    while waiting:
        name, one = waiting.popleft()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if _is(one, _MEMORY):
            yield f"what {name or one.__wrapped__.__name__} remembers of its calls", functools.partial(_remembered, one)
        elif _is(one, FunctionType):
            yield from _of_function(one)
            waiting.extend((used, value) for used, value in _used(one).items() if _is_defined_beside(value, one))
        elif _is(one, type):
            for attribute, value in list(vars(one).items()):
                inner = value.fget if _is(value, property) else value
                inner = inner.__func__ if _is(inner, staticmethod, classmethod) else inner
                if _is(inner, FunctionType, _MEMORY):
                    waiting.append((attribute, inner))
                elif not attribute.startswith("__"):
                    yield f"{attribute}, which all objects of a class share", functools.partial(_shared, one, attribute)


def _of_function(function: FunctionType) -> Iterator[_Place]:
    code, defaults = function.__code__, function.__defaults__ or ()
    arguments = code.co_varnames[: code.co_argcount]
    given = dict(zip(arguments[len(arguments) - len(defaults) :], defaults, strict=True)) | (function.__kwdefaults__ or {})
    for argument, value in given.items():
        yield f"the default value of the argument '{argument}'", functools.partial(_itself, value)
    yield f"an attribute of {function.__name__}", functools.partial(_attributes, function)
    for used in _used(function):
        yield f"{used}, which is defined outside of {function.__name__}", functools.partial(_value, function, used)


def _used(function: FunctionType) -> dict[str, Any]:
    """What a function refers to by names that are neither its arguments nor its other variables."""
    names, outside = _names(function.__code__), function.__globals__
    found = {name: outside[name] for name in sorted(names) if name in outside}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # it is empty so far
            found[name] = cell.cell_contents
    return found


def _names(code: CodeType) -> set[str]:
    return set(code.co_names).union(*(_names(inner) for inner in code.co_consts if _is(inner, CodeType)))


def _is_defined_beside(value: Any, function: FunctionType) -> bool:
    """Whether it is a function or class of the same notebook or file."""
    if _is(value, _MEMORY):
        value = value.__wrapped__
    if _is(value, FunctionType):
        return value.__globals__ is function.__globals__
    return _is(value, type) and vars(value).get("__module__") == function.__globals__.get("__name__")


def _itself(value: object) -> object:
    return value


def _value(function: FunctionType, name: str) -> object:
    if name in function.__code__.co_freevars:
        return _used(function).get(name)
    return function.__globals__.get(name)


def _shared(owner: type, attribute: str) -> object:
    return vars(owner).get(attribute)


def _attributes(function: FunctionType) -> dict[str, object]:
    return {name: value for name, value in vars(function).items() if name != "__wrapped__"}


def _remembered(function: Any) -> int:
    return _MEMORY.cache_info(function).currsize


def _is(value: object, *kinds: type) -> bool:
    """As isinstance, which asks the value, and so may call student code."""
    return issubclass(type(value), kinds)


def _content(value: Any, depth: int = DEPTH) -> object:
    """What to compare a value by: numbers, text, how often a tensor was written to, what is in containers, or identity."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return repr(value)  # NaN is not equal to itself
    if type(value) in (Tensor, nn.Parameter):
        return id(value), None if value.is_inference() else value._version
    if _is(value, dict):
        items = [*dict.keys(value), *dict.values(value)]
    elif _is(value, list, tuple, deque):
        kind = next(kind for kind in (list, tuple, deque) if _is(value, kind))
        items = list(kind.__iter__(value))
    elif _is(value, set):
        items = sorted(map(id, set.__iter__(value)))
    else:
        return id(value)
    within = [_content(item, depth - 1) for item in items] if depth and len(items) <= MAX_ITEMS else None
    return type(value).__name__, len(items), within
