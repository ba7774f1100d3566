"""Student code runs within limits and in silence, and what it raises is told without the problem's data."""

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

from autograder.exercise import Observation
from autograder.student_code import describe_error, guarded, quiet, raised_by_statement, time_limit

SOON = 0.2


def outcome(function, seconds: float = 5.0):
    """How a run of ``function`` failed."""
    return guarded(lambda: (function() and None) or Observation(), 0, seconds).failure


def described(function) -> str:
    try:
        function()
    except BaseException as error:
        return describe_error(error)
    raise AssertionError("nothing was raised")


def test_what_observe_returns_is_returned():
    due = Observation(facts={"value": 1})
    assert guarded(lambda: due, 0) is due


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


@pytest.mark.parametrize(
    "function",
    [
        *(for_ever, swallows_exceptions, swallows_everything, swallows_and_goes_on),
        *(swallows_in_an_inner_function, swallows_and_tidies_up, swallows_around_a_context, swallows_twice),
        swallows_within_finally,
    ],
)
def test_an_endless_loop_ends_whatever_it_swallows(function):
    began = time.monotonic()
    assert outcome(function, SOON).kind == "time"
    assert time.monotonic() - began < 20 * SOON


def test_sleeping_for_ever_ends():
    assert outcome(lambda: time.sleep(600), SOON).kind == "time"


def test_an_error_that_takes_for_ever_to_say_what_it_is_ends():
    class EndlessError(Exception):
        def __str__(self):
            for_ever()

    def function():
        raise EndlessError

    assert outcome(function, SOON).kind == "time"


def test_nothing_is_interrupted_when_the_time_limit_is_over():
    with time_limit(SOON):
        pass
    time.sleep(1.5 * SOON)


def test_after_an_interruption_nothing_is_traced():
    before = sys.gettrace()
    outcome(for_ever, SOON)
    assert sys.gettrace() is before


def test_code_in_another_thread_has_no_time_limit_but_runs():
    results = []
    thread = threading.Thread(target=lambda: results.append(guarded(lambda: Observation(facts={"done": True}), 0)))
    thread.start()
    thread.join()
    assert results[0].facts == {"done": True}


def test_output_and_warnings_go_nowhere(capsys, recwarn):
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
    with quiet():
        assert not hasattr(sys.stdout, "getvalue")
        assert sys.stdout.fileno() > 2


def test_closing_the_standard_output_harms_nobody(capsys):
    assert outcome(lambda: sys.stdout.close()) is None
    print("still here")
    assert capsys.readouterr().out == "still here\n"


def test_random_numbers_are_the_same_in_every_run():
    def draw():
        return Observation(facts={"drawn": [torch.rand(1).item(), random.random(), np.random.rand()]})

    assert guarded(draw, 3).facts == guarded(draw, 3).facts
    assert guarded(draw, 3).facts != guarded(draw, 4).facts


def test_global_random_states_are_as_before():
    states = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()

    def function():
        torch.manual_seed(1)
        random.seed(1)
        np.random.seed(1)

    assert outcome(function) is None
    assert torch.equal(torch.get_rng_state(), states[0])
    assert random.getstate() == states[1]
    assert np.random.get_state()[1].tolist() == states[2]


def test_gradients_are_on_at_the_start_and_as_before_at_the_end():
    def function():
        assert torch.is_grad_enabled()
        torch.set_grad_enabled(False)

    assert outcome(function) is None
    assert torch.is_grad_enabled()
    with torch.no_grad():
        assert outcome(function) is None
        assert not torch.is_grad_enabled()


def raises(error):
    def function():
        raise error

    return function


@pytest.mark.parametrize("error", [NotImplementedError, NotImplementedError("write me"), NotImplementedError()])
def test_a_stub_is_not_written_yet(error):
    assert outcome(raises(error)).kind == "unwritten"


def test_what_torch_has_not_implemented_is_an_error_of_the_student():
    failure = outcome(lambda: torch.empty(2, device="meta").cpu())
    assert failure.kind == "raised"
    assert "NotImplementedError" in failure.message


@pytest.mark.parametrize("error", [SystemExit, SystemExit(0), SystemExit("bye")])
def test_ending_the_program_is_a_failure(error):
    failure = outcome(raises(error))
    assert failure.kind == "raised"
    assert "SystemExit" in failure.message


@pytest.mark.parametrize("error", [GeneratorExit, BaseException("any"), KeyboardInterrupt, StopIteration, MemoryError])
def test_whatever_is_raised_is_a_failure(error):
    failure = outcome(raises(error))
    assert failure.kind == "raised"
    assert (error if isinstance(error, type) else type(error)).__name__ in failure.message


def test_somebody_at_the_keyboard_is_obeyed():
    import _thread

    def function():
        _thread.interrupt_main()
        time.sleep(5)

    with pytest.raises(KeyboardInterrupt):
        outcome(function)


def test_an_error_says_what_and_in_which_line_of_the_function():
    def inner():
        return [].index(1)

    def outer():
        x = 1
        return inner() + x

    assert described(outer) == "Your code raised ValueError: 1 is not in list (line 2 of inner)."


def test_an_error_inside_a_library_is_placed_where_the_student_called_it():
    def function():
        layer = torch.nn.Linear(2, 3)
        return layer(torch.ones(1, 7))

    assert "(line 3 of function)" in described(function)


def test_a_comprehension_is_placed_in_its_function():
    def function():
        return [1 / (k - 1) for k in range(3)]

    assert "of function)" in described(function)


@pytest.mark.parametrize("message", ["that is bad", "no windows left"])
def test_a_message_that_stands_in_the_code_is_told(message):
    namespace: dict = {}
    exec(compile(f"def function():\n    raise ValueError({message!r})\n", "cell", "exec"), namespace)
    assert message in described(namespace["function"])


SECRET = torch.tensor([[0.7316429, -1.2345678], [12.5, 3.0]], dtype=torch.float64)
INTEGERS = (SECRET * 1e6).long().tolist()


def by_text():
    raise ValueError(str(SECRET))


def by_f_string():
    raise RuntimeError(f"look: {SECRET.tolist()}")


def by_integers():
    raise RuntimeError(" ".join(str(value) for row in INTEGERS for value in row))


def by_small_integers():
    raise RuntimeError(" ".join(str(7316429)[k : k + 2] for k in range(0, 7, 2)))


def by_assertion():
    assert SECRET.sum() == 0, SECRET.tolist()


def by_key():
    return {}[INTEGERS[0][0]]


def by_text_as_key():
    return {}[str(SECRET.tolist())]


def by_conversion():
    return int(str(SECRET))


def by_attribute():
    return getattr(SECRET, "x" + str(INTEGERS[0][0]))


def by_exponent():
    return float("x " + " ".join(f"{value:e}" for value in SECRET.flatten().tolist()))


def by_name_of_the_error():
    raise type(str(SECRET.tolist()), (Exception,), {})


def by_many_lines():
    raise ValueError("\n\n" + "\n".join(map(str, INTEGERS)))


def by_note():
    error = ValueError("x")
    error.add_note(str(SECRET))
    raise error


def by_error_of_its_own():
    class LoudError(Exception):
        def __str__(self):
            return str(SECRET.tolist())

    raise LoudError


def by_cause():
    try:
        raise ValueError(str(SECRET))
    except ValueError as error:
        raise RuntimeError("failed") from error


LEAKS = [
    *(by_text, by_f_string, by_integers, by_small_integers, by_assertion, by_key, by_text_as_key, by_conversion),
    *(by_attribute, by_exponent, by_name_of_the_error, by_many_lines, by_note, by_error_of_its_own, by_cause),
]


@pytest.mark.parametrize("leak", LEAKS)
def test_a_message_carries_no_data(leak):
    message = outcome(leak).message
    assert message.startswith("Your code raised ")
    digits = [str(abs(value)) for row in INTEGERS for value in row]
    assert not [part for value in digits for part in (value[:3], value[1:4]) if part in message]
    assert ".7" not in message
    assert "73 16" not in message


def test_shapes_and_counts_of_arguments_are_told():
    assert "(2x4 and 6x2)" in described(lambda: torch.ones(2, 4) @ torch.ones(6, 2))

    def two(a, b):
        pass

    assert "takes 2 positional arguments but 3 were given" in described(lambda: two(1, 2, 3))


def test_a_message_is_one_line_of_limited_length():
    message = described(lambda: {}["x" * 5000])
    assert len(message) < 300
    assert "\n" not in message


def test_an_error_that_cannot_say_what_it_is_is_described_all_the_same():
    class Mute(BaseException):
        def __str__(self):
            raise self

    def function():
        raise Mute

    assert described(function) == "Your code raised Mute (line 2 of function)."


def test_statements_of_the_student_are_told_from_errors_of_python():
    def statement():
        raise ValueError

    def assertion():
        assert not statement

    def operation():
        return 1 / 0

    def library():
        return torch.nn.Linear(2, 2)(torch.ones(3))

    def caught(function):
        try:
            function()
        except Exception as error:
            return raised_by_statement(error)

    assert caught(statement) is statement.__code__
    assert caught(assertion) is assertion.__code__
    assert caught(operation) is caught(library) is None
    assert raised_by_statement(ValueError()) is None
