"""What happens to the file of a notebook: cut off, merged, mended by hand, or saved by a program for something else."""

from __future__ import annotations

import json
import re
import textwrap

from damage import code, damage, each, is_code, is_solution, role, solutions, stub, unit_of


def text_of(notebook: dict) -> str:
    """The file that Jupyter writes."""
    return json.dumps(notebook, indent=1, sort_keys=True)


def around_solution(notebook: dict, number: int) -> tuple[str, str, str]:
    """The text of the file before a solution cell, that of the cell, and what follows; -1 stands for the last solution."""
    cell = solutions(notebook)[number]
    cell_text = textwrap.indent(json.dumps(cell, indent=1, sort_keys=True), "  ").lstrip()
    before, after = text_of(notebook).split(cell_text)
    return before, cell_text, after


def conflict(ours: str, theirs: str, base: str | None = None) -> str:
    """What git writes where two versions differ."""
    middle = "" if base is None else f"||||||| merged common ancestors\n{base}\n"
    return f"\n<<<<<<< HEAD\n{ours}\n{middle}=======\n{theirs}\n>>>>>>> origin/main\n"


def stub_text(notebook: dict, number: int) -> str:
    return json.dumps(stub(solutions(notebook)[number], unit_of(notebook)), indent=1, sort_keys=True)


@damage()
def without_its_last_brace(notebook):
    return text_of(notebook).rstrip("}\n").encode()


@damage(loses=-1)
def cut_off_in_the_last_solution(notebook):
    before, cell, _ = around_solution(notebook, -1)
    return (before + cell[: len(cell) // 2]).encode()


@damage()
def cut_off_in_an_output_after_the_last_solution(notebook):
    notebook["cells"].append(
        code("plot()") | {"outputs": [{"output_type": "display_data", "data": {"image/png": "iVBOR" * 999}}]}
    )
    text = text_of(notebook)
    return text[: text.rindex("iVBOR")].encode()


@damage(loses=-1)
def cut_off_in_the_middle_of_a_character(notebook):
    before, cell, _ = around_solution(notebook, -1)
    return (before + cell[: len(cell) // 3]).encode() + "é".encode()[:1]


@damage(loses=-1)
def cut_off_on_one_line(notebook):
    text = json.dumps(notebook)
    return text[: text.index(json.dumps(solutions(notebook)[-1])) + 40].encode()


@damage(loses=1)
def its_beginning_lost(notebook):
    _, _, after = around_solution(notebook, 0)
    return after.encode()


@damage(loses=1)
def zeros_where_a_solution_was(notebook):
    before, cell, after = around_solution(notebook, 0)
    return before.encode() + b"\0" * len(cell) + after.encode()


@damage()
def a_comma_after_every_last_value(notebook):
    return re.sub(r"(?<=[\]}\"0-9l])\n( *[\]}])", r",\n\1", text_of(notebook)).encode()


@damage()
def commas_between_cells_lost(notebook):
    return text_of(notebook).replace("\n  },\n  {\n", "\n  }\n  {\n").encode()


@damage()
def a_quotation_mark_lost_in_the_first_text(notebook):
    return text_of(notebook).replace('"source": "', '"source": ', 1).encode()


@damage()
def an_output_written_by_hand(notebook):
    notebook["cells"].insert(1, code("1 + 1") | {"outputs": ["HERE"]})
    return text_of(notebook).replace('"HERE"', "{it printed: 2}").encode()


@damage()
def the_rest_of_a_longer_file_at_the_end(notebook):
    text = text_of(notebook)
    older = text.replace(json.dumps(solutions(notebook)[0]["source"])[1:-1], "raise SystemExit")
    return (text + older[len(text) // 2 :]).encode()


@damage()
def an_older_file_behind_it(notebook):
    stubs = each(notebook, lambda cell: [stub(cell, unit_of(notebook)) if is_solution(cell) else cell])
    return (text_of(notebook) + text_of(stubs)).encode()


@damage()
def headers_of_a_download_before_it(notebook):
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + text_of(notebook).encode()


@damage()
def a_farewell_behind_it(notebook):
    return (text_of(notebook) + "\n\nBest wishes,\nAda\n").encode()


@damage()
def conflict_in_the_metadata(notebook):
    text, line = text_of(notebook), '"nbformat": 4,\n'
    return text.replace(line, conflict(line.rstrip(), line.rstrip()).lstrip("\n")).encode()


@damage()
def conflict_with_the_stub(notebook):
    before, cell, after = around_solution(notebook, 0)
    return (before + conflict(cell, stub_text(notebook, 0)) + after).encode()


@damage()
def conflict_in_which_the_stub_is_ours(notebook):
    before, cell, after = around_solution(notebook, 0)
    return (before + conflict(stub_text(notebook, 0), cell) + after).encode()


@damage()
def conflict_with_the_common_ancestor(notebook):
    before, cell, after = around_solution(notebook, -1)
    return (before + conflict(cell, stub_text(notebook, -1), base=stub_text(notebook, -1)) + after).encode()


@damage()
def conflict_in_execution_counts_on_windows(notebook):
    lines = []
    for number, line in enumerate(text_of(notebook).split("\n")):
        ours = line.replace("null", str(number))
        lines.append(conflict(ours, line).strip("\n") if '"execution_count"' in line else line)
    return "\r\n".join("\n".join(lines).split("\n")).encode()


@damage(loses=-1)
def conflict_and_cut_off(notebook):
    before, cell, _ = around_solution(notebook, -1)
    line = '"cell_type": "markdown",\n'
    return (before.replace(line, conflict(line.rstrip(), line.rstrip()).lstrip("\n"), 1) + cell[: len(cell) // 2]).encode()


@damage()
def conflict_in_the_text_of_a_solution(notebook):
    cell = solutions(notebook)[0]
    first, rest = cell["source"].split("\n", 1)
    cell["source"] = f"{conflict(first, first + '  # as in the lecture').lstrip()}{rest}"
    return notebook


@damage()
def json_in_a_string(notebook):
    return json.dumps(text_of(notebook)).encode()


@damage(file="{unit}.py")
def notebook_called_py(notebook):
    return text_of(notebook).encode()


@damage(file="{unit}.json")
def notebook_called_json(notebook):
    return text_of(notebook).encode()


@damage(file="{unit}.ipynb.txt")
def notebook_called_txt(notebook):
    return text_of(notebook).encode()


@damage(file="{unit}")
def notebook_without_an_ending(notebook):
    return text_of(notebook).encode()


def script_of(notebook: dict, mark: str = "") -> str:
    return "\n\n".join(
        mark + cell["source"] for cell in notebook["cells"] if is_code(cell) and "grade_id" not in role(cell)
    ) + ("\n\n" + "\n\n".join(mark + cell["source"] for cell in solutions(notebook)) + "\n")


@damage()
def script_called_ipynb(notebook):
    return script_of(notebook).encode()


@damage(file="{unit}.txt")
def script_called_txt(notebook):
    return script_of(notebook).encode()


@damage()
def script_with_a_conflict(notebook):
    return ("import math\n" + conflict("import json", "import random").lstrip() + script_of(notebook)).encode()


@damage()
def script_with_marks_between_cells(notebook):
    return ("# ---\n# jupyter: {}\n# ---\n\n# %% [markdown]\n# # A text\n\n" + script_of(notebook, "# %%\n")).encode()


def markdown_of(notebook: dict, fence: str, options: str = "") -> bytes:
    parts = [f"```{fence}\n{options}{cell['source']}\n```" if is_code(cell) else cell["source"] for cell in notebook["cells"]]
    return ("---\njupyter:\n  kernelspec: {}\n---\n\n" + "\n\n".join(parts) + "\n").encode()


@damage(file="{unit}.md")
def jupytext_markdown(notebook):
    return markdown_of(notebook, 'python id="abc"')


@damage(file="{unit}.md")
def myst_markdown(notebook):
    return markdown_of(notebook, "{code-cell} ipython3", ":tags: [hide-input]\n\n")


@damage(file="{unit}.Rmd")
def r_markdown(notebook):
    return markdown_of(notebook, "{python}")


@damage(file="{unit}.qmd")
def quarto(notebook):
    return markdown_of(notebook, "{python}", "#| echo: false\n")


@damage()
def markdown_called_ipynb(notebook):
    return markdown_of(notebook, "python")


def marimo_cell(source: str, uses: str = "", defines: str = "") -> str:
    return f"@app.cell\ndef _({uses}):\n{textwrap.indent(source, '    ')}\n    return ({defines},)\n"


@damage()
def marimo(notebook):
    cells = [cell["source"] for cell in notebook["cells"] if is_code(cell) and "grade_id" not in role(cell)]
    answers = [marimo_cell(cell["source"], uses="torch") for cell in solutions(notebook)]
    given = [marimo_cell(source, defines="torch" if "import torch" in source else "") for source in cells]
    head = 'import marimo\n\n__generated_with = "0.17.0"\napp = marimo.App()\n'
    return "\n\n".join([head, *answers, *given, 'if __name__ == "__main__":\n    app.run()\n']).replace("(,)", "").encode()


@damage()
def solutions_written_to_a_module_and_imported(notebook):
    """As ``%%writefile`` does, which many use to keep functions apart."""
    names = ", ".join(re.findall(r"^(?:def|class) (\w+)", "\n".join(cell["source"] for cell in solutions(notebook)), re.M))
    imports = next(cell["source"] for cell in notebook["cells"] if is_code(cell))
    module = "\n\n".join([imports, *(cell["source"] for cell in solutions(notebook))])
    cells = [cell for cell in notebook["cells"] if not is_solution(cell)]
    return notebook | {"cells": [*cells, code(f"%%writefile my_answers.py\n{module}"), code(f"from my_answers import {names}")]}
