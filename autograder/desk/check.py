"""``check(function)``: the verdict under an exercise, in a notebook or anywhere else.

Where a cell or a prompt shows the value of its last expression, ``check`` only returns the verdict, and remembers it for the
student's progress page. In a script, such as a unit run by ``python solutions/04_training_loop.py``, a returned verdict would
not be seen, so there ``check`` prints it as well. A wrong answer raises nothing, so that the next exercise is checked too.
Below the verdict on a right answer, a notebook shows its fingerprint and two model answers.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from autograder.contract.devices import pick_device
from autograder.contract.verdict import Verdict
from autograder.desk.after_right import show_after_cell
from autograder.desk.results import remember
from autograder.exercises import all_exercises
from autograder.marking.faults import logged
from autograder.marking.in_process import mark_function


def check(function: Callable, *, seed: int = 0, device: str = "auto") -> Verdict:
    """Mark one function and say what it computes. If the marker fails, the verdict says so, and how to report it.

    Args:
        function: the function an exercise asked for. Its name says which exercise it is; for an object or a wrapped function
            the caller's name for it does.
        seed: chooses the problems it is run on.
        device: ``"auto"``, ``"cpu"`` or ``"cuda"``.

    Raises:
        TypeError: ``function`` cannot be called.
        ValueError: no exercise has this name, or the device is not there.
    """
    if not callable(function):
        raise TypeError(f"check needs your function, as in check(train_epoch), not {type(function).__name__}")
    name = _exercise_of(function, sys._getframe(1).f_globals)
    verdict = logged(mark_function(all_exercises()[name], function, seed, pick_device(device)))
    if verdict.fault and (step := os.environ.get("NBGRADER_EXECUTION")):
        if step == "autograde":  # without our plug-ins nbgrader would give 0 or all points, but stops at a kernel that is gone
            os._exit(1)
        raise RuntimeError(str(verdict.fault))  # where nbgrader validates
    if _caller_shows_values():
        remember(verdict)
        if verdict.passed:
            show_after_cell(all_exercises()[name], function)
    else:
        print(verdict)
    return verdict


def _caller_shows_values() -> bool:
    """Whether this is a notebook, IPython or Python's own prompt."""
    ipython = sys.modules.get("IPython")
    return hasattr(sys, "ps1") or (ipython is not None and ipython.get_ipython() is not None)


def _exercise_of(function: Callable, namespace: dict[str, object]) -> str:
    own_name = getattr(function, "__name__", type(function).__name__)
    names = [own_name, *(name for name, value in namespace.items() if value is function)]
    found = next((name for name in names if name in all_exercises()), None)
    if found is None:
        raise ValueError(f"no exercise is called {own_name!r}; there are {', '.join(all_exercises())}")
    return found
