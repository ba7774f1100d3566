"""A submission's code is run so that what fails costs only what it would have defined."""

from __future__ import annotations

import sys
import warnings

import pytest

from autograder.contract.cell import Cell
from autograder.contract.observation import Failure
from autograder.isolation.limits import Limits
from autograder.isolation.statement_runner import run

SHORT = Limits(statement=0.3, load=1.0)


def run_cells(*sources: str, limits: Limits = SHORT, **others):
    return run([Cell(f"code cell {k}", source) for k, source in enumerate(sources, 1)], limits, **others)


def values(loaded) -> dict:
    return {name: value for name, value in loaded.namespace.items() if isinstance(value, int | str) and name[0] != "_"}


def test_cells_share_one_namespace_and_run_in_order():
    assert values(run_cells("a = 1", "b = a + 1", "a = 5")) == {"a": 5, "b": 2}


def test_a_statement_that_raises_costs_only_what_it_defines():
    loaded = run_cells("a = 1\nb = 1 / 0\nc = 3", "d = 4")
    assert values(loaded) == {"a": 1, "c": 3, "d": 4}
    assert [trouble for _, trouble in loaded.troubles] == ["in code cell 1, line 2 raised ZeroDivisionError: division by zero"]


@pytest.mark.parametrize("end", ["raise SystemExit", "import sys; sys.exit(1)", "exit()", "raise BaseException('x')"])
def test_a_cell_cannot_end_the_program(end):
    assert values(run_cells(end, "a = 1")) == {"a": 1}


def test_an_endless_statement_costs_only_its_time():
    loaded = run_cells("a = 1\nwhile True:\n    pass\nb = 2", "c = 3")
    assert values(loaded) == {"a": 1, "b": 2, "c": 3}
    assert "line 2 was still running after 0.3 seconds" in loaded.troubles[0][1]


BUSY = "import time\nend = time.process_time() + 0.6\nwhile time.process_time() < end:\n    pass"


def test_only_definitions_and_imports_have_more_time_than_a_trial():
    definition = "class C:\n" + "\n".join(f"    {line}" for line in BUSY.split("\n"))
    loaded = run_cells(BUSY, definition, limits=Limits(statement=5.0, load=20.0, trial=0.3))
    assert [trouble for _, trouble in loaded.troubles] == ["in code cell 1, line 3 was still running after 0.3 seconds"]
    assert "C" in loaded.namespace


def test_an_error_whose_message_takes_for_ever_costs_only_its_time():
    loaded = run_cells("class E(Exception):\n    def __str__(self):\n        while True: pass", "raise E", "a = 1")
    assert values(loaded) == {"a": 1}


@pytest.mark.slow
def test_definitions_are_still_made_when_the_time_is_used_up():
    endless = "while True:\n    pass"
    loaded = run_cells(*[endless] * 5, "a = 1", "import math\ndef f(): ...\nclass C: ...", limits=Limits(0.3, 0.5))
    assert {"math", "f", "C"} <= loaded.namespace.keys()
    assert "a" not in loaded.namespace
    assert "the code before it ran for more than 0.5 seconds" in loaded.troubles[-1][1]


def test_the_last_definition_of_a_name_wins():
    assert run_cells("def f(): return 1", "def f(): return 2").namespace["f"]() == 2


def test_a_cell_that_is_not_python_costs_the_broken_definition_and_not_its_neighbours():
    source = "import math\n\n@staticmethod\ndef good(): return 1\n\ndef broken(x:\n    return x\n\ndef also_good(): return 2\n"
    loaded = run_cells(source, "a = 1")
    assert {"math", "good", "also_good", "a"} <= loaded.namespace.keys()
    why = loaded.why_missing("broken")
    assert why.kind == "broken"
    assert why.message.startswith(
        "There is no function called broken: in code cell 1, line 6 is not Python ('(' was never closed"
    )


def test_a_function_that_the_code_never_defines_is_reported_as_missing():
    assert run_cells("a = 1 / 0").why_missing("f") == Failure("missing", "There is no function called f.")


def test_a_function_whose_definition_raised_is_reported_with_the_error():
    loaded = run_cells("f = undefined_decorator(lambda: 1)")
    assert loaded.why_missing("f").message.endswith("line 1 raised NameError: name 'undefined_decorator' is not defined.")


@pytest.mark.parametrize(
    "magic", ["%matplotlib inline", "!pip install torch", "%%time", "a?", "?a", "files = !ls", "if True:\n    %pylab\nb = 0"]
)
def test_lines_that_only_ipython_understands_are_skipped(magic):
    assert values(run_cells(f"{magic}\na = 1")) | {"b": 0} == {"a": 1, "b": 0}


def test_an_expression_line_that_begins_with_a_percent_sign_is_not_a_magic():
    assert values(run_cells("a = (7\n% 4)")) == {"a": 3}


@pytest.mark.parametrize("magic", ["%%bash\na = 1", "%%writefile helper.py\na = 1", "%%html\n<b>", "\n%%javascript\nvar a = 1"])
def test_a_cell_in_another_language_is_skipped(magic):
    loaded = run_cells(magic, "b = 1")
    assert (values(loaded), loaded.troubles) == ({"b": 1}, [])


@pytest.mark.parametrize("call", ["check(f)", "explore('equivalence')", "predict('question')", "display(1)"])
def test_a_call_that_only_shows_something_is_skipped(call):
    shows = "def f(*args): global called; called = 1\ncheck = explore = predict = display = f"
    assert "called" not in run_cells(shows, call).namespace


def test_output_and_warnings_are_suppressed(capfd):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run_cells("import sys, warnings\nprint('out')\nprint('err', file=sys.stderr)\nwarnings.warn('w')\nx = '\\d'")
    assert (capfd.readouterr(), caught) == (("", ""), [])


def test_a_future_import_applies_to_all_later_statements():
    loaded = run_cells("from __future__ import annotations", "def f(x: Undefined): ...")
    assert loaded.namespace["f"].__annotations__ == {"x": "Undefined"}


def test_our_own_future_imports_do_not_apply_to_student_code():
    assert run_cells("def f(x: int): ...").namespace["f"].__annotations__ == {"x": int}


def test_the_code_is_the_main_module_only_while_it_runs():
    before = sys.modules["__main__"]
    loaded = run_cells("import sys\nmain = sys.modules['__main__'].__dict__ is globals()", "if __name__ == '__main__': a = 1")
    assert (loaded.namespace["main"], loaded.namespace["a"]) == (True, 1)
    assert sys.modules["__main__"] is before


def test_inspect_finds_the_source_of_a_students_function():
    code = "import inspect\ndef f():\n    return 1\nsource = inspect.getsource(f)"
    assert run_cells(code).namespace["source"] == "def f():\n    return 1\n"


def test_statements_named_by_the_caller_are_skipped_and_every_statement_is_announced():
    announced = []
    loaded = run_cells("a = 1\nb = 2", "c = 3", skip=[1], before=announced.append)
    assert (values(loaded), announced) == ({"a": 1, "c": 3}, [0, 1, 2])


@pytest.mark.parametrize("source", ["\0", "(" * 10_000, "-" * 200_000 + "1", "\ud800 = 1", "\t\ta\n  b"])
def test_code_that_cannot_be_parsed_is_reported_and_stops_nothing(source):
    loaded = run_cells(source, "a = 1")
    assert values(loaded) == {"a": 1}
    assert loaded.troubles


def test_troubles_are_one_printable_line():
    loaded = run_cells(
        "class E(Exception):\n    def __str__(self): return 1 / 0", "raise E", "raise ValueError('a\\n\\x1b[31mb')"
    )
    assert [trouble for _, trouble in loaded.troubles] == [
        "in code cell 2, line 1 raised E",
        "in code cell 3, line 1 raised ValueError: a b",
    ]


def test_a_statement_that_lacked_a_name_is_retried_after_all_others():
    loaded = run_cells("c = b + 1", "b = a + 1", "import_late = math.pi > 3", "a = 1", "import math")
    assert values(loaded) == {"a": 1, "b": 2, "c": 3, "import_late": True}
    assert loaded.troubles == []


def test_a_retried_statement_does_not_undo_a_later_one():
    loaded = run_cells("@late\ndef f(): return 1\na = b", "def f(): return 2\na = 3", "late = lambda f: f\nb = 4")
    assert (loaded.namespace["f"](), loaded.namespace["a"]) == (2, 3)


def test_a_name_that_is_never_defined_is_reported_once():
    loaded = run_cells("a = b", "c = 1")
    assert [trouble for _, trouble in loaded.troubles] == ["in code cell 1, line 1 raised NameError: name 'b' is not defined"]


@pytest.mark.slow
def test_retries_end_when_the_time_is_used_up():
    slow = "while True:\n    pass"
    loaded = run_cells(*[slow] * 4, "def f(x=later): ...", "later = 1", limits=Limits(0.3, 0.5))
    assert "f" not in loaded.namespace


def test_retried_statements_are_announced_again():
    announced = []
    run_cells("a = b", "b = 1", before=announced.append)
    assert announced == [0, 1, 0]


def test_modules_that_cells_write_are_imported_from_memory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written = Cell("cell 1", "%%writefile answers.py\ndef one():\n    return 1\n")
    more = Cell("cell 2", "%%writefile -a answers.py\ndef two():\n    return one() + 1\n")
    namespace = run([written, more, Cell("cell 3", "from answers import two\nresult = two()")], Limits()).namespace
    assert namespace["result"] == 2
    assert list(tmp_path.iterdir()) == []


def test_a_module_that_one_submission_wrote_is_unknown_to_the_next():
    run([Cell("cell 1", "%%writefile answers.py\nx = 1\n"), Cell("cell 2", "import answers")], Limits())
    loaded = run([Cell("cell 1", "import answers")], Limits())
    assert "ModuleNotFoundError" in loaded.reports()[0].trouble
