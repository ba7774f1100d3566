"""What is wrong with the reports of a meter, key by key, in words for students, and the mistakes that explain it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autograder.contract.observation import Observation
from autograder.exercises.unit_11_running_it.judging.meter import difference, due, reported, same
from autograder.exercises.unit_11_running_it.judging.wrong_meters import meter_in_words, wrong_slug
from autograder.exercises.unit_11_running_it.observing.meter import KEYS, MeterTrial

RUNS = {"even": "With full windows", "uneven": "With ragged micro-batches", "long": "With 40 micro-batches in a window"}
"""The beginning of a message about a trial, by the trial's name."""


def report_messages(
    trials: Mapping[str, MeterTrial], observations: Mapping[str, Observation]
) -> tuple[dict[str, str], list[str], str]:
    """What is wrong with the numbers under each key (empty if nothing is), slugs of mistakes, and rarer ones in words."""
    messages: dict[str, str] = {}
    slugs: list[str] = []
    words: list[str] = []
    named_trials = {RUNS[name]: trial for name, trial in trials.items()}
    named_observations = {RUNS[name]: seen for name, seen in observations.items()}
    for key in KEYS:
        messages[key] = ""
        found = {name: reported(seen, key) for name, seen in observations.items()}
        if all(same(found[name], due(trial)[key]) for name, trial in trials.items()):
            continue
        if any(numbers is None for numbers in found.values()):
            messages[key] = f"update() did not return a dictionary with a finite number under {key!r} each time."
        else:
            messages[key] = difference(named_trials, named_observations, key)
            slug = wrong_slug(list(trials.values()), list(observations.values()), key)
            slugs += [slug] if slug else []
            words += [] if slug else [meter_in_words(list(trials.values()), list(observations.values()), key)]
        if key == "samples_per_second":
            messages[key] = _clock_message(list(observations.values())) or messages[key]
    return messages, slugs, " ".join(filter(None, words))


def _clock_message(observations: Sequence[Observation]) -> str:
    asked = [seen.facts.get("clock_asked") for seen in observations]
    if all(count == 0 for count in asked):
        return "Your meter never asks the clock it is given."
    return "Your meter asks the clock it is given a single time." if all(count == 1 for count in asked) else ""
