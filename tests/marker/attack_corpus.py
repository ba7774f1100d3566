"""The files in ``tests/attacks``: what each defines, and which points are due to it.

Functions that an attack defines earn nothing, and right solutions of the unit's other exercises earn all points, unless a line
``# Earns: name=points`` of the attack says otherwise.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

from autograder.contract.units import unit_in
from autograder.exercises import exercises_of

ATTACKS = sorted(path for path in (Path(__file__).parents[1] / "attacks").iterdir() if path.suffix in (".py", ".ipynb"))


def defined_in(attack: Path) -> set[str]:
    """The names of the functions and classes that an attack defines itself."""
    sources = [attack.read_text()]
    if attack.suffix == ".ipynb":
        sources = ["".join(cell["source"]) for cell in json.loads(sources[0])["cells"] if cell["cell_type"] == "code"]
    trees = [ast.parse(source) for source in sources if not source.startswith(("%", "!"))]
    return {node.name for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def due_to(attack: Path) -> dict[str, float]:
    """What each exercise has to get, by id."""
    defined, said = defined_in(attack), re.search(r"^# Earns: (.*)$", attack.read_text(), re.MULTILINE)
    exceptions = dict(pair.split("=") for pair in said[1].split()) if said else {}
    points = {e.id: 0.0 if e.id in defined else e.max_score for e in exercises_of(unit_in(attack.name))}
    return points | {name: float(value) for name, value in exceptions.items()}
