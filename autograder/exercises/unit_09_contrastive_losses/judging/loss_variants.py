"""Ways to accumulate a contrastive loss: what each micro-batch is compared with, and what becomes of its gradient.

:func:`play` plays a :class:`LossVariant` on a problem and returns the gradients it leaves. Diagnosis is a search for the
variant with the fewest mistakes that leaves the gradients found; what it does to ``logit_scale`` is compared afterwards.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from autograder.exercises.unit_09_contrastive_losses.judging.references import due, same_towers
from autograder.exercises.unit_09_contrastive_losses.observing import TOWERS, Towers
from autograder.judging.tolerances import close
from gradaccum.diagnosis.search import Candidate, Choices, combinations, first_match
from gradaccum.problems import flat_gradients, trainable
from gradaccum.problems.contrastive import ContrastiveProblem


class LossVariant(NamedTuple):
    """One way to accumulate a contrastive loss. The defaults are right.

    Attributes:
        negatives: what a micro-batch is compared with: the ``"window"``, its ``"own"`` pairs, or those ``"so far"``.
        weight: what its loss is multiplied by: 1 (``"whole"``), 1/N (``"over N"``), its share of the pairs
            (``"share"``), or 1 over the numbers in its features (``"mean"``).
        loss: ``"mean"`` of both directions, their sum (``"added"``), one of them (``"images"``, ``"texts"``), summed over the
            pairs (``"summed"``), or of a micro-batch's ``"own rows"`` of the whole matrix, whose columns may all be cached
            (``"own rows, cached"``), or of logits scaled by the ``"exponential"`` of what is an exponential already, or
            by no exponential at all (``"linear"``).
        reach: the micro-batches whose gradients stay: ``"all"`` or ``"last"``.
        towers: the encoders that get a gradient: ``"both"``, ``"images"``, ``"texts"`` or ``"none"``.
        mode: ``"training"``, ``"evaluation"``, or only the cache in evaluation: with the loss's gradient for the cached
            features (``"cached gradient"``) or for live ones among them (``"cached others"``). In training, but the loss's
            gradient is not for the features it is sent through: it is for features divided by their length
            (``"normalized"``), for those of the other encoder (``"swapped"``), or for the first rows of all (``"first rows"``).
        start: whether what ``.grad`` held before is ``"cleared"`` or ``"kept"``.
    """

    negatives: str = "window"
    weight: str = "whole"
    loss: str = "mean"
    reach: str = "all"
    towers: str = "both"
    mode: str = "training"
    start: str = "cleared"


CHOICES: Choices = {
    "negatives": {"window": (), "own": ("local-negatives",), "so far": ("negatives-so-far",)},
    "weight": {
        "whole": (),
        "over N": ("window-loss-over-n",),
        "share": ("window-loss-over-n",),
        "mean": ("window-loss-over-n",),
    },
    "loss": {
        "mean": (),
        "added": ("directions-added",),
        "images": ("one-direction",),
        "texts": ("one-direction",),
        "summed": ("sum-reduction",),
        "own rows": ("own-rows-only",),
        "own rows, cached": ("own-rows-only",),
        "exponential": ("scale-exponentiated",),
        "linear": ("scale-not-exponentiated",),
    },
    "reach": {"all": (), "last": ("zero-every",)},
    "towers": {
        "both": (),
        "images": ("encoder-not-reached",),
        "texts": ("encoder-not-reached",),
        "none": ("encoder-not-reached",),
    },
    "mode": {
        "training": (),
        "evaluation": ("eval-mode",),
        "cached gradient": ("eval-mode",),
        "cached others": ("eval-mode",),
        "normalized": ("features-differ",),
        "swapped": ("features-swapped",),
        "first rows": ("first-rows-for-all",),
        "opposite rows": ("rows-from-the-other-end",),
    },
    "start": {"cleared": (), "kept": ("stale-start",)},
}
"""For each attribute of a loss its values and the mistakes they are."""

OTHER_GRADIENT = ("normalized", "swapped", "first rows", "opposite rows")
"""Modes in training in which the loss's gradient is for other features than those it is sent through."""

SENT_ON = ("cached gradient", *OTHER_GRADIENT)
"""Modes in which the loss's gradient for the cached features is sent backward through features encoded again."""


def name_gradients(problem: ContrastiveProblem, found: Towers) -> Candidate[LossVariant] | None:
    """The variant with the fewest mistakes that leaves these gradients in the encoders, and its mistakes; None if none does."""
    return first_match(loss_variants(), {problem: found}, play, lambda left, due: same_towers(problem, left, due))


def name_scale(problem: ContrastiveProblem, variant: LossVariant, found: Tensor) -> tuple[str, ...]:
    """The mistakes in the gradient of ``logit_scale`` in addition to those of the variant; none if nothing explains it.

    Args:
        problem: what the function ran on.
        variant: what it did with the encoders.
        found: ``(1,)``, the gradient.
    """
    of_losses = torch.stack([scale for _, scale in parts(problem, variant.negatives, variant.loss, variant.mode)])
    whole = variant.negatives == "window" and not variant.loss.startswith("own rows")
    once = of_losses[-1] if whole else weigh(problem, variant, of_losses)
    n, held = len(problem.sizes), stale(problem)["scale"].to(once)
    expected: dict[float, tuple[str, ...]] = {0: ("temperature-forgotten",), n: ("temperature-times-n",)}
    expected |= {1: (), 1 / n: ("temperature-over-n",) if variant.weight == "whole" else ()}
    for start, before in (("cleared", torch.zeros_like(held)), ("kept", held)):
        for times, slugs in expected.items():
            if close(found, before + times * once, problem.dtype):
                return slugs if start == "cleared" or variant.start == start else (*slugs, "stale-start")
    times = float(found / once) if once.all() else 0.0
    several = round(times) if 0 < times < MAX_TIMES else 0
    return ("temperature-again",) if several > 1 and close(found, several * once.expand_as(found), problem.dtype) else ()


MAX_TIMES = 1000
"""How often a gradient may be said to have been added up; a factor beyond that is something else."""

MAX_MISTAKES = 3
"""In one function."""


@cache
def loss_variants() -> tuple[Candidate[LossVariant], ...]:
    """All ways to accumulate the loss that make sense, with the mistakes they make, fewest mistakes first."""
    return combinations(LossVariant, CHOICES, is_distinct=_is_distinct, moot=_moot, max_mistakes=MAX_MISTAKES)


def _is_distinct(v: LossVariant) -> bool:
    other_gradient = v.mode in OTHER_GRADIENT
    needs_window = v.loss.startswith("own rows") or v.loss in ("exponential", "linear")
    return (
        not (v.mode.startswith("cached") and v.negatives == "own")  # there is no cache
        and not (other_gradient and v.loss != "mean")
        and not (needs_window and v.mode != "training")
        and not ((other_gradient or needs_window) and v.negatives != "window")
        and not (v.loss == "added" and v.weight == "over N" and v.negatives == "window")  # which may as well be one slip
    )


def _moot(variant: LossVariant) -> tuple[str, ...]:
    """Where a micro-batch is not compared with the whole window, any weight is as good."""
    return () if variant.negatives == "window" else ("window-loss-over-n",)


def play(variant: LossVariant, problem: ContrastiveProblem) -> Towers:
    """The gradients ``(P,)`` that such a function leaves in the two encoders."""
    of_parts = parts(problem, variant.negatives, variant.loss, variant.mode)
    before = stale(problem)
    left: Towers = {}
    for k, name in enumerate(TOWERS):
        gradients = torch.stack([towers[k] for towers, _ in of_parts])
        kept = gradients[-1:] if variant.reach == "last" else gradients
        total = weigh(problem, variant, kept) * (variant.towers in ("both", name))
        left[name] = total + before[name] if variant.start == "kept" else total
    return left


def weigh(problem: ContrastiveProblem, variant: LossVariant, rows: Tensor) -> Tensor:
    """The weighted sum over micro-batches; ``rows`` holds those of the last ones."""
    count = len(problem.sizes)
    weights = {"whole": [1.0] * count, "over N": [1 / count] * count, "share": [s / problem.pairs for s in problem.sizes]}
    weights["mean"] = [1 / (s * problem.width) for s in problem.sizes]
    return torch.tensor(weights[variant.weight][-len(rows) :]).to(rows) @ rows


@lru_cache(maxsize=32)
def stale(problem: ContrastiveProblem) -> Towers:
    """What ``.grad`` held before, in the encoders and under ``"scale"``."""
    *encoders, logit_scale = problem.build()
    held = {name: flat_gradients(trainable(encoder)).cpu() for name, encoder in zip(TOWERS, encoders, strict=True)}
    return held | {"scale": flat_gradients([logit_scale]).cpu()}


@lru_cache(maxsize=128)
def parts(problem: ContrastiveProblem, negatives: str, loss: str, mode: str) -> list[tuple[tuple[Tensor, Tensor], Tensor]]:
    """For each micro-batch the gradients of its loss: for the two encoders through its own features, and for logit_scale."""
    problem = problem.with_(device="cpu", one_shot=False)
    *encoders, logit_scale = problem.build()
    batches = [torch.cat(side) for side in zip(*problem.batches(), strict=True)]
    live, cached = [], []
    for encoder, batch in zip(encoders, batches, strict=True):
        features = {training: encoder.train(training)(batch) for training in (True, False)}
        live.append(features[mode != "evaluation"])
        cached.append(features[mode in ("training", *OTHER_GRADIENT)].detach())
    return [
        _of_one(encoders, logit_scale, live, cached, start, start + size, negatives, loss, mode)
        for size, start in zip(problem.sizes, itertools.accumulate(problem.sizes, initial=0), strict=False)
    ]


def _of_one(
    encoders: Sequence[nn.Module],
    logit_scale: Tensor,
    live: list[Tensor],
    cached: list[Tensor],
    start: int,
    end: int,
    negatives: str,
    loss: str,
    mode: str,
) -> tuple[tuple[Tensor, Tensor], Tensor]:
    """The same for the micro-batch of the pairs from ``start`` to ``end``, given all features, live and cached."""
    first, last = (start, end) if negatives == "own" else (0, end if negatives == "so far" else None)
    features = [torch.cat([old[:start], new[start:end], old[end:]])[first:last] for old, new in zip(cached, live, strict=True)]
    if mode in SENT_ON:
        leaves = [old[first:last].clone() for old in cached]
        leaves = [(F.normalize(leaf, dim=1) if mode == "normalized" else leaf).requires_grad_() for leaf in leaves]
        *pulled, scale = torch.autograd.grad(_loss(leaves, logit_scale, loss), [*leaves, logit_scale])
        if mode == "first rows":
            pulled = [gradient.roll(start, 0) for gradient in pulled]
        if mode == "opposite rows":
            pulled = [gradient.roll(start - (len(gradient) - end), 0) for gradient in pulled]
        images, texts = pulled[::-1] if mode == "swapped" else pulled
        surrogate = (features[0] * images).sum() + (features[1] * texts).sum()
    else:
        columns = cached if loss.endswith("cached") else features
        surrogate = (
            _loss_of_rows([side[start:end] for side in live], columns, logit_scale, start)
            if loss.startswith("own rows")
            else _loss(features, logit_scale, loss)
        )
        (scale,) = torch.autograd.grad(surrogate, logit_scale, retain_graph=True)
    of_images, of_texts = (_gradient(surrogate, encoder) for encoder in encoders)
    return (of_images, of_texts), scale.detach()


def _gradient(loss: Tensor, encoder: nn.Module) -> Tensor:
    """``(P,)``, zeros where the loss does not depend on a parameter; the graph stays."""
    found = torch.autograd.grad(loss, trainable(encoder), retain_graph=True, materialize_grads=True, allow_unused=True)
    return torch.cat([gradient.reshape(-1) for gradient in found])


def _loss_of_rows(rows: list[Tensor], columns: list[Tensor], logit_scale: Tensor, start: int) -> Tensor:
    """What a micro-batch's images and texts contribute, each looking for its own among all columns."""
    own = torch.arange(start, start + len(rows[0]))
    unit = [[F.normalize(features, dim=1) for features in side] for side in (rows, columns)]
    of_images, of_texts = (
        F.cross_entropy(logit_scale.exp() * unit[0][k] @ unit[1][1 - k].T, own, reduction="sum") for k in range(2)
    )
    return (of_images + of_texts) / (2 * len(columns[0]))


def _loss(features: list[Tensor], logit_scale: Tensor, loss: str) -> Tensor:
    scale = {"exponential": logit_scale.exp().exp(), "linear": logit_scale}.get(loss, logit_scale.exp())
    logits = scale * F.normalize(features[0], dim=1) @ F.normalize(features[1], dim=1).T
    own, reduction = torch.arange(len(logits)), "sum" if loss == "summed" else "mean"
    images, texts = (F.cross_entropy(one, own, reduction=reduction) for one in (logits, logits.T))
    return {"images": images, "texts": texts, "added": images + texts}.get(loss, (images + texts) / 2)


def distance(problem: ContrastiveProblem, found: Towers) -> tuple[float, float]:
    """Cosine of the encoders' gradient with the one due, and its length over that one's."""
    one, other = (torch.cat([side[name] for name in TOWERS]) for side in (found, due(problem).towers))
    return float(F.cosine_similarity(one, other, dim=0)), float(one.norm() / other.norm())
