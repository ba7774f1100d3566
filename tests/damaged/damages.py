"""What happens to notebooks between a student's desk and the marker, each as a function of a solved notebook.

A damage takes a solved notebook (plain JSON, its own copy) and returns what is handed in: a notebook, or the bytes of a file.
Exercises named by ``loses`` are not there any more afterwards; every other one is.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import nbformat

from autograder.classroom import SOLUTIONS
from autograder.released import exercises_in, released_content
from autograder.solution_script import source_notebook


@dataclass(frozen=True)
class Damage:
    """Something that happens to a notebook.

    Attributes:
        name: of the function that does it.
        apply: does it.
        loses: how many exercises, the first of the unit, are really gone afterwards.
        file: what the notebook is called afterwards; ``{unit}`` stands for its unit.
    """

    name: str
    apply: Callable[[dict], dict | bytes]
    loses: int
    file: str

    def bytes_of(self, unit: str) -> bytes:
        """The file that is handed in for a solved notebook of a unit."""
        damaged = self.apply(solved(unit))
        return damaged if isinstance(damaged, bytes) else json.dumps(damaged).encode()

    def still_there(self, unit: str) -> tuple[str, ...]:
        return exercises_in(released_content(unit))[self.loses :]


DAMAGES: list[Damage] = []


def damage(loses: int = 0, file: str = "{unit}.ipynb"):
    def add(apply):
        DAMAGES.append(Damage(apply.__name__, apply, loses, file))
        return apply

    return add


def solved(unit: str) -> dict:
    """A released notebook with the reference solutions written into it, as plain JSON with texts in one piece."""
    return copy.deepcopy(_solved(unit))


@cache
def _solved(unit: str) -> dict:
    answers = {cell.id: cell.source for cell in source_notebook(SOLUTIONS / f"{unit}.py").cells}
    notebook = nbformat.from_dict(released_content(unit))
    for cell in notebook.cells:
        cell.source = "".join(cell.source)
        if cell.metadata.get("nbgrader", {}).get("solution"):
            lines = answers[cell.id].split("\n")
            cell.source = "\n".join(line for line in lines if "### BEGIN SOL" not in line and "### END SOL" not in line)
    return json.loads(json.dumps(notebook))


def role(cell: dict) -> dict:
    return cell["metadata"].get("nbgrader", {})


def is_solution(cell: dict) -> bool:
    return bool(role(cell).get("solution"))


def is_check(cell: dict) -> bool:
    return bool(role(cell).get("grade"))


def is_given(cell: dict) -> bool:
    return bool(role(cell).get("locked")) and not is_check(cell)


def is_code(cell: dict) -> bool:
    return cell["cell_type"] == "code"


def solutions(notebook: dict) -> list[dict]:
    return [cell for cell in notebook["cells"] if is_solution(cell)]


def keep(notebook: dict, wanted: Callable[[dict], bool]) -> dict:
    return notebook | {"cells": [cell for cell in notebook["cells"] if wanted(cell)]}


def each(notebook: dict, change: Callable[[dict], list[dict]]) -> dict:
    """A notebook in which every cell is replaced by some cells."""
    return notebook | {"cells": [new for cell in notebook["cells"] for new in change(cell)]}


def code(source: str, **metadata) -> dict:
    return {"cell_type": "code", "metadata": metadata, "source": source, "outputs": [], "execution_count": 1}


def stub(cell: dict, unit: str) -> dict:
    released = next(c for c in released_content(unit)["cells"] if c["id"] == cell["id"])
    return copy.deepcopy(released)


def unit_of(notebook: dict) -> str:
    return notebook["metadata"]["gradaccum"]["unit"]


# Cells deleted


@damage()
def import_cell_deleted(notebook):
    """The first given cell, all imports, is gone."""
    first = next(cell for cell in notebook["cells"] if is_given(cell))
    return keep(notebook, lambda cell: cell is not first)


@damage()
def given_cells_deleted(notebook):
    return keep(notebook, lambda cell: not is_given(cell))


@damage()
def checks_deleted(notebook):
    return keep(notebook, lambda cell: not is_check(cell))


@damage()
def prose_deleted(notebook):
    return keep(notebook, is_code)


@damage(loses=1)
def one_solution_deleted(notebook):
    """Only that exercise is lost."""
    return keep(notebook, lambda cell: cell is not solutions(notebook)[0])


@damage()
def all_but_solutions_deleted(notebook):
    return keep(notebook, is_solution)


# Cells duplicated


@damage()
def solutions_duplicated(notebook):
    return each(notebook, lambda cell: [cell, copy.deepcopy(cell)] if is_solution(cell) else [cell])


@damage()
def stubs_pasted_behind_solutions(notebook):
    """A student looks up the stub again and leaves it below the answer, where it would undo it."""
    unit = unit_of(notebook)
    return each(notebook, lambda cell: [cell, stub(cell, unit)] if is_solution(cell) else [cell])


@damage()
def stubs_again_at_the_end_in_one_cell(notebook):
    unit = unit_of(notebook)
    again = "\n\n\n".join("".join(stub(cell, unit)["source"]) for cell in solutions(notebook))
    return notebook | {"cells": [*notebook["cells"], code(again)]}


@damage()
def a_stub_in_the_same_cell_behind_the_answer_of_another(notebook):
    """The last solution cell also holds the stub of the first exercise."""
    first, last = solutions(notebook)[0], solutions(notebook)[-1]
    last["source"] += "\n\n\n" + "".join(stub(first, unit_of(notebook))["source"])
    return notebook


@damage()
def checks_duplicated(notebook):
    return each(notebook, lambda cell: [cell, copy.deepcopy(cell)] if is_check(cell) else [cell])


@damage()
def everything_twice(notebook):
    """Select all, copy, paste."""
    return notebook | {"cells": notebook["cells"] + copy.deepcopy(notebook["cells"])}


@damage()
def an_older_try_before_and_behind(notebook):
    """A wrong answer stands before the right one; the right one is the last."""
    wrong = [
        code(f"def {role(cell)['grade_id'].removesuffix('-solution')}(*args):\n    return 0") for cell in solutions(notebook)
    ]
    return notebook | {"cells": [*wrong, *notebook["cells"]]}


# Cells split and merged


@damage()
def split_inside_the_functions(notebook):
    """Each solution is cut behind its third line; both halves keep the metadata, as JupyterLab leaves them."""

    def halves(cell):
        lines = cell["source"].split("\n")
        if not is_solution(cell):
            return [cell]
        return [copy.deepcopy(cell) | {"source": "\n".join(part)} for part in (lines[:3], lines[3:]) if part]

    return each(notebook, halves)


@damage()
def split_into_three_without_metadata(notebook):
    def parts(cell):
        lines = cell["source"].split("\n")
        if not is_solution(cell) or len(lines) < 4:
            return [cell]
        cuts = (lines[:2], lines[2:3], lines[3:])
        return [cell | {"source": "\n".join(cuts[0])}, *(code("\n".join(part)) for part in cuts[1:])]

    return each(notebook, parts)


@damage()
def helpers_split_off(notebook):
    """A solution that uses a helper, which stands in a cell of its own behind it."""

    def halves(cell):
        if not is_solution(cell):
            return [cell]
        name = role(cell)["grade_id"].removesuffix("-solution")
        renamed = cell["source"].replace(f"def {name}(", f"def _{name}(", 1)
        return [cell | {"source": f"def {name}(*args):\n    return _{name}(*args)"}, code(renamed)]

    return each(notebook, halves)


@damage()
def solutions_merged_into_the_last(notebook):
    *others, last = solutions(notebook)
    last["source"] = "\n\n\n".join(cell["source"] for cell in (*others, last))
    return keep(notebook, lambda cell: cell not in others)


@damage()
def all_code_merged_into_one_cell(notebook):
    merged = code("\n".join(cell["source"] for cell in notebook["cells"] if is_code(cell)))
    return notebook | {"cells": [cell for cell in notebook["cells"] if not is_code(cell)] + [merged]}


@damage()
def solutions_under_a_condition(notebook):
    for cell in solutions(notebook):
        cell["source"] = "if True:\n" + "\n".join("    " + line for line in cell["source"].split("\n"))
    return notebook


# Cells in another order


@damage()
def reversed_order(notebook):
    return notebook | {"cells": notebook["cells"][::-1]}


@damage()
def shuffled(notebook):
    random.Random(4).shuffle(notebook["cells"])
    return notebook


@damage()
def solutions_first(notebook):
    return notebook | {"cells": sorted(notebook["cells"], key=lambda cell: not is_solution(cell))}


# Cells of another type


@damage()
def solutions_as_markdown(notebook):
    for cell in solutions(notebook):
        cell["cell_type"] = "markdown"
    return notebook


@damage()
def all_code_as_raw_text(notebook):
    for cell in notebook["cells"]:
        cell["cell_type"] = "raw" if is_code(cell) else cell["cell_type"]
    return notebook


@damage()
def solutions_as_markdown_without_metadata(notebook):
    return each(
        notebook, lambda c: [{"cell_type": "markdown", "metadata": {}, "source": c["source"]}] if is_solution(c) else [c]
    )


@damage()
def prose_as_code(notebook):
    return each(notebook, lambda cell: [cell if is_code(cell) else code(cell["source"])])


@damage()
def no_cell_types(notebook):
    for cell in notebook["cells"]:
        del cell["cell_type"]
    return notebook


# Names and metadata


@damage()
def grade_ids_renamed(notebook):
    for number, cell in enumerate(notebook["cells"]):
        if role(cell):
            role(cell)["grade_id"] = f"cell-{number}"
    return notebook


@damage()
def grade_ids_of_solutions_swapped(notebook):
    first, *_, last = solutions(notebook)
    first["metadata"], last["metadata"] = last["metadata"], first["metadata"]
    first["id"], last["id"] = last["id"], first["id"]
    return notebook


@damage()
def points_and_roles_changed(notebook):
    """A student gives more points, and unlocks what was locked."""
    for cell in notebook["cells"]:
        if role(cell):
            role(cell).update(points=100, locked=False, solution=True, grade=False)
    return notebook


@damage()
def metadata_stripped(notebook):
    """As after a conversion to a script and back; the name of the file is all that says which unit it is."""
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    return notebook | {"metadata": {}}


@damage(file="homework (final).ipynb")
def metadata_stripped_and_file_renamed(notebook):
    """Only the functions say which unit it is."""
    return metadata_stripped(notebook)


@damage(file="Copy of {unit} (1).ipynb")
def file_renamed(notebook):
    return metadata_stripped(notebook)


@damage()
def ids_stripped(notebook):
    for cell in notebook["cells"]:
        del cell["id"]
    return notebook | {"nbformat_minor": 4}


@damage()
def ids_all_the_same(notebook):
    for cell in notebook["cells"]:
        cell["id"] = "same"
    return notebook


@damage()
def kernel_of_another_language(notebook):
    notebook["metadata"] |= {"kernelspec": {"name": "ir", "language": "R"}, "language_info": {"name": "R"}}
    return notebook


@damage()
def nonsense_metadata(notebook):
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"] = [None, 3, [], "text", {"nbgrader": 5}, {"nbgrader": {"grade_id": ["x"]}}][number % 6]
    return notebook


@damage()
def format_minor_0(notebook):
    return notebook | {"nbformat_minor": 0}


@damage()
def format_from_the_future(notebook):
    return notebook | {"nbformat": 7, "nbformat_minor": 1}


# What stands in cells


@damage()
def import_cell_edited(notebook):
    next(cell for cell in notebook["cells"] if is_given(cell))["source"] = "import torhc\ncheck = explore = nn = None\n1 / 0"
    return notebook


@damage()
def helpers_written_into_a_given_cell(notebook):
    """Editors other than Jupyter let students write into locked cells."""
    first = next(cell for cell in notebook["cells"] if is_given(cell))
    for cell in solutions(notebook):
        name = role(cell)["grade_id"].removesuffix("-solution")
        first["source"] += "\n\n" + cell["source"].replace(f"def {name}(", f"def _{name}(", 1)
        cell["source"] = f"def {name}(*args):\n    return _{name}(*args)"
    return notebook


@damage(loses=1)
def one_solution_is_not_python(notebook):
    solutions(notebook)[0]["source"] = solutions(notebook)[0]["source"].replace("):", ":", 1)
    return notebook


@damage()
def magics_and_shell_lines(notebook):
    for cell in solutions(notebook):
        cell["source"] = "%matplotlib inline\n!pip install torch\n" + cell["source"] + "\n%timeit 1\nfiles = !ls"
    return notebook


@damage()
def timed_cells(notebook):
    for cell in solutions(notebook):
        cell["source"] = "%%time\n" + cell["source"]
    return notebook


@damage()
def cells_in_other_languages(notebook):
    return each(notebook, lambda cell: [code("%%bash\nls | grep x"), code("%%html\n<b>"), cell])


@damage()
def every_second_line_with_tabs(notebook):
    for cell in solutions(notebook):
        lines = cell["source"].split("\n")
        cell["source"] = "\n".join(line.replace("    ", "\t") if k % 2 else line for k, line in enumerate(lines))
    return notebook


@damage()
def solutions_indented(notebook):
    """IPython runs these, too."""
    for cell in solutions(notebook):
        cell["source"] = "\n".join("    " + line for line in cell["source"].split("\n"))
    return notebook


@damage()
def sources_as_lists(notebook):
    for cell in notebook["cells"]:
        cell["source"] = cell["source"].splitlines(True)
    return notebook


@damage()
def windows_line_ends_in_cells(notebook):
    for cell in notebook["cells"]:
        cell["source"] = cell["source"].replace("\n", "\r\n")
    return notebook


@damage()
def characters_that_are_none(notebook):
    """NUL bytes and halves of surrogate pairs, as a crash of an editor leaves them."""
    for cell in notebook["cells"]:
        cell["source"] = f"\0# \ud83d\n{cell['source']}\n\0"
    return notebook


@damage()
def things_that_are_no_cells(notebook):
    return each(notebook, lambda cell: [None, 3, "text", [], {}, {"cell_type": "code", "source": {"a": 1}}, cell])


# What stands beside the cells


@damage()
def outputs_of_a_hundred_megabytes(notebook):
    text = [f"step {k:8} loss {k / 7:.6f}\n" for k in range(35_000)]
    output = {"output_type": "stream", "name": "stdout", "text": text * 90}
    solutions(notebook)[0]["outputs"] = [output]
    data = json.dumps(notebook, indent=1).encode()
    assert len(data) > 100 * 2**20
    return data


@damage()
def widget_state(notebook):
    state = {f"{k:032x}": {"model_name": "VBoxModel", "state": {"children": ["x"] * 9}} for k in range(2000)}
    notebook["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": state, "version_major": 2}}
    return notebook


@damage()
def numbers_that_are_none(notebook):
    """NaN is no JSON, and nobody reads integers of ten thousand digits; programs write both."""
    for cell in notebook["cells"]:
        cell["execution_count"] = "NUMBER"
    return json.dumps(notebook).replace('"NUMBER"', "NaN").replace("NaN", "7" * 10_000, 3).encode()


@damage()
def keys_twice(notebook):
    return json.dumps(notebook).replace('"cell_type":', '"cell_type": 3, "cell_type":').encode()


# The file


@damage()
def byte_order_mark(notebook):
    return json.dumps(notebook, ensure_ascii=False).encode("utf-8-sig")


@damage()
def windows_line_ends(notebook):
    return json.dumps(notebook, indent=1).replace("\n", "\r\n").encode()


@damage()
def utf_16(notebook):
    return json.dumps(notebook, ensure_ascii=False).encode("utf-16")


@damage()
def some_bytes_damaged(notebook):
    """A byte here and there of the prose is not UTF-8."""
    return json.dumps(notebook, ensure_ascii=False).replace("·", "\udcff").encode("utf-8", "surrogateescape")


@damage()
def zeros_at_the_end(notebook):
    """As a file system leaves it that was switched off."""
    return json.dumps(notebook).encode() + b"\0" * 4096
