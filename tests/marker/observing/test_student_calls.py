"""Student code runs within limits and in silence, and changes nothing that outlives it."""

from __future__ import annotations

import logging
import random
import sys
import threading
import time
import warnings

import numpy as np
import pytest
import torch

from autograder.contract.observation import Observation
from autograder.observing.settings import LEFT_CHANGED
from autograder.observing.student_calls import guarded, silenced, time_limit

SOON = 0.2


def outcome(function, seconds: float = 5.0):
    """How a run of ``function`` failed."""
    return guarded(lambda: (function() and None) or Observation(), seconds).failure


def test_guarded_returns_what_observe_returns():
    due = Observation(facts={"value": 1})
    assert guarded(lambda: due) is due


def for_ever():
    while True:
        pass


def swallows_exceptions():
    while True:
        try:
            sum(range(1000))
        except Exception:
            pass


def swallows_everything():
    while True:
        try:
            sum(range(1000))
        except:  # noqa: E722
            pass


def swallows_and_goes_on():
    while True:
        try:
            while True:
                torch.ones(10, 10).sum().item()
        except BaseException:
            continue


def swallows_in_an_inner_function():
    def turn():
        try:
            for_ever()
        except BaseException:
            return 1

    while True:
        turn()


def swallows_around_a_context():
    while True:
        try:
            with torch.no_grad():
                for_ever()
        except BaseException:
            pass


def swallows_twice():
    while True:
        try:
            try:
                for_ever()
            except BaseException:
                sum(range(10))
        except BaseException:
            sum(range(10))


def swallows_within_finally():
    try:
        while True:
            try:
                for_ever()
            except BaseException:
                pass
    finally:
        sum(range(10))


def swallows_and_tidies_up():
    while True:
        try:
            try:
                for_ever()
            finally:
                sum(range(10))
        except BaseException as error:
            kept = error
            del kept


@pytest.mark.slow
@pytest.mark.parametrize(
    "function",
    [
        *(for_ever, swallows_exceptions, swallows_everything, swallows_and_goes_on),
        *(swallows_in_an_inner_function, swallows_and_tidies_up, swallows_around_a_context, swallows_twice),
        swallows_within_finally,
    ],
)
def test_an_endless_loop_ends_even_if_it_catches_everything(function):
    assert outcome(function, SOON).kind == "time"


@pytest.mark.slow
def test_sleeping_for_ever_ends():
    assert outcome(lambda: time.sleep(600), SOON).kind == "time"


def test_an_error_whose_message_takes_for_ever_is_interrupted():
    class EndlessError(Exception):
        def __str__(self):
            for_ever()

    def function():
        raise EndlessError

    assert outcome(function, SOON).kind == "time"


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A folder of installed libraries. Modules in its parent are a student's own."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(folder)
    yield folder
    for name in ("takes_long", "never_ends"):
        sys.modules.pop(name, None)


IMPORTED_IN = f"import time\nend = time.thread_time() + {4 * SOON}\nwhile time.thread_time() < end:\n    pass\nwhole = True\n"


def test_the_import_of_a_library_is_not_cut_short_and_does_not_count(library):
    (library / "takes_long.py").write_text(IMPORTED_IN)

    def function():
        import takes_long

        assert takes_long.whole

    assert outcome(function, SOON) is None


def test_after_the_import_of_a_library_an_endless_loop_is_interrupted(library):
    (library / "takes_long.py").write_text(IMPORTED_IN)

    def function():
        import takes_long  # noqa: F401

        for_ever()

    assert outcome(function, SOON).kind == "time"


def test_the_import_of_a_student_s_own_module_that_never_ends_is_interrupted(library):
    (library.parent / "never_ends.py").write_text("while True:\n    pass\n")

    def function():
        import never_ends  # noqa: F401

    assert outcome(function, SOON).kind == "time"


def test_nothing_is_interrupted_after_the_block_with_a_time_limit():
    with time_limit(SOON):
        pass
    time.sleep(1.5 * SOON)


def test_after_an_interruption_nothing_is_traced():
    before = sys.gettrace()
    outcome(for_ever, SOON)
    assert sys.gettrace() is before


def test_code_in_another_thread_runs_without_a_time_limit():
    results = []
    thread = threading.Thread(target=lambda: results.append(guarded(lambda: Observation(facts={"done": True}))))
    thread.start()
    thread.join()
    assert results[0].facts == {"done": True}


def test_output_and_warnings_of_a_function_are_suppressed(capsys, recwarn):
    def function():
        print("out")
        print("err", file=sys.stderr)
        warnings.warn("careful", stacklevel=1)
        handler = logging.StreamHandler()
        handler.emit(logging.makeLogRecord({"msg": "logged"}))

    assert outcome(function) is None
    assert capsys.readouterr() == ("", "")
    assert not recwarn.list


def test_a_flood_of_output_costs_no_memory():
    with silenced():
        assert not hasattr(sys.stdout, "getvalue")
        assert sys.stdout.fileno() > 2


def test_closing_the_standard_output_breaks_nothing(capsys):
    assert outcome(lambda: sys.stdout.close()) is None
    print("still here")
    assert capsys.readouterr().out == "still here\n"


def test_random_numbers_are_the_same_in_every_run():
    def draw():
        return Observation(facts={"drawn": [torch.rand(1).item(), random.random(), np.random.rand()]})

    assert guarded(draw, seed=3).facts == guarded(draw, seed=3).facts
    assert guarded(draw, seed=3).facts != guarded(draw, seed=4).facts


def test_global_random_states_are_restored():
    states = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()

    def function():
        torch.manual_seed(1)
        random.seed(1)
        np.random.seed(1)

    assert outcome(function) is None
    assert torch.equal(torch.get_rng_state(), states[0])
    assert random.getstate() == states[1]
    assert np.random.get_state()[1].tolist() == states[2]


def test_gradients_are_enabled_inside_and_as_before_afterwards():
    def function():
        assert torch.is_grad_enabled()

    with torch.no_grad():
        assert outcome(function) is None
        assert not torch.is_grad_enabled()


def test_a_setting_of_torch_that_is_left_changed_is_a_trace_that_comes_with_what_was_observed():
    def observe():
        torch.set_grad_enabled(False)
        return Observation(facts={"value": 1})

    seen = guarded(observe)
    assert (seen.failure, seen.facts) == (None, {"value": 1})
    assert seen.trace == LEFT_CHANGED.format("torch's grad mode")
    assert torch.is_grad_enabled()


def raises(error):
    def function():
        raise error

    return function


@pytest.mark.parametrize("error", [NotImplementedError, NotImplementedError("write me"), NotImplementedError()])
def test_a_stub_is_reported_as_not_written_yet(error):
    assert outcome(raises(error)).kind == "unwritten"


def test_a_stub_that_has_no_name_of_its_own_is_not_written_either():
    code = compile("raise NotImplementedError", "cell", "exec")
    assert outcome(lambda: exec(code)).kind == "unwritten"


def test_an_answer_that_calls_a_stub_is_written_and_the_stub_is_named():
    def stub():
        raise NotImplementedError

    def answer():
        return 1 + stub()

    failure = outcome(answer)
    assert (failure.kind, failure.message) == ("raised", "Your code calls stub, which is not written.")


def test_torchs_own_not_implemented_error_is_reported_as_raised():
    failure = outcome(lambda: torch.empty(2, device="meta").cpu())
    assert failure.kind == "raised"
    assert "NotImplementedError" in failure.message


@pytest.mark.parametrize("error", [SystemExit, SystemExit(0), SystemExit("bye")])
def test_ending_the_program_is_a_failure(error):
    failure = outcome(raises(error))
    assert failure.kind == "raised"
    assert "SystemExit" in failure.message


@pytest.mark.parametrize("error", [GeneratorExit, BaseException("any"), KeyboardInterrupt, StopIteration, MemoryError])
def test_any_exception_becomes_a_failure(error):
    failure = outcome(raises(error))
    assert failure.kind == "raised"
    assert (error if isinstance(error, type) else type(error)).__name__ in failure.message


def test_keyboard_interrupt_is_honoured():
    import _thread

    def function():
        _thread.interrupt_main()
        time.sleep(5)

    with pytest.raises(KeyboardInterrupt):
        outcome(function)
