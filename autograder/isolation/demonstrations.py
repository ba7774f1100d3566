"""Which statements of a notebook only demonstrate something.

The cells that students were given compute, print and plot, for up to three seconds in some units. Marking has to run
only those parts that the student's own code uses.
"""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from autograder.contract.cell import Cell
from autograder.reading.python_source import DEFINITIONS, bound_names, statements

BY_NAME = {"__import__", "__main__", "__name__", "eval", "exec", "globals", "locals", "vars"}
"""Who mentions one of these may use a name without mentioning it."""


def demonstrations(cells: Iterable[Cell]) -> set[int]:
    """The numbers of the statements that need not be run: those of given cells that the student's code does not need.

    It needs the given functions and values that it uses, directly or through others. Every statement that uses one of these
    variables is run as well, since it may change it, and so is one that may change a module, for instance by setting a seed.
    """
    given: dict[int, _Given] = {}
    used = set[str]()
    found = ((cell.given, statement) for cell in cells for statement in statements(cell.source))
    for number, (is_given, statement) in enumerate(found):
        names = set(_global_names(statement.source))
        if is_given and statement.node is not None:
            given[number] = _Given(statement.node, bound_names(statement.node), names)
        else:
            used |= names
    if used & BY_NAME:
        return set()
    constant = set(dir(builtins)).union(*(one.bound for one in given.values() if isinstance(one.node, DEFINITIONS)))
    while needed := {number: one for number, one in given.items() if one.is_needed(used, constant)}:
        used = used.union(*(one.names for one in needed.values()))
        given = {number: one for number, one in given.items() if number not in needed}
    return set(given)


@dataclass(frozen=True)
class _Given:
    """A statement of a given cell, the names that it gives a value, and all that it uses."""

    node: ast.stmt
    bound: Collection[str]
    names: Collection[str]

    def is_needed(self, used: Collection[str], constant: Collection[str]) -> bool:
        if isinstance(self.node, DEFINITIONS):
            return any(name in used for name in self.bound)
        variables = [name for name in self.names if name not in constant]
        return any(name in used for name in variables) or (not variables and _is_for_a_module(self.node))


def _is_for_a_module(node: ast.stmt) -> bool:
    """Whether a statement that uses no variable may change a module: ``torch.manual_seed(0)``, ``os.environ["A"] = "b"``."""
    is_request = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute)
    return is_request or isinstance(node, ast.Assign | ast.AugAssign)


def _global_names(source: str) -> Iterator[str]:
    """The names that code at the top level of a module uses or gives a value, also in its functions, without their own."""
    try:
        tables = [symtable.symtable(source, "", "exec")]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield from re.findall(r"\w+", source)
        return
    while tables:
        table = tables.pop()
        at_top = table.get_type() == "module"
        yield from (symbol.get_name() for symbol in table.get_symbols() if at_top or symbol.is_global())
        tables.extend(table.get_children())
