"""Notebooks as students hand them in, each a function of a unit and chance; see :mod:`synthetic_class`.

What is written in them comes from ``tests/submissions`` and ``tests/attacks``, what happened to them from ``tests/damaged``.
"""

from __future__ import annotations

import base64
import json
import random
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path.insert(0, str(TESTS / "damaged"))

from damages import DAMAGES, solved  # noqa: E402 - lies with the tests

from autograder.released import exercises_in, released_content  # noqa: E402

SUBMISSIONS, ATTACKS = TESTS / "submissions", TESTS / "attacks"
TOO_LARGE = "outputs_of_a_hundred_megabytes"
BAIT = {"folder": "/srv/class", "clone": "/srv/gradaccum", "port": 8786, "socket": "dask", "process": 2}
"""What attacks are told about the machine they are on."""

ENDLESS = ("while True:\n    pass", "for k in iter(int, 1):\n    k += 1", "n = 0\nwhile n >= 0:\n    n += 1")

Notebook = dict
"""A notebook as plain JSON, its texts in one piece."""

Made = tuple[Notebook | bytes | None, tuple[str, ...]]
"""What is handed in, and the names of what it is made of."""


def _right(unit: str, chance: random.Random) -> Made:
    return _assembled(unit, chance, {})


def _one_mistake(unit: str, chance: random.Random) -> Made:
    sample = chance.choice(_samples(unit, "mistakes"))
    return _assembled(unit, chance, {_exercise_of(sample): sample})


def _two_mistakes(unit: str, chance: random.Random) -> Made:
    pairs, wrong = _samples(unit, "pairs"), _samples(unit, "mistakes")
    if pairs and chance.random() < 0.5:
        sample = chance.choice(pairs)
        return _assembled(unit, chance, {_exercise_of(sample): sample})
    exercises = chance.sample(sorted({_exercise_of(sample) for sample in wrong}), 2)
    chosen = {name: chance.choice([sample for sample in wrong if _exercise_of(sample) == name]) for name in exercises}
    return _assembled(unit, chance, chosen)


def _half_done(unit: str, chance: random.Random) -> Made:
    exercises = exercises_in(released_content(unit))
    left = chance.sample(exercises, chance.randint(1, len(exercises) - 1))
    notebook, made_of = _one_mistake(unit, chance) if chance.random() < 0.5 else _right(unit, chance)
    stubs = _stubs(unit)
    for name in left:
        _solution_cell(notebook, name)["source"] = stubs[name]
    return notebook, (*made_of, *(f"without {name}" for name in left))


def _untouched(unit: str, chance: random.Random) -> Made:
    return json.loads(json.dumps(released_content(unit))), ()


def _syntax_error(unit: str, chance: random.Random) -> Made:
    notebook, made_of = _right(unit, chance)
    name = chance.choice(exercises_in(released_content(unit)))
    cell = _solution_cell(notebook, name)
    cell["source"] = re.sub(r"^(def .*\)):$", r"\1", cell["source"], count=1, flags=re.MULTILINE)
    return notebook, (*made_of, f"no Python in {name}")


def _endless(unit: str, chance: random.Random) -> Made:
    notebook, made_of = _right(unit, chance)
    name, loop = chance.choice(exercises_in(released_content(unit))), chance.choice(ENDLESS)
    cell = _solution_cell(notebook, name)
    if chance.random() < 0.25:
        cell["source"] += f"\n\n\n{loop}"
        return notebook, (*made_of, f"endless below {name}")
    inside = "\n".join(f"    {line}" for line in loop.split("\n"))
    cell["source"] = f"{_signature(unit, name)}\n{inside}"
    return notebook, (*made_of, f"endless {name}")


def _damaged(unit: str, chance: random.Random) -> Made:
    notebook, made_of = _right(unit, chance)
    name = chance.choice(sorted(DAMAGE_BY_NAME))
    return DAMAGE_BY_NAME[name](notebook), (*made_of, name)


def _hostile(unit: str, chance: random.Random) -> Made:
    """An attack in place of an exercise, or of the first one where it was made for another unit."""
    attacks = _attacks(unit) or _attacks("04_training_loop")
    path = chance.choice(attacks)
    notebook, made_of = _right(unit, chance)
    names = exercises_in(released_content(unit))
    source = f"BAIT = {BAIT!r}\n{path.read_text(encoding='utf-8')}"
    own = [name for name in names if re.search(rf"^def {name}\(", source, re.MULTILINE)]
    if not own:
        own = [names[0]]
        source = re.sub(r"^def train_epoch\(.*\):$", _signature(unit, names[0]), source, flags=re.MULTILINE)
    _solution_cell(notebook, own[0])["source"] = source
    return notebook, (*made_of, path.stem)


MAKERS: dict[str, Callable[[str, random.Random], Made]] = {
    "right": _right,
    "one mistake": _one_mistake,
    "two mistakes": _two_mistakes,
    "half done": _half_done,
    "damaged": _damaged,
    "not handed in": lambda unit, chance: (None, ()),
    "syntax error": _syntax_error,
    "endless": _endless,
    "untouched": _untouched,
    "empty": lambda unit, chance: (b"", ()),
    "hostile": _hostile,
}


def _cut_short(notebook: Notebook) -> bytes:
    data = json.dumps(notebook, indent=1).encode()
    return data[: len(data) * 3 // 5]


def _format_3(notebook: Notebook) -> bytes:
    import nbformat

    return nbformat.writes(nbformat.v4.downgrade(nbformat.from_dict(notebook)), version=3).encode()


def _outputs_of_some_megabytes(notebook: Notebook) -> Notebook:
    text = "".join(f"step {k:8} loss {k / 7:.6f}\n" for k in range(150_000))
    cell = next(cell for cell in notebook["cells"] if _is_solution(cell))
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]
    return notebook


DAMAGE_BY_NAME: dict[str, Callable[[Notebook], Notebook | bytes]] = {
    damage.name: damage.apply for damage in DAMAGES if damage.name != TOO_LARGE
} | {"cut_short": _cut_short, "format_3": _format_3, "outputs_of_some_megabytes": _outputs_of_some_megabytes}


def _assembled(unit: str, chance: random.Random, chosen: dict[str, Path]) -> Made:
    """A notebook that was worked through: some exercises as chosen, the others right in one of the ways there are."""
    notebook, made_of = solved(unit), []
    accepted = _samples(unit, "accepted")
    for name in exercises_in(released_content(unit)):
        ways = [None, None, *(path for path in accepted if _exercise_of(path) == name)]  # the usual way twice
        if path := chosen.get(name) or chance.choice(ways):
            _solution_cell(notebook, name)["source"] = path.read_text(encoding="utf-8")
            made_of.append(path.stem)
    _execute(notebook, chance)
    return notebook, tuple(made_of)


def _execute(notebook: Notebook, chance: random.Random) -> None:
    """Leave behind what running a notebook does: numbers, some text, and pictures of the usual size."""
    for number, cell in enumerate((cell for cell in notebook["cells"] if cell["cell_type"] == "code"), 1):
        cell["execution_count"] = number
        if cell["source"].startswith(("explore", "show", "check")):
            picture = base64.b64encode(chance.randbytes(24_000)).decode()
            data = {"text/plain": "<Figure size 640x480 with 1 Axes>", "image/png": picture}
            cell["outputs"] = [{"output_type": "display_data", "data": data, "metadata": {}}]
        elif "print(" in cell["source"]:
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": f"{chance.random():.6f}\n"}]


def _is_solution(cell: dict) -> bool:
    return bool(cell["metadata"].get("nbgrader", {}).get("solution"))


def _solution_cell(notebook: Notebook, exercise: str) -> dict:
    return next(cell for cell in notebook["cells"] if cell["id"] == f"{exercise}-solution")


@cache
def _stubs(unit: str) -> dict[str, str]:
    cells = released_content(unit)["cells"]
    return {cell["id"].removesuffix("-solution"): "".join(cell["source"]) for cell in cells if _is_solution(cell)}


def _signature(unit: str, exercise: str) -> str:
    return re.search(rf"^def {exercise}\(.*\):$", _stubs(unit)[exercise], re.MULTILINE)[0]


@cache
def _samples(unit: str, kind: str) -> list[Path]:
    return sorted((SUBMISSIONS / unit / kind).glob("*.py"))


@cache
def _attacks(unit: str) -> list[Path]:
    return sorted(ATTACKS.glob(f"{unit}__*.py"))


@cache
def _exercise_of(sample: Path) -> str:
    return re.search(r'^EXERCISE = "(\w+)"$', sample.read_text(encoding="utf-8"), re.MULTILINE)[1]
