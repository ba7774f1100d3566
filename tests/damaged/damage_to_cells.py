"""Damage to the list of cells: deleted, duplicated, split, merged, moved and converted to another type."""

from __future__ import annotations

import copy
import random

from damage import code, damage, each, is_check, is_code, is_given, is_solution, keep, role, solutions, stub, unit_of

# Cells deleted


@damage()
def import_cell_deleted(notebook):
    """The first given cell, which holds all imports, is missing."""
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
def stubs_pasted_below_solutions(notebook):
    """A student pastes the stub again and leaves it below the answer, which it would override."""
    unit = unit_of(notebook)
    return each(notebook, lambda cell: [cell, stub(cell, unit)] if is_solution(cell) else [cell])


@damage()
def stubs_again_at_the_end_in_one_cell(notebook):
    unit = unit_of(notebook)
    again = "\n\n\n".join("".join(stub(cell, unit)["source"]) for cell in solutions(notebook))
    return notebook | {"cells": [*notebook["cells"], code(again)]}


@damage()
def a_stub_below_the_answer_to_another_exercise(notebook):
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
def an_older_attempt_first(notebook):
    """Wrong answers stand at the top; the right ones come last."""
    wrong = [
        code(f"def {role(cell)['grade_id'].removesuffix('-solution')}(*args):\n    return 0") for cell in solutions(notebook)
    ]
    return notebook | {"cells": [*wrong, *notebook["cells"]]}


# Cells split and merged


@damage()
def split_inside_the_functions(notebook):
    """Each solution is cut after its third line; both halves keep the metadata, as in JupyterLab."""

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
    """A solution uses a helper in a cell of its own below it."""

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
