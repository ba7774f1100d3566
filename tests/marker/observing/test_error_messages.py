"""What a student's code raises is told in one line, with its place, and without the data it ran on."""

from __future__ import annotations

import pytest
import torch

from autograder.contract.observation import Observation
from autograder.observing.student_calls import describe_error, guarded, raised_by_statement


def outcome(function):
    """How a run of ``function`` failed."""
    return guarded(lambda: (function() and None) or Observation()).failure


def described(function) -> str:
    try:
        function()
    except BaseException as error:
        return describe_error(error)
    raise AssertionError("nothing was raised")


def test_an_error_is_described_with_its_line_in_the_function():
    def inner():
        return [].index(1)

    def outer():
        x = 1
        return inner() + x

    assert described(outer) == "Your code raised ValueError: 1 is not in list (line 2 of inner)."


def test_an_error_inside_a_library_is_located_at_the_students_call():
    def function():
        layer = torch.nn.Linear(2, 3)
        return layer(torch.ones(1, 7))

    assert "(line 3 of function)" in described(function)


def test_an_error_in_a_comprehension_is_located_in_its_function():
    def function():
        return [1 / (k - 1) for k in range(3)]

    assert "of function)" in described(function)


@pytest.mark.parametrize("message", ["that is bad", "no windows left"])
def test_a_message_that_is_a_literal_in_the_code_is_shown(message):
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


def test_shapes_and_argument_counts_are_shown():
    assert "(2x4 and 6x2)" in described(lambda: torch.ones(2, 4) @ torch.ones(6, 2))

    def two(a, b):
        pass

    assert "takes 2 positional arguments but 3 were given" in described(lambda: two(1, 2, 3))


def test_an_apostrophe_does_not_begin_a_quotation():
    message = described(lambda: torch.linalg.lstsq(torch.tensor([[1], [2]]), torch.tensor([[1], [2]])))
    assert "doesn't handle types other than float and double" in message


def test_text_between_two_quotations_is_kept():
    assert "'>=' not supported between instances of 'int' and 'NoneType'" in described(lambda: 3 >= None)


def test_a_message_that_ends_with_a_full_stop_gets_no_second_one():
    def ended():
        raise RuntimeError("It is over.")

    assert described(ended) == "Your code raised RuntimeError: It is over (line 2 of ended)."


def test_a_long_quotation_of_bytes_is_cut():
    secret = "".join("abcdefghij"[int(digit)] for digit in str(INTEGERS[0][0]) * 6)
    assert secret[:9] not in described(lambda: int(secret.encode()))


def test_a_message_is_one_line_of_limited_length():
    message = described(lambda: {}["x" * 5000])
    assert len(message) < 300
    assert "\n" not in message


def test_an_error_whose_message_fails_is_described_all_the_same():
    class Mute(BaseException):
        def __str__(self):
            raise self

    def function():
        raise Mute

    assert described(function) == "Your code raised Mute (line 2 of function)."


def test_the_students_raise_statements_are_distinguished_from_errors_of_python():
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


def test_bold_text_in_a_librarys_message_is_shown_plainly():
    error = ValueError("two options, \x1b[1mdo those only if you trust it\x1b[0m \nmore")
    assert describe_error(error) == "Your code made other code raise ValueError: two options, do those only if you trust it."
