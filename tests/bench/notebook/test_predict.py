"""The predict-then-reveal prompt."""

from __future__ import annotations

import ipywidgets as widgets
import pytest

from gradaccum.notebook.explore import explore
from gradaccum.notebook.predict import Prediction, predict

CHOICES = ["the sum", "the mean", "nothing"]


def ask(answer="the sum", because="`backward()` adds.", reveal=None) -> Prediction:
    return predict("What does `.grad` hold if a < b?", CHOICES, answer, because, reveal)


def options(prompt: Prediction) -> widgets.RadioButtons:
    return next(child for child in prompt.children if isinstance(child, widgets.RadioButtons))


def button(prompt: Prediction) -> widgets.Button:
    return next(child for child in prompt.children if isinstance(child, widgets.Button))


def said(prompt: Prediction) -> str:
    return "".join(child.value for child in prompt.children if isinstance(child, widgets.HTML))


def committed(choice: str, **asked) -> Prediction:
    prompt = ask(**asked)
    options(prompt).value = choice
    button(prompt).click()
    return prompt


def test_nothing_is_chosen_at_first_and_nothing_can_be_committed():
    prompt = ask()
    assert options(prompt).value is None
    assert button(prompt).disabled
    prompt.commit()
    assert prompt.committed is None


def test_a_choice_can_be_changed_until_it_is_committed():
    prompt = ask()
    options(prompt).value = "nothing"
    assert not button(prompt).disabled
    options(prompt).value = "the sum"
    prompt.commit()
    assert prompt.committed == "the sum"


def test_the_answer_is_not_on_the_page_before_the_commit():
    prompt = ask(because="since I say so")
    options(prompt).value = "the sum"
    assert "since I say so" not in said(prompt) + str(prompt._repr_mimebundle_())
    assert "Right" not in said(prompt)


def test_a_committed_choice_is_locked():
    prompt = committed("nothing")
    assert options(prompt).disabled
    assert button(prompt).disabled
    options(prompt).value = "the sum"
    prompt.commit()
    assert prompt.committed == "nothing"
    assert prompt.right is False
    assert button(prompt).disabled


def test_a_right_choice_is_confirmed_with_the_reason():
    prompt = committed("the sum")
    assert prompt.right is True
    assert "✓ Right." in said(prompt)
    assert "<code>backward()</code> adds." in said(prompt)


def test_a_wrong_choice_is_corrected_with_the_answer_and_the_reason():
    prompt = committed("nothing")
    assert prompt.right is False
    assert "✗ Not so. You said: nothing. It is: the sum." in said(prompt)
    assert "<code>backward()</code> adds." in said(prompt)


def test_the_outcome_is_announced_to_screen_readers():
    assert 'role="alert" aria-live="assertive"' in said(committed("the sum"))


def test_text_is_text_and_backticks_are_code():
    assert "What does <code>.grad</code> hold if a &lt; b?" in said(ask())


def test_the_answer_may_come_from_an_experiment_made_at_the_commit():
    made = []

    def experiment():
        made.append(True)
        return "the mean"

    prompt = ask(answer=experiment, because=lambda: f"experiment {len(made)}")
    assert made == []
    options(prompt).value = "the mean"
    prompt.commit()
    assert prompt.right is True
    assert "experiment 1" in said(prompt)


def test_a_prompt_describes_an_error_of_its_experiment_and_keeps_it():
    def experiment():
        raise ArithmeticError("too <hot>")

    prompt = committed("the sum", answer=experiment)
    assert isinstance(prompt.error, ArithmeticError)
    assert prompt.right is None
    assert "could not be computed" in said(prompt)
    assert "too &lt;hot&gt;" in said(prompt)


def test_a_prompt_says_that_its_experiment_returned_none_of_the_choices():
    prompt = committed("the sum", answer=lambda: "the median")
    assert isinstance(prompt.error, ValueError)
    assert "the median" in said(prompt)


def test_what_is_revealed_appears_at_the_commit_and_not_before():
    made = []
    prompt = ask(reveal=lambda: made.append(True) or "`12` times")
    assert made == []
    before = len(prompt.children)
    options(prompt).value = "the sum"
    prompt.commit()
    assert len(prompt.children) == before + 1
    assert "<code>12</code> times" in prompt.children[-1].value


def test_an_explorable_can_be_revealed():
    prompt = committed("the sum", reveal=lambda: explore("fingerprint_reading"))
    assert "gradaccum-panel" in prompt.children[-1]._dom_classes


def test_anything_a_notebook_can_show_can_be_revealed():
    shown = committed("the sum", reveal=lambda: {"updates": 3}).children[-1]
    assert shown.outputs[0]["data"]["text/plain"] == "{'updates': 3}"


def test_a_prompt_describes_an_error_of_its_reveal_and_keeps_it():
    prompt = committed("the sum", reveal=lambda: 1 / 0)
    assert isinstance(prompt.error, ZeroDivisionError)
    assert "could not be computed" in said(prompt)


@pytest.mark.parametrize("choices", [[], ["only"], ["twice", "twice"]])
def test_a_prediction_needs_different_choices(choices):
    with pytest.raises(ValueError, match="at least two different choices"):
        predict("?", choices, "only", "because")


def test_a_typed_answer_has_to_be_among_the_choices():
    with pytest.raises(ValueError, match="'the median' is not among the choices"):
        ask(answer="the median")


def test_pages_without_a_kernel_show_question_and_choices():
    bundle = ask()._repr_mimebundle_()
    assert bundle["text/plain"].split("\n") == [
        "Predict. What does `.grad` hold if a < b?",
        "  ( ) the sum",
        "  ( ) the mean",
        "  ( ) nothing",
    ]
    assert all(f"<li>{choice}</li>" in bundle["text/html"] for choice in CHOICES)
