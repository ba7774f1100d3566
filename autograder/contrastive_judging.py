"""What a window's contrastive loss has left in the gradients, compared with what is due, in words."""

from __future__ import annotations

import torch

from autograder.contrastive_policies import Policy, distance, name_scale
from autograder.contrastive_trials import ContrastiveTrial, Towers, due, found_towers, left_alone, reported_loss, same_towers
from autograder.exercise import Observation
from autograder.loop_trials import TOLERANCE, close
from autograder.mistakes import add_mistake
from gradaccum.contrastive import ContrastiveProblem

NOTHING = "The encoders have no gradient."
"""What ``towers_message`` says if it is so."""


def towers_message(trial: ContrastiveTrial, seen: Observation) -> str:
    """What is wrong with the gradient of the encoders; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    problem = trial.problem
    found = found_towers(problem, seen)
    if found is None:
        return "What is in .grad of the encoders is not a number everywhere (NaN or inf)."
    empty = [name for name, tensor in found.items() if not tensor.any()]
    if len(empty) == len(found):
        return NOTHING
    if empty:
        return f"The encoder of {empty[0]} has no gradient."
    if not same_towers(problem, found, due(problem).towers):
        return _wrong_towers(problem, found)
    return left_alone(problem, seen)


def _wrong_towers(problem: ContrastiveProblem, found: Towers) -> str:
    wanted = due(problem).towers
    wrong = [name for name in wanted if not close(found[name], wanted[name], problem.dtype)]
    if len(wrong) == len(wanted):
        return "What is in .grad of the encoders is not the gradient of the whole window's loss."
    (right,) = wanted.keys() - set(wrong)
    return f"What is in .grad of the encoder of {wrong[0]} is not the gradient of the whole window's loss. Of {right} it is."


def towers_in_words(problem: ContrastiveProblem, found) -> str:
    """How far the encoders' gradient is from the one due; empty if it cannot be told."""
    if found is None:
        return ""
    cosine, length = distance(problem, found)
    if cosine > 1 - 1e-6:
        return f"The encoders' gradient points the right way, but is {length:.2f} times as long as it should be."
    return f"The encoders' gradient has a cosine of {cosine:.2f} with the one due and is {length:.2f} times as long."


def scale_message(trial: ContrastiveTrial, seen: Observation) -> str:
    """What is wrong with the gradient of logit_scale; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    wanted, found = due(trial.problem).scale, seen.tensors.get("gradient/scale")
    if found is not None and close(found.to(wanted), wanted, trial.problem.dtype):
        return ""
    if found is None or found.shape != wanted.shape or not torch.isfinite(found).all():
        return "What is in .grad of logit_scale is not a number."
    if not found.any():
        return "logit_scale has no gradient."
    return f"The gradient of logit_scale is {float(found.to(wanted) / wanted):.2f} times the one due."


def stale_message(trials, observations) -> str:
    """Whether logit_scale kept what it held before: its gradient is then another multiple of what is due than elsewhere."""
    wanted = {name: due(trials[name].problem).scale for name in ("encoders", "clean")}
    found = {name: observations[name].tensors.get("gradient/scale") for name in wanted}
    if any(tensor is None or tensor.shape != wanted[name].shape for name, tensor in found.items()):
        return ""  # there is nothing to compare, and another part says so
    times = {name: tensor.to(wanted[name]) / wanted[name] for name, tensor in found.items()}
    same = close(times["clean"], times["encoders"], trials["clean"].problem.dtype)
    return "" if same else "What .grad of logit_scale held before is still in it."


def loss_message(trial: ContrastiveTrial, seen: Observation) -> str:
    """What is wrong with the returned loss; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    if "type" in seen.facts:
        return f"Your function returned {str(seen.facts['type'])[:40]} where the loss, a number, was due."
    loss, wanted = reported_loss(seen), due(trial.problem).loss
    if loss is not None and abs(loss - wanted) <= TOLERANCE[trial.problem.dtype] * wanted:
        return ""
    return "The number you return is not the loss of the whole window."


def scale_slugs(problem: ContrastiveProblem, policy: Policy, seen: Observation) -> tuple[str, ...]:
    """The mistakes that explain the gradient of logit_scale, given how the encoders' came about."""
    found, wanted = seen.tensors.get("gradient/scale"), due(problem).scale
    if found is None or found.shape != wanted.shape or not torch.isfinite(found).all():
        return ()
    return name_scale(problem, policy, found.to(wanted))


def loss_slugs(problem: ContrastiveProblem, policy: Policy, seen: Observation) -> tuple[str, ...]:
    """What is wrong with the loss alone: it goes without saying that other negatives or directions make another loss."""
    loss, wanted, n = reported_loss(seen), due(problem).loss, len(problem.sizes)
    if loss is None or policy.negatives != "window" or policy.loss != "mean":
        return ()
    factors = {"loss-summed": n, "loss-scaled-in-log": 1 / n}
    return tuple(slug for slug, factor in factors.items() if abs(loss - factor * wanted) <= 1e-4 * factor * wanted)


add_mistake(
    "local-negatives",
    "Each micro-batch is compared with its own pairs only. A pair then sees a handful of negatives instead of the whole "
    "window's, and the gradient is that of another, easier loss.",
    "Which features does a row of the large batch's similarity matrix need? You can have them without a graph.",
)
add_mistake(
    "negatives-so-far",
    "Each micro-batch is compared with those before it, but not with those to come: early ones see too few negatives.",
    "When must all features of the window be known? What do you have to do before the first backward, then?",
)
add_mistake(
    "window-loss-over-n",
    "What you send backward for a micro-batch is already its share of the whole window's loss. You divide it once more, so the "
    "encoders' gradients are too small.",
    "The loss averages over all pairs of the window by itself. Add the parts up: what is there left to divide?",
)
add_mistake(
    "temperature-times-n",
    "The gradient of logit_scale is N times too large: it is part of every backward pass, and each one carries all of it.",
    "A micro-batch's features are in one of your backward passes. In how many is logit_scale?",
)
add_mistake(
    "temperature-again",
    "The gradient of logit_scale is a multiple of the one due: it is part of several backward passes, and each carries "
    "all of it.",
    "Go through your backward passes one by one: which of them reach logit_scale? One is enough.",
)
add_mistake(
    "temperature-over-n",
    "The gradient of logit_scale is divided by N, although it is a part of one backward pass and complete after it.",
    "In how many of your backward passes is logit_scale?",
)
add_mistake(
    "scale-exponentiated",
    "You hand info_nce the exponential of logit_scale. It takes the exponential itself, so your logits are far too large.",
    "Compare your call of info_nce with the one at the beginning of the unit.",
)
add_mistake(
    "backward-twice",
    "Every gradient is twice the one due, and the loss you return is right: it goes backward twice.",
    "Count the calls that send the window's loss backward.",
)
add_mistake(
    "own-rows-only",
    "Features of a micro-batch get a gradient from their own rows of the matrix only. They are columns, too: "
    "others are compared with them, and that part of the gradient is missing.",
    "Whose loss changes when the features of one pair change?",
)
add_mistake(
    "encoder-not-reached",
    "At the end an encoder has no gradient of the loss: no backward pass goes through features that it made with gradients "
    "on, or its .grad is cleared afterwards.",
    "Features made under no_grad have no graph. Where is each encoder called a second time, what goes backward from there, and "
    "what happens to .grad after that?",
)
add_mistake(
    "features-differ",
    "You take the loss's gradient for features divided by their length, and send it through features that are not.",
    "What happened to the features between the first pass and the loss? Does the second pass do the same?",
)
add_mistake(
    "features-swapped",
    "Each encoder is sent the gradient for the features of the other one.",
    "Which half of the loss's gradient belongs to the images?",
)
add_mistake(
    "first-rows-for-all",
    "Every micro-batch is sent rows from the top of the loss's gradient for all features, as if it were the first one.",
    "In which row of all features does micro-batch k begin? Follow the variable that says so through two micro-batches.",
)
add_mistake(
    "equal-sizes-assumed",
    "With micro-batches of equal size your gradients are right, with ragged ones they are not.",
    "In which row of all features does micro-batch k begin, and in which does it end?",
)
add_mistake(
    "temperature-forgotten",
    "At the end .grad of logit_scale holds nothing of the loss, although it is a parameter like any other.",
    "Which of your backward passes reaches logit_scale, and what happens to its .grad after that?",
)
add_mistake(
    "directions-added",
    "You add the losses of the two directions, image to text and text to image, where their mean was due.",
    "How many averages does the loss consist of, and what is done with them?",
)
add_mistake(
    "one-direction",
    "You compute the loss in one direction only: images look for their texts, or texts for their images.",
    "The similarity matrix has rows and columns. Which of them do you use?",
)
add_mistake(
    "stream-spent",
    "With a list the encoders get gradients, with a generator they do not. A generator can be walked through only once, and "
    "has neither a length nor places.",
    "How often does your function walk through micro_batches, and what else does it ask of them? Where could they wait for the "
    "second pass?",
)
