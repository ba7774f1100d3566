"""What explorables and predictions are in the kernels that run the site's notebooks: HTML that needs no kernel."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from typing import Any

from IPython.display import HTML

import gradaccum.explore
import gradaccum.predict
from gradaccum import phenomena
from gradaccum.notebook.predict import Prediction, with_code
from website.kernels.place import place_of_explorable

_numbers = itertools.count(1)


def explore_on_page(name: str, **settings: Any) -> HTML:
    """An explorable with the arguments of :func:`gradaccum.notebook.explore.explore`."""
    phenomena.check_settings(phenomena.load(name).Settings(**settings))
    return HTML(place_of_explorable(name, settings))


def predict_on_page(
    question: str, choices: Sequence[str], answer: str | Callable[[], str], because: str | Callable[[], str]
) -> HTML:
    """A question with the outcome of every choice, which the page shows when the reader commits to one."""
    answer, because = (cache(one) if callable(one) else one for one in (answer, because))
    group = f"prediction-{next(_numbers)}"
    options = "".join(
        f'<label><input type="radio" name="{group}" value="{k}"> {escape(str(choice))}</label>'
        for k, choice in enumerate(choices)
    )
    outcomes = "".join(
        f"<template>{_outcome(Prediction(question, choices, answer, because), k)}</template>" for k in range(len(choices))
    )
    return HTML(
        f'<form class="prediction" autocomplete="off"><fieldset><legend><b>Predict.</b> {with_code(question)}</legend>{options}'
        f'</fieldset><button disabled>Commit</button><div class="outcome"></div>{outcomes}</form>'
    )


def _outcome(prediction: Prediction, place: int) -> str:
    _, options, _, outcome = prediction.children
    options.value = prediction.choices[place]
    prediction.commit()
    if prediction.error:
        raise prediction.error
    return outcome.value


def replace_widgets() -> None:
    """Let notebooks that are run in this process get these in place of widgets."""
    gradaccum.explore.explore, gradaccum.predict.predict = explore_on_page, predict_on_page
