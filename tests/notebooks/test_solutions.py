"""What the notebooks say, and that they run: solutions earn every point, untouched releases none, both without an error."""

from __future__ import annotations

import ast
import itertools
import re
from functools import cache

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.exercises import all_exercises, exercises_of
from autograder.exercises.unit_04_training_loop.exercises import PUZZLE, PUZZLE_PROBLEM
from autograder.exercises.unit_04_training_loop.puzzle import CANDIDATES, show_puzzle
from autograder.judging.large_batches import MEMORY
from autograder.marking.in_process import mark_function
from autograder.publishing.nbgrader_course import SOLUTIONS
from autograder.publishing.release import COURSE
from autograder.publishing.solution_script import source_notebook, unit_scripts
from gradaccum import phenomena
from gradaccum.fingerprint import expected, fingerprint
from gradaccum.loops import GALLERY
from gradaccum.phenomena import missing_scale

SCRIPTS = unit_scripts(SOLUTIONS)
EVERY_UNIT = pytest.mark.parametrize("unit", SCRIPTS)
EVERY_EXERCISE = pytest.mark.parametrize("name", [e.id for unit in SCRIPTS for e in exercises_of(unit)])
MAX_CELL_LINES = 16
MAX_FOLDED_LINE = 54
"""Letters of a folded cell's first line: JupyterLab shows it and does not wrap it, so a long one makes narrow pages scroll."""
UNFINISHED = r"\b(TODO|TBD|FIXME|XXX|placeholder|lorem|coming soon|to be written)\b"


@cache
def notebook_of(unit: str) -> nbformat.NotebookNode:
    """The notebook of a unit, read from its script when a test asks for it: that takes seconds for all."""
    return source_notebook(SCRIPTS[unit])


def prose(unit: str) -> list[str]:
    return [cell.source for cell in notebook_of(unit).cells if cell.cell_type == "markdown"]


def code(unit: str) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook_of(unit).cells if cell.cell_type == "code"]


def around(name: str) -> tuple[str, str]:
    """The prose before an exercise's cell, back to its heading, and the cell after its check."""
    cells = notebook_of(all_exercises()[name].unit).cells
    ids = [cell.id for cell in cells]
    place = ids.index(f"{name}-solution")
    heading = max(k for k in range(place) if cells[k].source.startswith("## Exercise"))
    statement = "\n".join(cell.source for cell in cells[heading:place] if cell.cell_type == "markdown")
    return statement, cells[ids.index(name) + 1].source


class TestProse:
    @EVERY_UNIT
    def test_a_unit_has_its_anatomy(self, unit):
        said = [cell.source for cell in notebook_of(unit).cells]
        places = [
            next(k for k, text in enumerate(said) if re.search(pattern, text, re.MULTILINE))
            for pattern in (r"^# .+\n\n\*\*.+\?", r"^predict\(", r"^explore\(", "^## Exercise", "^## What to remember")
        ]
        assert places == sorted(places)
        assert places[-1] == len(said) - 1
        assert re.search(r"\]\(\d\d_\w+\.ipynb\)\**\S*$|\]\(00_start_here\.ipynb\)", said[-1]), "and leads to the next unit"

    @EVERY_UNIT
    def test_nothing_is_unfinished(self, unit):
        assert [cell.source for cell in notebook_of(unit).cells if re.search(UNFINISHED, cell.source, re.IGNORECASE)] == []

    @EVERY_UNIT
    def test_code_cells_are_short(self, unit):
        read = [cell.source for cell in code(unit) if "jupyter" not in cell.metadata]  # what is folded away is not read
        lines = {source: [line for line in source.split("\n") if line and "### " not in line] for source in read}
        assert [source for source, kept in lines.items() if len(kept) > MAX_CELL_LINES] == []

    @EVERY_UNIT
    def test_a_folded_cell_begins_with_a_short_line(self, unit):
        first_lines = [cell.source.split("\n")[0] for cell in code(unit) if "jupyter" in cell.metadata]
        assert [line for line in first_lines if len(line) > MAX_FOLDED_LINE] == []

    @EVERY_EXERCISE
    def test_an_exercise_says_how_hard_how_long_and_for_what_there_are_points(self, name):
        exercise, (statement, _) = all_exercises()[name], around(name)
        assert re.match(rf"## Exercise( \d)? · `{name}`\n\n\*Difficulty [●○]{{3}} · about \d+ minutes? · ", statement)
        if exercise.graded:
            assert f"· {amount(exercise.max_score)}*" in statement
        listed = re.findall(r"^- \*\*(\S+ points?) · (.+?)\*\*:", statement, re.MULTILINE)
        assert listed == [(amount(part.points), part.title) for part in exercise.parts]

    @pytest.mark.parametrize("name", ["accumulate_gradient", "train_epoch"])
    def test_an_exercise_that_measures_memory_says_how_much_is_allowed(self, name):
        memory, words = all_exercises()[name].trials(0, "cpu")["memory"].problem, {8: "eight", 9: "nine"}
        statement = " ".join(around(name)[0].split())
        assert f"peak memory stays below {words[MEMORY]} times that of a loop with one graph alive" in statement
        assert re.search(rf"\b{len(memory.epochs[0])}\b", statement)

    @EVERY_EXERCISE
    def test_an_exercise_has_hints_that_stay_closed(self, name):
        _, hints = around(name)
        assert re.match(r"<details><summary>Hint", hints)
        assert hints.count("<details>") == hints.count("</details>")

    @EVERY_UNIT
    def test_every_button_that_an_explorable_s_questions_name_is_on_its_panel(self, unit):
        sources = [cell.source for cell in notebook_of(unit).cells]
        panels = [
            (text, ast.parse(cell).body[0].value) for text, cell in itertools.pairwise(sources) if cell.startswith("explore(")
        ]
        assert panels
        for questions, call in panels:
            phenomenon = phenomena.load(call.args[0].value)
            opening = phenomenon.Settings(**{given.arg: given.value.value for given in call.keywords})
            pressed = set(re.findall(r"\b[Pp]ress \*\*(.+?)\*\*", questions))
            assert pressed <= phenomena.buttons(phenomenon, opening).keys()

    def test_the_start_page_tells_the_points_of_every_unit(self):
        rows = re.findall(r"\]\((\d\d_\w+)\.ipynb\) \| .+\? \| (\d+) \|", "\n".join(prose("00_start_here")))
        due = {unit: sum(e.max_score for e in exercises_of(unit)) for unit in SCRIPTS if unit != "00_start_here"}
        assert {unit: float(points) for unit, points in rows} == due


def amount(points: float) -> str:
    return f"{points:g} point{'' if points == 1 else 's'}"


class TestWrongCode:
    """Wrong loops are shown as wrong, next to their fingerprint, and are wrong in the way the text says."""

    @EVERY_UNIT
    def test_a_demonstrated_loop_is_marked_as_wrong_and_shows_its_fingerprint(self, unit):
        for cell in code(unit):
            if not cell.id.endswith("-solution") and (
                match := re.search(r"^def (\w+)\(.*micro_batches.*\):(.*\n.*)$", cell.source, 8)
            ):
                assert "# WRONG: " in match[2], "on the first line or the next"
                assert f"show_fingerprint({match[1]}, " in cell.source

    @pytest.mark.parametrize(
        ("given", "asked", "slug"),
        [
            ("early_clear", "repaired_early_clear", "zero-every"),
            ("eager_step", "repaired_eager_step", "step-every"),
            ("lost_tail", "repaired_lost_tail", "tail-dropped"),
            ("looks_mended", "repaired_early_clear", "no-scale"),
        ],
    )
    def test_a_wrong_loop_handed_in_as_it_is_gets_no_point_and_its_name(self, given, asked, slug):
        verdict = mark_function(all_exercises()[asked], demonstrated("04_training_loop", given), seed=3)
        assert (verdict.score, [mistake.slug for mistake in verdict.mistakes]) == (0, [slug])

    def test_the_wrong_average_of_the_start_page_is_a_sum(self):
        verdict = mark_function(
            all_exercises()["average_gradients"], demonstrated("00_start_here", "average_gradients"), seed=3
        )
        assert (verdict.score, [mistake.slug for mistake in verdict.mistakes]) == (0, ["no-scale"])


def demonstrated(unit: str, name: str):
    """A function that a locked cell defines, made from the imports and its definition alone."""
    trees = [ast.parse(cell.source).body for cell in code(unit) if not cell.id.endswith("-solution")]
    nodes = [n for body in trees for n in body if isinstance(n, ast.Import | ast.ImportFrom) or getattr(n, "name", "") == name]
    namespace: dict = {}
    exec(compile(ast.Module(nodes, []), unit, "exec"), namespace)
    return namespace[name]


def test_a_missing_division_can_help_or_ruin_a_run_as_unit_04_says():
    slow, ruined = (missing_scale.compute(missing_scale.Settings(accumulation_steps=n)) for n in (2, 4))
    assert slow.losses[-1] < slow.right_losses[-1] < slow.losses[0]
    assert ruined.losses[-1] > ruined.losses[0] > ruined.right_losses[-1]


class TestPuzzle:
    def test_no_two_candidates_and_no_right_loop_have_the_same_fingerprint(self):
        prints = [expected(PUZZLE_PROBLEM), *(fingerprint(GALLERY[slug], PUZZLE_PROBLEM) for slug in CANDIDATES)]
        assert not any(a.same_as(b) for a, b in itertools.combinations(prints, 2))

    def test_every_answer_is_a_candidate_and_some_candidates_are_no_answer(self):
        assert set(PUZZLE.values()) < set(CANDIDATES)

    def test_the_picture_and_its_words_show_all_letters_and_give_no_name_away(self):
        picture = show_puzzle().picture
        assert [axes.get_title(loc="left") for axes in picture.figure.axes] == list(PUZZLE)
        assert [line.split(":")[0] for line in picture.alt.split("\n")] == list(PUZZLE)
        assert not [slug for slug in CANDIDATES if slug in picture.alt]

    def test_no_code_that_students_see_names_the_answers(self):
        notebook = nbformat.read(COURSE / "04_training_loop.ipynb", as_version=4)
        cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
        assert [source for source in cells if PUZZLE["D"] in source] == []


def executed(notebook: nbformat.NotebookNode, folder) -> nbformat.NotebookNode:
    """A notebook run from top to bottom in a kernel of its own; fails at the first cell that raises."""
    client = NotebookClient(
        nbformat.from_dict(notebook), timeout=120, kernel_name="python3", resources={"metadata": {"path": folder}}
    )
    return client.execute()


def verdicts(notebook: nbformat.NotebookNode) -> dict[str, str]:
    """The score that each check cell shows as plain text, above what it shows of a right function, by exercise."""
    cells = {cell.id: cell for cell in notebook.cells if cell.id in all_exercises()}
    return {
        name: next(output for output in cell.outputs if "data" in output).data["text/plain"] for name, cell in cells.items()
    }


def errors_shown(notebook: nbformat.NotebookNode) -> list[str]:
    """Errors, warnings, and what an explorable says when it could not compute."""
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    said = [output.get("text", "") for output in outputs if output.get("name") == "stderr"]
    return said + [text for output in outputs if 'role="alert"' in (text := str(output.get("data", "")))]


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["00_start_here"])  # the others, and this one again, are run in JupyterLab
def test_a_solution_runs_in_a_kernel_and_earns_every_point(unit, tmp_path):
    done = executed(notebook_of(unit), tmp_path)
    assert verdicts(done) == {exercise.id: str(exercise.max_score) for exercise in exercises_of(unit)}
    assert errors_shown(done) == []
