"""Comparing the plain values that a function returned with those of a formula, and with those of wrong formulas."""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from autograder.contract.exercise import Exercise
from autograder.contract.observation import Observation
from autograder.contract.verdict import Verdict
from autograder.judging.failures import first_failure
from autograder.judging.number_relations import call_relation
from autograder.judging.returned_kinds import returned_instead
from autograder.observing.calls import CallTrial, Plain, plain
from gradaccum.diagnosis.catalogue import Mistake, mistake

Formula = Callable[..., Any]

CLOSE = 1e-9
"""Relative difference up to which two numbers are the same: plain float arithmetic in any order stays below 1e-14, a wrong
formula on these arguments differs by more than 1e-3."""


def same_value(found: Plain, due: Plain, tolerance: float = CLOSE, absolute: float = 0.0) -> bool:
    """Whether two plain values agree, numbers up to one tolerance. A truth value is not a number and a text is neither."""
    if isinstance(due, list) and isinstance(found, list):
        return len(found) == len(due) and all(same_value(f, d, tolerance, absolute) for f, d in zip(found, due, strict=True))
    if isinstance(due, dict) and isinstance(found, dict):
        return found.keys() == due.keys() and all(same_value(found[key], due[key], tolerance, absolute) for key in due)
    if isinstance(due, bool) or isinstance(found, bool):  # 1 may stand for True, but True is not a number
        return isinstance(due, bool) and type(found) in (bool, int) and found == due
    if isinstance(due, int | float) and isinstance(found, int | float):
        return math.isclose(found, due, rel_tol=tolerance, abs_tol=absolute)
    return type(found) is type(due) and found == due


def in_words(value: object) -> str:
    """A plain value as a message quotes it: numbers to six digits, and only the beginning or the length of anything long.

    A sequence may have been a list, a tuple or a tensor.
    """
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list):
        short = 0 < len(value) <= 3 and all(isinstance(item, int | float) for item in value)
        return f"[{', '.join(map(in_words, value))}]" if short else f"a sequence of length {len(value)}"
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    return "nothing" if value is None else "a dictionary" if isinstance(value, dict) else str(value)[:40]


Tolerances = tuple[float, float]
"""Relative and absolute, as for :func:`same_value`."""


def in_different_words(found: object, due: object) -> tuple[str, str]:
    """Two values that differ, as :func:`in_words` has them, or as Python writes them if only that tells them apart."""
    words, same_kind = (in_words(found), in_words(due)), isinstance(found, str) == isinstance(due, str)
    return words if same_kind and words[0] != words[1] else (repr(found)[:40], repr(due)[:40])


RAISES = object()
"""What a formula returns for arguments that must be refused with a ValueError."""


def with_fixed(formula: Formula, position: int, values: tuple[Any, ...]) -> tuple[Formula, ...]:
    """For each value, a formula that takes it in place of the argument at a position."""

    def fixed(value: Any) -> Formula:
        return lambda *arguments: formula(*arguments[:position], value, *arguments[position + 1 :])

    return tuple(map(fixed, values))


def with_rounding(formula: Formula) -> tuple[Formula, ...]:
    """For up to four decimals, a formula whose numbers are rounded to so many."""

    def rounded(decimals: int) -> Formula:
        def rounds(*arguments: Any, **keywords: Any) -> Any:
            value = formula(*arguments, **keywords)
            return value if value is RAISES else round(value, decimals)

        return rounds

    return tuple(map(rounded, range(5)))


def judge_calls(
    exercise: Exercise,
    trials: Mapping[str, CallTrial],
    observations: Mapping[str, Observation],
    part_of: Callable[[str], str],
    formula: Formula,
    wrong: Mapping[str, Formula | tuple[Formula, ...]],
    message: str | Callable[[CallTrial, Plain | None], str],
    *,
    tolerance: float = CLOSE,
    absolute: float = 0.0,
    refusal: str = "{call} raises no ValueError, although it should.",
    described: Mapping[str, Formula | tuple[Formula, ...]] = MappingProxyType({}),
    kind: str = "",
) -> Verdict:
    """Compare every call with a formula, part by part, and name the wrong formula that explains the wrong values of a part.

    Args:
        exercise: the exercise to give a verdict on.
        trials: the calls, by name.
        observations: what was observed of each call.
        part_of: the part that a trial's name belongs to.
        formula: what is due; returns :data:`RAISES` where a ValueError is due.
        wrong: by slug, the formula of a function with this mistake, or several. A formula fits if it explains every call of a
            part.
        message: what to say of a wrong value; ``{0}`` stands for the call's first argument, and so on. Or a function of the
            call and the value.
        tolerance, absolute: relative and absolute difference up to which two numbers are the same; one of the two is enough.
        refusal: what to say where a ValueError is due and none is raised; ``{call}`` stands for the call.
        described: by sentence, formulas that it describes, which are too rare for a name. It becomes a remark of the verdict,
            and takes the place of the names of those lost parts that it describes as well.
        kind: what a function has to return, as in ``"an integer"``; empty if the exercise says it best.
    """
    results = {part.name: "" for part in exercise.parts}
    for name, trial in trials.items():
        due = formula(*trial.arguments, **trial.keywords)
        given = (*map(repr, trial.arguments), *(f"{name}={value!r}" for name, value in trial.keywords.items()))
        call = f"{exercise.id}({', '.join(given)})"
        found = observations[name].facts.get("value")
        wrong_value = message(trial, found) if callable(message) else message.format(*trial.arguments, call=call)
        not_refused = refusal.format(*trial.arguments, call=call)
        problem = _call_message(observations[name], due, wrong_value, (tolerance, absolute), not_refused, kind)
        failed = observations[name].failure
        if due is RAISES and failed and failed.kind == "raised" and not all(seen.failure for seen in observations.values()):
            problem += " A ValueError was due."
        endless = failed and failed.kind == "time"  # of all that is wrong with a part, what its author has to see first
        results[part_of(name)] = problem if endless else results[part_of(name)] or problem

    answered = any("value" in seen.facts or "type" in seen.facts for seen in observations.values())

    def fits(formulas: Formula | tuple[Formula, ...], calls: Mapping[str, CallTrial]) -> bool:
        return _any_fits(formulas, calls, observations, (tolerance, absolute))

    def first_fit(formulas: Mapping[str, Formula | tuple[Formula, ...]], calls: Mapping[str, CallTrial]) -> str:
        fitting = [key for key, several in formulas.items() if fits(several, calls)]
        # Of several explanations, one that also explains the calls of other parts contradicts nothing that was seen.
        wider = next((key for key in fitting if fits(formulas[key], trials)), "")
        # After that, one that explains more of the lost parts. A function that always raises an error tells nothing of any.
        return wider or (max(fitting, key=lambda key: _fitted(formulas[key]), default="") if answered else "")

    def _fitted(formulas: Formula | tuple[Formula, ...]) -> int:
        return sum(fits(formulas, calls) for calls in lost.values())

    lost = {
        part: {name: trial for name, trial in trials.items() if part_of(name) == part}
        for part, problem in results.items()
        if problem
    }
    named = {part: first_fit(wrong, calls) for part, calls in lost.items()}
    unnamed = [calls for part, calls in lost.items() if not named[part]]
    # A sentence that describes all that was lost is truer than a name for a part of it.
    whole = first_fit(described, ChainMap(*lost.values())) if unnamed else ""
    titles = {part.name: part.title for part in exercise.parts}

    def related(calls: Mapping[str, CallTrial]) -> str:
        """How the numbers of these calls are related to those due; the part is named unless every part is lost."""
        words = _relation(calls, observations, formula, (tolerance, absolute))
        alike = all(_relation(others, observations, formula, (tolerance, absolute)) == words for others in unnamed)
        where = "" if alike and len(unnamed) == len(titles) else f"In “{titles[part_of(next(iter(calls)))]}”: "
        return where + words if words else ""

    def of_its_part(sentence: str, calls: Mapping[str, CallTrial]) -> str:
        """The sentence, said only of the part that these calls belong to if it does not describe all calls."""
        return sentence if fits(described[sentence], trials) else f"In “{titles[part_of(next(iter(calls)))]}”: {sentence}"

    sentences = [whole or first_fit(described, calls) for calls in unnamed]
    remarks = [
        of_its_part(sentence, calls) if sentence else related(calls) for sentence, calls in zip(sentences, unnamed, strict=True)
    ]
    # A sentence also takes the place of the name of any other part that it describes.
    described_too = {part for part, calls in lost.items() if any(said and fits(described[said], calls) for said in sentences)}
    named = {part: slug for part, slug in named.items() if slug and part not in described_too and not whole}

    def of_its_parts(slug: str) -> Mistake:
        """The mistake, said only of the parts it was found in if it does not explain all calls."""
        where = " and ".join(f"“{titles[part]}”" for part in named if named[part] == slug)
        said = mistake(slug)
        return said if fits(wrong[slug], trials) else replace(said, message=f"In {where}: {said.message}")

    mistakes = tuple(map(of_its_parts, dict.fromkeys(named.values())))
    remark = " ".join(dict.fromkeys(filter(None, remarks)))
    return exercise.verdict(results, mistakes=mistakes, failure=first_failure(observations), remark=remark)


REMEMBERED = "Each of your wrong answers was due in an earlier call, with other arguments. Do you remember answers?"


def remembered(
    trials: Mapping[str, CallTrial],
    observations: Mapping[str, Observation],
    formula: Formula,
    of: Callable[[CallTrial], object],
) -> str:
    """:data:`REMEMBERED` if every wrong answer was due in an earlier call of which the same is true; empty otherwise.

    It is also empty if an answer is none of those of such earlier calls, for then none of them was looked up.

    Args:
        trials: the calls, in the order in which they were made.
        observations: what was observed of each.
        formula: what is due.
        of: the part of a call's arguments by which a function may have looked its answer up.
    """
    earlier: dict[object, list[Any]] = {}
    wrong: list[bool] = []
    for name, trial in trials.items():
        due, facts = formula(*trial.arguments, **trial.keywords), observations[name].facts
        before = earlier.setdefault(of(trial), [])
        if before and "value" in facts and not any(same_value(facts["value"], plain(one)) for one in before):
            return ""
        if _call_message(observations[name], due, "differs", (CLOSE, 0.0), "differs"):
            wrong.append("value" in facts and any(same_value(facts["value"], plain(one)) for one in before))
        before += [] if due is RAISES else [due]
    return REMEMBERED if wrong and all(wrong) else ""


def _relation(
    trials: Mapping[str, CallTrial], observations: Mapping[str, Observation], formula: Formula, tolerances: Tolerances
) -> str:
    """How the numbers that a function returned are related to those due, in words; empty if there are others or no relation."""
    returned = {name: observations[name].facts["value"] for name in trials if "value" in observations[name].facts}
    calls = [(trials[name].arguments, trials[name].keywords) for name in returned]
    if any(formula(*arguments, **keywords) is RAISES for arguments, keywords in calls):
        return ""
    return call_relation(calls, list(returned.values()), formula, *tolerances) if len(calls) > 1 else ""


def _call_message(seen: Observation, due: Any, message: str, tolerances: Tolerances, refusal: str, kind: str = "") -> str:
    if seen.failure:
        return seen.failure.message
    if due is RAISES:
        if "raised" not in seen.facts:
            return refusal
        return "" if seen.facts.get("reason") else "Your ValueError gives no reason."
    if "raised" in seen.facts:
        return f"For arguments that are fine, your function ends with an error. {seen.facts['raised']}"
    if "type" in seen.facts:
        return returned_instead(seen.facts["type"], kind)
    return "" if "value" in seen.facts and same_value(seen.facts["value"], plain(due), *tolerances) else message


def _any_fits(
    formulas: Formula | tuple[Formula, ...],
    trials: Mapping[str, CallTrial],
    observations: Mapping[str, Observation],
    tolerances: Tolerances,
) -> bool:
    several = formulas if isinstance(formulas, tuple) else (formulas,)
    return any(_fits(formula, trials, observations, tolerances) for formula in several)


def _fits(
    formula: Formula, trials: Mapping[str, CallTrial], observations: Mapping[str, Observation], tolerances: Tolerances
) -> bool:
    try:
        due = {name: formula(*trial.arguments, **trial.keywords) for name, trial in trials.items()}
    except (TypeError, ArithmeticError):  # a wrong formula need not make sense of arguments that make no sense
        return False
    return all(not _call_message(observations[name], value, "differs", tolerances, "differs") for name, value in due.items())
