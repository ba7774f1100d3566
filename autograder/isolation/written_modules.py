"""The modules that a submission writes with ``%%writefile`` and then imports. They are kept in memory; nothing is written."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import re
import sys
import types
from collections.abc import Iterable, Sequence
from importlib.util import spec_from_loader

from autograder.contract.cell import Cell

_WRITTEN = re.compile(r"\s*%%(?:writefile|file)[ \t]+(-a[ \t]+|--append[ \t]+)?(?:\./)?(\w+)\.py[ \t]*\n")


def written_modules(cells: Iterable[Cell]) -> dict[str, str]:
    """The text of each module that cells write, by the module's name."""
    texts: dict[str, str] = {}
    for cell in cells:
        if match := _WRITTEN.match(cell.source):
            appended, name = match.groups()
            texts[name] = (texts.get(name, "") if appended else "") + cell.source[match.end() :]
    return texts


def make_importable(texts: dict[str, str]) -> None:
    """Let these modules be imported from now on, before others of their names, and no longer those of an earlier call."""
    for finder in [finder for finder in sys.meta_path if isinstance(finder, _WrittenFinder)]:
        sys.meta_path.remove(finder)
        for name in finder.texts:
            if isinstance(getattr(sys.modules.get(name), "__loader__", None), _WrittenLoader):
                del sys.modules[name]
    if texts:
        sys.meta_path.insert(0, _WrittenFinder(texts))


class _WrittenLoader(importlib.abc.InspectLoader):
    def __init__(self, text: str):
        self.text = text

    def get_source(self, fullname: str) -> str:
        return self.text


class _WrittenFinder(importlib.abc.MetaPathFinder):
    def __init__(self, texts: dict[str, str]):
        self.texts = texts

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if path is not None or fullname not in self.texts:
            return None
        return spec_from_loader(fullname, _WrittenLoader(self.texts[fullname]), origin=f"{fullname}.py, written by a cell")
