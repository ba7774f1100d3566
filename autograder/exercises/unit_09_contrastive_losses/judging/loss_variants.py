"""Functions for a contrastive loss as policies: what each micro-batch is compared with, and what becomes of its gradient.

:func:`predict` plays a policy on a problem and yields the gradients it leaves. Diagnosis is a search for the policy with the
fewest mistakes that leaves the gradients found; what it does to ``logit_scale`` is compared afterwards.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import lru_cache

import torch
from torch import Tensor
from torch.nn import functional as F

from autograder.exercises.unit_09_contrastive_losses.judging.references import due, same_towers
from autograder.exercises.unit_09_contrastive_losses.observing import TOWERS, Towers
from autograder.judging.comparing import close
from gradaccum.problems import flat_gradients, trainable
from gradaccum.problems.contrastive import ContrastiveProblem


@dataclass(frozen=True)
class Policy:
    """The defaults are right.

    Attributes:
        negatives: what a micro-batch is compared with: the ``"window"``, its ``"own"`` pairs, or those ``"so far"``.
        weight: what its loss is multiplied by: 1 (``"whole"``), 1/N (``"over N"``), or its share of the pairs (``"share"``).
        loss: ``"mean"`` of both directions, their sum (``"added"``), one of them (``"images"``, ``"texts"``), summed over the
            pairs (``"summed"``), or of a micro-batch's ``"own rows"`` of the whole matrix, whose columns may all be cached
            (``"own rows, cached"``), or of logits scaled by the ``"exponential"`` of what is an exponential already.
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


CHOICES: dict[str, dict[str, tuple[str, ...]]] = {
    "negatives": {"window": (), "own": ("local-negatives",), "so far": ("negatives-so-far",)},
    "weight": {"whole": (), "over N": ("window-loss-over-n",), "share": ("window-loss-over-n",)},
    "loss": {
        "mean": (),
        "added": ("directions-added",),
        "images": ("one-direction",),
        "texts": ("one-direction",),
        "summed": ("sum-reduction",),
        "own rows": ("own-rows-only",),
        "own rows, cached": ("own-rows-only",),
        "exponential": ("scale-exponentiated",),
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
    },
    "start": {"cleared": (), "kept": ("stale-start",)},
}
"""For each attribute its values and the mistakes they are. Where not the whole window is compared, any weight is as good."""


OTHER_GRADIENT = ("normalized", "swapped", "first rows")
"""Modes in training in which the loss's gradient is for other features than those it is sent through."""

SENT_ON = ("cached gradient", *OTHER_GRADIENT)
"""Modes in which the loss's gradient for the cached features is sent backward through features encoded again."""


def name_gradients(problem: ContrastiveProblem, found: Towers) -> tuple[Policy, tuple[str, ...]] | None:
    """The policy with the fewest mistakes that leaves these gradients in the encoders, and its mistakes; None if none does."""
    for policy, slugs in policies():
        if same_towers(problem, found, predict(policy, problem)):
            return policy, slugs
    return None


def name_scale(problem: ContrastiveProblem, policy: Policy, found: Tensor) -> tuple[str, ...]:
    """The mistakes in the gradient of ``logit_scale`` beside those of the policy; none if nothing explains it.

    Args:
        problem: what the function ran on.
        policy: what it did with the encoders.
        found: ``(1,)``, the gradient.
    """
    of_losses = torch.stack([scale for _, scale in parts(problem, policy.negatives, policy.loss, policy.mode)])
    whole = policy.negatives == "window" and not policy.loss.startswith("own rows")
    once = of_losses[-1] if whole else weigh(problem, policy, of_losses)
    n, held = len(problem.sizes), stale(problem)["scale"].to(once)
    expected = {0: ("temperature-forgotten",), n: ("temperature-times-n",)}
    expected |= {1: (), 1 / n: ("temperature-over-n",) if policy.weight == "whole" else ()}
    for start, before in (("cleared", torch.zeros_like(held)), ("kept", held)):
        for share, slugs in expected.items():
            if close(found, before + share * once, problem.dtype):
                return slugs if start == "cleared" or policy.start == start else (*slugs, "stale-start")
    several = round(float(found / once)) if once.all() else 0
    return ("temperature-again",) if several > 1 and close(found, several * once.expand_as(found), problem.dtype) else ()


@lru_cache(maxsize=1)
def policies() -> tuple[tuple[Policy, tuple[str, ...]], ...]:
    """All policies that make sense and have at most three mistakes, which they come with, fewest first."""
    return tuple(sorted((entry for entry in _policies() if len(entry[1]) <= 3), key=lambda entry: len(entry[1])))


def _policies() -> Iterator[tuple[Policy, tuple[str, ...]]]:
    names = [field.name for field in fields(Policy)]
    for values in itertools.product(*(CHOICES[name] for name in names)):
        policy = Policy(*values)
        if policy.mode.startswith("cached") and policy.negatives == "own":
            continue  # there is no cache
        other_gradient = policy.mode in OTHER_GRADIENT
        whole_window = policy.loss.startswith("own rows") or policy.loss == "exponential"
        if (other_gradient and policy.loss != "mean") or (whole_window and policy.mode != "training"):
            continue
        if (other_gradient or whole_window) and policy.negatives != "window":
            continue  # these know the whole window
        counted = [name for name in names if name != "weight" or policy.negatives == "window"]
        slugs = itertools.chain.from_iterable(CHOICES[name][getattr(policy, name)] for name in counted)
        yield policy, tuple(dict.fromkeys(slugs))


def predict(policy: Policy, problem: ContrastiveProblem) -> Towers:
    """The gradients ``(P,)`` a policy leaves in the two encoders."""
    of_parts = parts(problem, policy.negatives, policy.loss, policy.mode)
    before, left = stale(problem), {}
    for k, name in enumerate(TOWERS):
        gradients = torch.stack([towers[k] for towers, _ in of_parts])
        kept = gradients[-1:] if policy.reach == "last" else gradients
        total = weigh(problem, policy, kept) * (policy.towers in ("both", name))
        left[name] = total + before[name] if policy.start == "kept" else total
    return left


def weigh(problem: ContrastiveProblem, policy: Policy, rows: Tensor) -> Tensor:
    """The weighted sum over micro-batches; ``rows`` holds those of the last ones."""
    count = len(problem.sizes)
    weights = {"whole": [1.0] * count, "over N": [1 / count] * count, "share": [s / problem.pairs for s in problem.sizes]}
    return torch.tensor(weights[policy.weight][-len(rows) :]).to(rows) @ rows


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


def _of_one(encoders, logit_scale, live, cached, start, end, negatives, loss, mode):
    first, last = (start, end) if negatives == "own" else (0, end if negatives == "so far" else None)
    features = [torch.cat([old[:start], new[start:end], old[end:]])[first:last] for old, new in zip(cached, live, strict=True)]
    if mode in SENT_ON:
        leaves = [old[first:last].clone() for old in cached]
        leaves = [(F.normalize(leaf, dim=1) if mode == "normalized" else leaf).requires_grad_() for leaf in leaves]
        *pulled, scale = torch.autograd.grad(_loss(leaves, logit_scale, loss), [*leaves, logit_scale])
        if mode == "first rows":
            pulled = [gradient.roll(start, 0) for gradient in pulled]
        surrogate = sum((f * g).sum() for f, g in zip(features, pulled[::-1] if mode == "swapped" else pulled, strict=True))
    else:
        columns = cached if loss.endswith("cached") else features
        surrogate = (
            _loss_of_rows([side[start:end] for side in live], columns, logit_scale, start)
            if loss.startswith("own rows")
            else _loss(features, logit_scale, loss)
        )
        (scale,) = torch.autograd.grad(surrogate, logit_scale, retain_graph=True)
    gradients = []
    for encoder in encoders:
        parameters = trainable(encoder)
        found = torch.autograd.grad(surrogate, parameters, retain_graph=True, materialize_grads=True, allow_unused=True)
        gradients.append(torch.cat([gradient.reshape(-1) for gradient in found]))
    return tuple(gradients), scale.detach()


def _loss_of_rows(rows: list[Tensor], columns: list[Tensor], logit_scale: Tensor, start: int) -> Tensor:
    """What a micro-batch's images and texts contribute, each looking for its own among all columns."""
    own = torch.arange(start, start + len(rows[0]))
    unit = [[F.normalize(features, dim=1) for features in side] for side in (rows, columns)]
    logits = [logit_scale.exp() * unit[0][k] @ unit[1][1 - k].T for k in range(2)]
    return sum(F.cross_entropy(one, own, reduction="sum") for one in logits) / (2 * len(columns[0]))


def _loss(features: list[Tensor], logit_scale: Tensor, loss: str) -> Tensor:
    scale = logit_scale.exp().exp() if loss == "exponential" else logit_scale.exp()
    logits = scale * F.normalize(features[0], dim=1) @ F.normalize(features[1], dim=1).T
    own, reduction = torch.arange(len(logits)), "sum" if loss == "summed" else "mean"
    images, texts = (F.cross_entropy(one, own, reduction=reduction) for one in (logits, logits.T))
    return {"images": images, "texts": texts, "added": images + texts}.get(loss, (images + texts) / 2)


def distance(problem: ContrastiveProblem, found: Towers) -> tuple[float, float]:
    """Cosine of the encoders' gradient with the one due, and its length over that one's."""
    one, other = (torch.cat([side[name] for name in TOWERS]) for side in (found, due(problem).towers))
    return float(F.cosine_similarity(one, other, dim=0)), float(one.norm() / other.norm())
