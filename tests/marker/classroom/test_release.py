"""``gradaccum classroom release`` says why a unit cannot be released."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from autograder.classroom.commands import app

UNIT = "03_accumulate"


def test_a_release_that_nbgrader_refuses_is_reported_with_the_reason(tmp_path):
    CliRunner().invoke(app, ["init", str(tmp_path / "class"), "--units", "03"])
    source = tmp_path / "class/source" / UNIT / f"{UNIT}.ipynb"
    notebook = json.loads(source.read_text(encoding="utf-8"))
    (cell,) = (cell for cell in notebook["cells"] if cell["id"] == "accumulate_gradient-solution")
    cell["source"] = [line for line in cell["source"] if "END SOLUTION" not in line]
    source.write_text(json.dumps(notebook), encoding="utf-8")
    result = CliRunner().invoke(app, ["release", str(tmp_path / "class")])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"gradaccum classroom release: {UNIT}: no end solution statement found\n"
