"""What is wrong with the parameters, norms, dtypes and scale that a loop left, in words for students; unit 06's mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import torch
from torch.nn.functional import cosine_similarity

from autograder.contract.observation import Observation
from autograder.exercises.unit_06_mixed_precision_and_clipping.observing import AmpTrial, ClipTrial
from autograder.judging.large_batches import JOINED, MOVES_NOTHING, NOT_ONE_EACH, large_batch_gradients
from autograder.judging.number_relations import rows_in_words
from autograder.judging.reported_losses import UNASKED
from autograder.support.counted import counted

T = TypeVar("T", ClipTrial, AmpTrial)

Norms = Sequence[Sequence[float] | None]
"""For each epoch the numbers a loop returned; None if it returned something else."""

CLIP_TOLERANCE = 1e-4
"""``clip_grad_norm_`` adds 1e-6 to the norm it divides by; a loop that does not is right as well. Wrong clipping on these
problems differs by more than 1e-2."""

AMP_TOLERANCE = 0.03
"""A product rounded to bfloat16 is off by up to 0.4 %, and the order of scaling decides which way; wrong loops differ by more
than 10 % on these problems."""

ROUNDING_TOLERANCE = 0.045
"""On a problem where the rounding of the forward decides: see :func:`rounding_message`."""

PARALLEL = 0.99
"""Cosine below which a gradient is another one, and not a longer or shorter one. Rounding to bfloat16 leaves above 0.999."""


def parameters_message(seen: Observation, due: Observation, tolerance: float) -> str:
    """What is wrong with the parameters after training; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if not _distance(seen, due) <= tolerance:
        return "The parameters after training are not those of clipped large-batch training."
    return ""


def lengths_in_words(seen: Observation, due: Observation, scale: float = 1.0) -> str:
    """How long the gradients of updates are, compared with those due, in words; empty if they are as long.

    Each was measured when its update was made, in the unit that the optimizer saw.
    """
    found, wanted = (each.tensors["gradients"].double().norm(dim=1) for each in (seen, due))
    if len(found) != len(wanted):
        return f"Where {counted(len(wanted), 'update')} are due, your loop makes {len(found)}."
    if not wanted.all():
        return ""
    ratios = [float(ratio) for ratio in found / wanted]
    if scale != 1 and ratios and abs(ratios[0] * scale - 1) <= AMP_TOLERANCE:
        return "At update 1 the gradient is divided by the scale once more than it was multiplied by it."
    for u, ratio in enumerate(ratios):
        if not ratio:
            return f"At update {u + 1} the gradient is zero, where one is due."
        one, other = (each.tensors["gradients"][u].double() for each in (seen, due))
        if cosine_similarity(one, other.to(one), dim=0) < PARALLEL:
            return f"At update {u + 1} the gradient points elsewhere than the one that is due."
        if not abs(ratio - 1) <= AMP_TOLERANCE:
            return f"At update {u + 1} the gradient is {ratio:.3g} times as long as the one that is due."
    return ""


def movements_in_words(trial: AmpTrial, seen: Observation) -> str:
    """The first update that does not move the parameters as its gradient says, in words; empty if there is none."""
    problem = trial.loop.problem
    kept = torch.zeros(())
    for u, (gradient, moved) in enumerate(zip(seen.tensors["gradients"], seen.tensors["movements"], strict=True), 1):
        kept = problem.momentum * kept + gradient.double()
        due = problem.lr * kept
        if not due.any() or not torch.isfinite(due).all() or not torch.isfinite(moved).all():
            return ""
        factor = float(moved.double() @ due / due.square().sum())
        if (moved - factor * due).norm() > AMP_TOLERANCE * due.norm():
            return f"Update {u} does not move the parameters as its gradient, the learning rate and the momentum say."
        if abs(factor - 1) > AMP_TOLERANCE:
            far = f"{factor:.3g} times as far as its gradient, the learning rate and the momentum say"
            return f"Update {u} moves the parameters {far}."
    return ""


AS_IN_LOW_PRECISION = (
    "Where long gradients cancel, what the others add up to is wrong, as in sums of fewer digits than float32."
)

WITHOUT_NAN = (
    "In float16, for a model with a single output, where a gradient is infinite and none is NaN, the parameters after training "
    "are not those that are due."
)
LEFTOVER_WITH_INF = "Where the gradients of a leftover window are infinite"
WITH_NAN = "In bfloat16, where gradients are NaN as well as infinite"
CLIPPED_FOR_ONE = "With N = 1, in float32, for a model with a single output, where .grad holds something before the call"
AMP_FOR_ONE = "With N = 1, for a model with a single output, where the scale grows and .grad holds something before the call"
"""What is special of a trial, where it alone shows what is wrong."""


def in_special(where: str, message: str) -> str:
    """What a message says of a trial in which these things are special; empty if the message is."""
    return message and f"{where}: {message}"


def unless_failed(seen: Observation, sentence: str, message: str) -> str:
    """The sentence in place of a message on a trial, which stays if it is that of a failure; empty if the message is."""
    return message and (message if seen.failure else sentence)


CLIPPED_BELOW = (
    "Gradients that are longer than max_norm stay as they are, and shorter ones get that length: the wrong way round."
)

LEFTOVER_NOT_CLIPPED = "A leftover window whose norm is above the threshold does not move the parameters as it should."


def on_both_sides(trial: ClipTrial) -> ClipTrial:
    """The same trial with a threshold between the norms of two windows in a row, the shorter one first if any is."""
    norms = large_batch_gradients(trial.loop.problem).norm(dim=1)
    k = int((norms[1:] / norms[:-1]).argmax())
    return replace(trial, max_norm=float(norms[k : k + 2].log().mean().exp()))


def mixed_message(seen: Observation, due: Observation) -> str:
    """What is wrong with movements where some norms are above the threshold and others below it; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    # An update without a gradient, as of an empty window, moves nothing: what it lacks is a window.
    found, wanted = (one.tensors["movements"][one.tensors["movements"].any(1)] for one in (seen, due))
    if found.shape == wanted.shape and (found - wanted).norm() <= CLIP_TOLERANCE * wanted.norm():
        return ""
    return "Where some norms are above the threshold and others below it, the updates are not those that are due."


def cut_message(replay: Callable[[T], Observation], trial: T, seen: Observation, tolerance: float) -> tuple[str, bool]:
    """What is wrong with the forwards of a loop, empty if nothing is; and whether it sends a window through at once.

    Args:
        replay: what a right loop does on a trial.
        trial: of one window, whose gradient shows which samples went through the model together.
        seen: what a loop did on it.
        tolerance: as for :func:`parameters_message`.
    """
    if seen.failure:
        return seen.failure.message, False
    sizes = trial.loop.problem.epochs[0]
    if _distance(seen, replay(trial)) <= tolerance:
        return "", False
    distances = {part: _distance(seen, replay(_recut(trial, part))) for part in range(1, sum(sizes) + 1)}
    nearest = min(distances, key=lambda part: distances[part])
    found = nearest if distances[nearest] <= tolerance else 0
    if found and sizes[0] % found == 0:  # pieces of a micro-batch are as good
        return "", False
    if not seen.tensors["movements"].any():
        return MOVES_NOTHING, False
    joined = found == sum(sizes)
    return (JOINED if joined else NOT_ONE_EACH), joined


def _recut(trial: T, size: int) -> T:
    """The same samples in one window of micro-batches of another size; the last may be smaller."""
    problem = trial.loop.problem
    samples = sum(problem.epochs[0])
    sizes = tuple(min(size, samples - begin) for begin in range(0, samples, size))
    return replace(trial, loop=replace(trial.loop, problem=problem.with_(epochs=(sizes,), accumulation_steps=len(sizes))))


def _distance(seen: Observation, due: Observation) -> float:
    """How far apart parameters are, as a share of how far the other loop moves them; 0 for two that are not finite."""
    found, wanted = seen.tensors["parameters"], due.tensors["parameters"]
    if found.shape != wanted.shape:
        return torch.inf
    ruined = [not torch.isfinite(tensor).all() for tensor in (found, wanted)]
    if any(ruined):
        return 0.0 if all(ruined) else torch.inf
    moved, apart = due.tensors["movements"].double().norm(dim=1).sum(), (found - wanted).double().norm()
    return float(apart / moved) if apart else 0.0  # also where the other loop moves nothing


def autocast_message(seen: Observation, trial: AmpTrial) -> str:
    """What is wrong with the dtypes that the model's linear layers computed in; empty if nothing is."""
    wrong = [name for name in seen.facts.get("dtypes", ()) if name != trial.precision]
    if wrong:
        also = " also" if trial.precision in seen.facts["dtypes"] else ""
        return f"Asked for {trial.precision}, your function{also} computed the model's output in {wrong[0]}."
    return "" if seen.facts.get("dtypes") else "No forward of the model was seen, so its dtype is not known."


def in_another_dtype(seen: Observation, trial: AmpTrial) -> bool:
    """Whether the model ran, and never in the dtype asked for."""
    return bool(seen.facts["dtypes"]) and trial.precision not in seen.facts["dtypes"]


def rounding_message(seen: Observation, due: Observation) -> str:
    """What is wrong with an update that the rounding of the forward decides on; empty if nothing is.

    Whatever dtypes were noted in the student's process, it is off by more than 12 % if the forward ran in another dtype. If
    sums are made in another order it is off by less than 0.8 % at 99 of 100 seeds, and by 1.4 % at the worst of 1,800.
    """
    if said := parameters_message(seen, due, ROUNDING_TOLERANCE):
        return said if seen.failure else "The gradients are not those of forwards under autocast to the dtype asked for."
    return ""


def norms_message(seen: Observation, due: Observation, tolerance: float) -> str:
    """What is wrong with the norms returned; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if any(row is None for row in seen.facts["losses"]):
        return "Return a list with one plain number for each window: its norm."
    if [len(row) for row in seen.facts["losses"]] != [len(row) for row in due.facts["losses"]]:
        return "The list you return does not have one number for each window."
    if not _same_norms(seen.facts["losses"], due.facts["losses"], tolerance):
        if not seen.facts["update_epochs"]:
            return UNASKED
        words = rows_in_words(seen.facts["losses"], due.facts["losses"], "Each of your norms", tolerance)
        return f"The numbers returned are not the norms of the windows' gradients before clipping.{words and f' {words}'}"
    return ""


def _same_norms(found: Norms, due: Norms, tolerance: float) -> bool:
    return len(found) == len(due) and all(
        row is not None
        and right is not None
        and len(row) == len(right)
        and all(abs(one - other) <= tolerance * abs(other) for one, other in zip(row, right, strict=True))
        for row, right in zip(found, due, strict=True)
    )


def one_norm_each(seen: Observation, due: Observation) -> bool:
    """Whether a loop returned as many numbers in each epoch as it has windows, whatever they are."""
    return [row and len(row) for row in seen.facts["losses"]] == [len(row) for row in due.facts["losses"]]


def clipped_norms(seen: Observation, due: Observation, max_norm: float) -> bool:
    """Whether the numbers returned are the norms after clipping."""
    after = [[min(norm, max_norm) for norm in row] for row in due.facts["losses"]]
    return _same_norms(seen.facts["losses"], after, CLIP_TOLERANCE)


def squared_norms(seen: Observation, due: Observation) -> bool:
    """Whether the numbers returned are the squares of the norms."""
    return _same_norms(seen.facts["losses"], [[norm**2 for norm in row] for row in due.facts["losses"]], 2 * CLIP_TOLERANCE)


def always_clipped(seen: Observation, due: Observation, trial: ClipTrial) -> bool:
    """Whether, with frozen parameters, each update has the direction that is due and the length of the threshold."""
    found, wanted = (o.tensors["movements"] / trial.loop.problem.lr for o in (seen, due))
    if found.shape != wanted.shape:
        return False
    lengthened = wanted / wanted.norm(dim=1, keepdim=True) * trial.max_norm
    return bool((found - lengthened).norm() <= CLIP_TOLERANCE * lengthened.norm())


def calls_message(seen: Observation, due: Observation) -> str:
    """How often a loop updates the scale, in words; empty if once for each window."""
    calls, windows = seen.facts["scaler_updates"], sum(map(len, due.facts["losses"]))
    if calls == windows:
        return ""
    return f"In some runs your loop calls scaler.update {counted(calls, 'time')} for {counted(windows, 'window')}."


def scale_message(seen: Observation, due: Observation) -> str:
    """What is wrong with the scale a scaler was left with; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    found, wanted = seen.facts["scale"], due.facts["scale"]
    if found == wanted:
        return ""
    return f"The scaler's scale after the epoch is {found:g}, where {wanted:g} is due."


def lowered_message(seen: Observation, due: Observation) -> str:
    """What a scale tells that is lower than the one that is due, as a further sentence; empty if it is not lower."""
    if seen.failure or seen.facts["scale"] >= due.facts["scale"]:
        return ""
    return " A scaler lowers its scale when a gradient is infinite, and in the right loop none of these is."


STAYING = {"growth": "after good updates", "inf": "after infinite gradients"}
"""When a scaler changes its scale, by the trial that shows it."""


def scales_in_words(ends: Mapping[str, tuple[float, Observation, Observation]]) -> str:
    """When a scale ends as it began although the scaler would change it, as a sentence; empty if it never does.

    Args:
        ends: for the trials of :data:`STAYING` the scale at the start, and what a loop and a right one did.
    """
    stays = [
        when
        for name, when in STAYING.items()
        if not ends[name][1].failure and ends[name][1].facts["scale"] == ends[name][0] != ends[name][2].facts["scale"]
    ]
    said = " and ".join(stays)
    return f"{said[0].upper()}{said[1:]} the scaler's scale ends as it began, where another one is due." if stays else ""
