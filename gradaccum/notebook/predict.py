"""Predict, then reveal: a question that students answer before they see the answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets as widgets

from gradaccum import still
from gradaccum.notebook.keyboard import KEYS_STAY_HERE
from gradaccum.theme import GREEN, VERMILLION


def predict(
    question: str,
    choices: Sequence[str],
    answer: str | Callable[[], str],
    because: str | Callable[[], str],
    reveal: Callable[[], Any] | None = None,
) -> Prediction:
    """A question with a choice of answers, one of which is right. Nothing is stored, nothing is graded.

    Args:
        question: text; what stands in backticks is shown as code.
        choices: at least two different answers, in plain text.
        answer: the right one, or a function that finds it by experiment; called when the student commits.
        because: the reason, or a function that returns it, for instance with measured numbers in it.
        reveal: called when the student commits; what it returns (an explorable, a figure, a text) is shown below.

    Raises:
        ValueError: there are fewer than two different choices, or the answer is not one of them.
    """
    return Prediction(question, choices, answer, because, reveal)


class Prediction(widgets.VBox):
    """The prompt as a widget.

    Attributes:
        committed: the choice the student committed to, or None.
        right: whether that was right, or None.
        error: what went wrong while the answer was found, or None; the outcome then says so.
    """

    children: tuple[widgets.Widget, ...]

    def __init__(
        self,
        question: str,
        choices: Sequence[str],
        answer: str | Callable[[], str],
        because: str | Callable[[], str],
        reveal: Callable[[], Any] | None = None,
    ) -> None:
        choices = list(map(str, choices))
        if len(set(choices)) < max(2, len(choices)):
            raise ValueError(f"a prediction needs at least two different choices, not {choices}")
        if not callable(answer):
            _check_answer(answer, choices)
        self.question, self.choices = question, choices
        self._answer, self._because, self._reveal = answer, because, reveal
        self.committed: str | None = None
        self.right: bool | None = None
        self.error: Exception | None = None
        self._options = widgets.RadioButtons(
            options=choices, value=None, description="Your prediction", layout={"width": "max-content", "max_width": "100%"}
        )
        self._options.style.description_width = "initial"
        self._button = widgets.Button(description="Commit", disabled=True, layout={"width": "max-content"})
        self._outcome = widgets.HTML()
        self._options.observe(self._chosen, names="value")
        self._button.on_click(lambda _: self.commit())
        super().__init__(
            [widgets.HTML(self._asked() + KEYS_STAY_HERE + _ROOM_FOR_LINES), self._options, self._button, self._outcome]
        )
        self.add_class("gradaccum-predict")
        self.add_class(still.LIVE)

    def commit(self) -> None:
        """Lock the choice and show the outcome; without a choice, or a second time, nothing happens."""
        if self._options.value is None or self.committed is not None:
            return
        self.committed = self._options.value
        self._options.disabled = self._button.disabled = True
        self._button.description = "Committed"
        try:
            answer = self._answer() if callable(self._answer) else self._answer
            _check_answer(answer, self.choices)
            because = self._because() if callable(self._because) else self._because
            self.right = answer == self.committed
            if self.right:
                self._say(GREEN, "✓ Right.", because)
            else:
                self._say(VERMILLION, f"✗ Not so. You said: {self.committed}. It is: {answer}.", because)
            if self._reveal:
                self.children = (*self.children, _as_widget(self._reveal()))
        except Exception as error:
            self.error = error
            self._say(VERMILLION, "This could not be computed.", f"{type(error).__name__}: {error}")

    def _chosen(self, change: dict[str, Any]) -> None:
        self._button.disabled = change["new"] is None or self.committed is not None

    def _say(self, color: str, outcome: str, reason: str) -> None:
        """``role=alert`` because screen readers announce it even though the element is new.

        Text keeps the page's own colour, which is readable on light and dark pages.
        """
        self._outcome.value = (
            '<div role="alert" aria-live="assertive" '
            f'style="border-left:4px solid {color};padding:2px 12px;max-width:90ch;line-height:1.45">'
            f"<b>{with_code(outcome)}</b> {with_code(reason)}</div>"
        )

    def _asked(self) -> str:
        return f'<div style="max-width:90ch;line-height:1.45"><b>Predict.</b> {with_code(self.question)}</div>'

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """The live prompt, and for pages without a kernel the question and its choices."""
        items = "".join(f"<li>{with_code(choice)}</li>" for choice in self.choices)
        page = f"{self._asked()}<ul>{items}</ul>{self._outcome.value}"
        plain = "\n".join([f"Predict. {self.question}", *(f"  ( ) {choice}" for choice in self.choices)])
        return still.widget_view(self) | {"text/html": page, "text/plain": plain}

    def _ipython_display_(self) -> None:
        still.show(self._repr_mimebundle_())


_ROOM_FOR_LINES = (
    "<style>.gradaccum-predict :is(.widget-radio-box,.jupyter-widget-radio-box) label"
    "{height:auto;line-height:1.45;display:flex;align-items:flex-start}"
    ".gradaccum-predict :is(.widget-radio-box,.jupyter-widget-radio-box) input{flex:none;order:-1}</style>"
)
"""ipywidgets gives each choice the height of one line; longer ones would lie over the next, without their button."""


def _check_answer(answer: str, choices: list[str]) -> None:
    if answer not in choices:
        raise ValueError(f"the answer {answer!r} is not among the choices {choices}")


def with_code(text: str) -> str:
    """Text as HTML, backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(str(text)))


def _as_widget(shown: Any) -> widgets.Widget:
    """Whatever a reveal returns, as a widget."""
    if isinstance(shown, widgets.Widget):
        return shown
    if isinstance(shown, str):
        return widgets.HTML(f'<p style="max-width:90ch;line-height:1.45">{with_code(shown)}</p>')
    output = widgets.Output()
    output.append_display_data(shown)
    return output
