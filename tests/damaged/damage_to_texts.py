"""Damage to names, metadata, the content of cells, the rest of the notebook and the file."""

from __future__ import annotations

import json

from damage import code, damage, each, is_given, role, solutions

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
    """A student awards more points and unlocks locked cells."""
    for cell in notebook["cells"]:
        if role(cell):
            role(cell).update(points=100, locked=False, solution=True, grade=False)
    return notebook


@damage()
def metadata_stripped(notebook):
    """As after a conversion to a script and back: only the name of the file tells the unit."""
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    return notebook | {"metadata": {}}


@damage(file="homework (final).ipynb")
def metadata_stripped_and_file_renamed(notebook):
    """Only the functions tell the unit."""
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


# The content of cells


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
    """IPython runs these as well."""
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
def invalid_characters(notebook):
    """NUL bytes and halves of surrogate pairs, as a crashed editor leaves them."""
    for cell in notebook["cells"]:
        cell["source"] = f"\0# \ud83d\n{cell['source']}\n\0"
    return notebook


@damage()
def things_that_are_not_cells(notebook):
    return each(notebook, lambda cell: [None, 3, "text", [], {}, {"cell_type": "code", "source": {"a": 1}}, cell])


# The rest of the notebook


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
def invalid_numbers(notebook):
    """NaN is not JSON, and Python refuses integers of ten thousand digits; programs write both."""
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
    """Some bytes of the prose are not UTF-8."""
    return json.dumps(notebook, ensure_ascii=False).replace("·", "\udcff").encode("utf-8", "surrogateescape")


@damage()
def zeros_at_the_end(notebook):
    """As a file system leaves a file after a power cut."""
    return json.dumps(notebook).encode() + b"\0" * 4096
