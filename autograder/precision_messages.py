"""What is wrong with the parameters, norms, dtypes and scale that a loop left, in words for students; unit 06's mistakes."""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.exercise import Observation
from autograder.mistakes import add_mistake
from autograder.precision_trials import AmpTrial, ClipTrial

CLIP_TOLERANCE = 1e-4
"""``clip_grad_norm_`` adds 1e-6 to the norm it divides by; a student who does not is right as well. Wrong clipping on these
problems differs by more than 1e-2."""

AMP_TOLERANCE = 0.03
"""A product rounded to bfloat16 is off by up to 0.4 %, and the order of scaling decides which way; wrong loops differ by more
than 10 % on these problems."""


def parameters_message(seen: Observation, due: Observation, tolerance: float) -> str:
    """What is wrong with the parameters after training; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if not _close(seen.tensors["parameters"], due.tensors["parameters"], due, tolerance):
        return "The parameters after training are not those of clipped large-batch training."
    return ""


def _close(found: Tensor, wanted: Tensor, due: Observation, tolerance: float) -> bool:
    """Whether parameters agree, measured against how far the other loop moves them; two ruined ones do."""
    if found.shape != wanted.shape:
        return False
    ruined = [not torch.isfinite(tensor).all() for tensor in (found, wanted)]
    if any(ruined):
        return all(ruined)
    moved = due.tensors["movements"].double().norm(dim=1).sum()
    return bool((found - wanted).double().norm() <= tolerance * moved)


def autocast_message(seen: Observation, trial: AmpTrial) -> str:
    """What is wrong with the dtypes a model computed in. None has to be seen: it may be called in ways that no hook notices."""
    wrong = [name for name in seen.facts.get("dtypes", ()) if name != trial.precision]
    return f"Asked for {trial.precision}, your function computed the model's output in {wrong[0]}." if wrong else ""


def norms_message(seen: Observation, due: Observation, tolerance: float) -> str:
    """What is wrong with the norms returned; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if any(row is None for row in seen.facts["losses"]):
        return "Return a list with one norm for each window, a plain number each."
    if [len(row) for row in seen.facts["losses"]] != [len(row) for row in due.facts["losses"]]:
        return "The list you return does not have one number for each window."
    if not _same_norms(seen.facts["losses"], due.facts["losses"], tolerance):
        return "The numbers returned are not the norms of the windows' gradients before clipping."
    return ""


def _same_norms(found, due, tolerance: float) -> bool:
    if any(row is None for row in found) or [len(row) for row in found] != [len(row) for row in due]:
        return False
    pairs = ((f, d) for a, b in zip(found, due, strict=True) for f, d in zip(a, b, strict=True))
    return all(abs(f - d) <= tolerance * abs(d) for f, d in pairs)


def clipped_norms(seen: Observation, due: Observation, max_norm: float) -> bool:
    """Whether the numbers returned are the norms after clipping."""
    after = [[min(norm, max_norm) for norm in row] for row in due.facts["losses"]]
    return _same_norms(seen.facts["losses"], after, CLIP_TOLERANCE)


def always_clipped(seen: Observation, due: Observation, trial: ClipTrial) -> bool:
    """Whether, with frozen parameters, each update has the direction that is due and the length of the threshold."""
    found, wanted = (o.tensors["movements"] / trial.loop.problem.lr for o in (seen, due))
    if found.shape != wanted.shape:
        return False
    lengthened = wanted / wanted.norm(dim=1, keepdim=True) * trial.max_norm
    return bool((found - lengthened).norm() <= CLIP_TOLERANCE * lengthened.norm())


def scale_message(seen: Observation, due: Observation) -> str:
    """What is wrong with the scale a scaler was left with; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    return "" if seen.facts["scale"] == due.facts["scale"] else "The scaler's scale after the epoch is not the one that is due."


add_mistake(
    "clip-per-micro-batch",
    "You clip inside the window, after each micro-batch: what is clipped are parts of the gradient, so its direction changes.",
    "The threshold speaks of the gradient an update uses. When is that gradient complete?",
)
add_mistake(
    "clip-too-late",
    "No update is clipped: clipping comes after the update has read the gradient, or not at all.",
    "Which line reads .grad? Clipping has to happen before it.",
)
add_mistake(
    "clip-too-early",
    "You clip before the last backward, so the last micro-batch joins unclipped.",
    "What is in .grad at the moment you clip, and what is added to it afterwards?",
)
add_mistake(
    "clip-by-value",
    "You clip each component by itself, which turns the gradient; the threshold here is for the length of the whole.",
    "After clipping by norm a gradient points where it pointed before. Does yours?",
)
add_mistake(
    "clip-per-parameter",
    "You clip the gradient of each parameter by itself, which turns the whole; the threshold is for the length of the whole.",
    "The norm that counts is that of one long vector. Which numbers are in it?",
)
add_mistake(
    "leftover-unclipped",
    "Full windows are clipped, the leftover one is not.",
    "What should clipping ask about a window: how many micro-batches it holds, or how long its gradient is?",
)
add_mistake(
    "clip-always",
    "Every gradient gets the length of the threshold, also those that were shorter: you lengthen what should be left alone.",
    "What should happen to a gradient that is shorter than the threshold?",
)
add_mistake(
    "threshold-too-high",
    "Your threshold is too high for what you clip, by as many times as the window has micro-batches.",
    "Which is as long as one large batch's gradient, the sum or the mean? Which of the two do you clip?",
)
add_mistake(
    "threshold-too-low",
    "Your threshold is too low for what you clip: a sum held against the threshold for a mean, or a mean against one that was "
    "divided.",
    "At the moment you clip, is a sum in .grad or a mean? How long may it be?",
)
add_mistake(
    "clip-before-unscale",
    "You clip while the gradients are still multiplied by the scale, so the threshold is in effect divided by it.",
    "In which unit is the threshold, and in which are the gradients when you clip?",
)
add_mistake(
    "unscale-missing",
    "The update uses gradients that are still multiplied by the scale.",
    "Which call divides the gradients by the scale, and who calls it in your loop?",
)
add_mistake(
    "unscale-each",
    "Gradients are divided by the scale after every micro-batch, so the early ones are divided again and again.",
    "How often may one gradient be unscaled before it is used?",
)
add_mistake(
    "scaler-step-every",
    "Your loop makes an update after every micro-batch; scaling does not change where updates belong.",
    "How many updates does a window make?",
)
add_mistake(
    "scaler-update-every",
    "The scale moves inside a window, so its micro-batches are added up in different units.",
    "What must be true of the scale between the first backward of a window and its unscaling?",
)
add_mistake(
    "inf-applied",
    "A window with infinite gradients reaches the parameters.",
    "Who looks for infinities before an update, and do you give it the chance?",
)
add_mistake(
    "inf-not-reported",
    "You sort out windows with infinities yourself, so the scaler never hears of them and keeps a scale that is too high.",
    "Which calls look for infinities and lower the scale? Do they run for such a window?",
)
add_mistake(
    "inf-left-out",
    "You leave out the micro-batch with the infinity and apply the rest of its window; the scaler never hears of it.",
    "Is what is left still the gradient of the large batch? And who lowers the scale?",
)
add_mistake(
    "steps-twice",
    "Each window moves the parameters twice: the scaler makes an update, and the optimizer another with the same gradient.",
    "Who calls optimizer.step? Look at what each of the scaler's calls does.",
)
add_mistake(
    "model-converted",
    "You convert the model itself, so that its parameters and .grad are in low precision as well.",
    "In mixed precision the parameters stay in float32. What chooses the dtype of single operations instead?",
)
add_mistake(
    "scaler-update-early",
    "The scaler hears that the window is over before it has made the window's update, so it forgets that the gradients are "
    "unscaled already and divides them again.",
    "In which order do unscaling, clipping, the update and the end of the window come?",
)
add_mistake(
    "inf-not-cleared",
    "A window with infinite gradients makes no update, as it should, but it is not cleared either: its infinities stay in "
    ".grad, and every later window is skipped, too.",
    "Follow .grad through a window that the scaler skips. What is in it when the next one begins?",
)
add_mistake(
    "scaler-update-missing",
    "The scaler is not told that a window is over, so it refuses to work on the next one.",
    "A scaler has three things to do at the end of every window, the last one included: unscale, step, and one more.",
)
add_mistake(
    "autocast-missing",
    "The model does not compute in the dtype asked for.",
    "Which block makes operations run in another dtype, which lines belong into it, and for which device and dtype?",
)
add_mistake(
    "norm-after-clip",
    "The norms you return are those after clipping: whatever was above the threshold is reported as the threshold.",
    "clip_grad_norm_ returns something. Is it the norm before it clipped, or after?",
)
