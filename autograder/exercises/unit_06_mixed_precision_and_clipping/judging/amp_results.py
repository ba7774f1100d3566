"""What each part of a loop in mixed precision gets: the messages for students, and what tells the mistakes apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from autograder.contract.observation import Observation
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.messages import (
    AMP_FOR_ONE,
    AMP_TOLERANCE,
    AS_IN_LOW_PRECISION,
    LEFTOVER_NOT_CLIPPED,
    LEFTOVER_WITH_INF,
    WITH_NAN,
    WITHOUT_NAN,
    autocast_message,
    cut_message,
    in_special,
    lowered_message,
    norms_message,
    one_norm_each,
    parameters_message,
    rounding_message,
    scale_message,
    unless_failed,
)
from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.replays import replay_amp
from autograder.exercises.unit_06_mixed_precision_and_clipping.observing import AmpTrial
from autograder.judging.large_batches import AFTER_INFINITY, for_one
from autograder.judging.left_behind import kept_message
from gradaccum.loops.precision import amp

USUAL_SCALE = 65536.0
"""Where torch's scaler begins. In float16 this is infinite."""

FORWARDS = ("float16", "bfloat16", "no accumulation")
"""Trials in which the dtype that the model computes in is looked at."""


@dataclass(frozen=True)
class AmpResults:
    """What is wrong with a loop in mixed precision. Messages are empty where nothing is.

    Attributes:
        messages: by part.
        said: of the parameters after each trial, by trial.
        moves: what is wrong with updates that neither clipping nor infinity affects.
        rounded: how one can tell that forwards do not run in the dtype that was asked for.
        together: what is wrong with clipping in bfloat16 while the scale changes; looked at only if all else is right.
        joined: whether the micro-batches of a window go through the model at once.
        applied: whether infinite gradients move the parameters if none of them is NaN, and only then, or only in leftovers.
        whole: whether full windows are right, so that a leftover shows something new.
    """

    messages: dict[str, str]
    said: dict[str, str]
    moves: str
    rounded: str
    together: str
    joined: bool
    applied: bool
    whole: bool


def amp_results(
    trials: Mapping[str, AmpTrial], observations: Mapping[str, Observation], due: Mapping[str, Observation]
) -> AmpResults:
    """Compare what a loop did on each trial with what is due there."""
    said = {name: parameters_message(observations[name], due[name], AMP_TOLERANCE) for name in trials}
    said |= {name: said[name] or autocast_message(observations[name], trials[name]) for name in FORWARDS}
    moves = said["float16"] or said["bfloat16"]
    moves = moves or in_special(AMP_FOR_ONE, said["no accumulation"])
    cut, joined = cut_message(partial(replay_amp, amp), trials["cut"], observations["cut"], AMP_TOLERANCE)
    rounded = "" if moves else rounding_message(observations["telling"], due["telling"])

    def instead(name: str, sentence: str) -> str:
        return unless_failed(observations[name], sentence, said[name])

    usual = scale_message(observations["usual scale"], due["usual scale"]) or said["usual scale"]
    kept = kept_message(observations["float16"])
    usual = (
        usual
        and f"With a scale of {USUAL_SCALE:,.0f}: {usual}{lowered_message(observations['usual scale'], due['usual scale'])}"
    )
    results = {
        "update": kept or moves or cut or rounded or usual or instead("cancelling", AS_IN_LOW_PRECISION),
        "clip": said["clip"] or norms_message(observations["clip"], due["clip"], AMP_TOLERANCE),
        "inf": said["inf"] or scale_message(observations["inf"], due["inf"]),
        "scale": said["growth"] or scale_message(observations["growth"], due["growth"]),
    }
    if said["inf"] and not (moves or said["infinite"]):
        results["inf"] = in_special(WITH_NAN, results["inf"])
    without_nan = said["infinite"] if moves else instead("infinite", WITHOUT_NAN)
    applied = bool(said["infinite"] and not results["inf"])
    results["inf"] = results["inf"] or (without_nan if applied else scale_message(observations["infinite"], due["infinite"]))
    whole = not (moves or rounded or results["clip"])
    leftover = observations["leftover"]
    if whole and said["leftover"]:
        results["clip"] = instead("leftover", LEFTOVER_NOT_CLIPPED)
    results["clip"] = results["clip"] or (norms_message(leftover, due["leftover"], AMP_TOLERANCE) if whole else "")
    if not (said["inf"] or results["clip"]) and not one_norm_each(observations["inf"], due["inf"]):
        results["clip"] = "With infinite gradients in a window, your list does not have one number for each window."
    places = {"bfloat16": "In bfloat16", "no accumulation": "With N = 1"}
    places |= {"telling": f"Where it begins at {USUAL_SCALE:,.0f},"}
    places |= {"leftover": "With a leftover window"} if not moves else {}  # which is part of ``moves``
    for name, where in places.items():
        if not (said[name] or results["scale"]) and scale_message(observations[name], due[name]):
            results["scale"] = f"{where} the scaler's scale after the epoch is not the one that is due."
    together = ""
    if not any(results.values()):
        together = said["together"] or norms_message(observations["together"], due["together"], AMP_TOLERANCE)
        results["clip"] = together and f"In bfloat16, with a scale that doubles after every window: {together}"
        norms = {
            name: norms_message(observations[name], due[name], AMP_TOLERANCE) for name in ("clip alone", "no accumulation")
        }
        results["clip"] = results["clip"] or for_one(said["clip alone"] or norms["clip alone"])
        results["clip"] = results["clip"] or in_special(AMP_FOR_ONE, norms["no accumulation"])
        leftover_message = said["inf leftover"] or scale_message(observations["inf leftover"], due["inf leftover"])
        applied = bool(said["inf leftover"])
        results["inf"] = in_special(LEFTOVER_WITH_INF, leftover_message)
        results["update"] = instead("overflowed", AFTER_INFINITY)
    return AmpResults(results, said, moves, rounded, together, joined, applied, whole)
