"""Ways to go about a window when gradients are clipped or scaled, right and wrong, as one loop that plays any of them.

Mistakes with clipping and scaling are not a matter of weights alone, so a fingerprint does not show them. They are found by
example: a loop with these mistakes is run on the same trials, see :mod:`autograder.diagnosing.gallery_match`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial

import torch
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

from gradaccum.loops import windows


@dataclass(frozen=True)
class Policy:
    """How a loop goes about its work. The defaults are a right loop.

    Attributes:
        width: an update for every ``"N"`` micro-batches or after ``"every"`` one.
        weight: of a micro-batch: its ``"share"`` of the window's samples; ``"mean"``: one over those present; ``"steps"``: one
            over N; ``"tail"``: its size over N mean sizes; ``"one"``; ``"sum"``: its samples; ``"twice"``: divided again.
        tail: the leftover window is ``"applied"``, ``"dropped"`` or ``"kept"`` for the next epoch.
        clear: at the ``"start"`` of a window, at its ``"end"`` only, at ``"every"`` micro-batch, or ``"never"``.
        clip: ``"once"``, unscaled; ``"scaled"``; ``"never"``; ``"full"`` windows only; with a threshold
            too ``"high"`` by the window's micro-batches, or too ``"low"`` by these or its ``"low samples"``; ``"always"``, also
            what is shorter; ``"each"`` parameter by itself; after each ``"micro-batch"``; before each backward
            (``"early"``) or the last one (``"one early"``); each component by ``"value"``.
        unscale: ``"once"``, ``"never"``, or after ``"each"`` micro-batch.
        step: through the ``"scaler"``, the optimizer's own (``"plain"``), or ``"both"``.
        update: the scale moves ``"once"`` per window, is doubled after ``"each"`` micro-batch, or ``"never"`` moves.
        scale: whether losses are multiplied by it.
        infinite: windows with infinities go ``"through"`` the scaler, are ``"skipped"`` before it sees them, go through it and
            are not cleared afterwards (``"kept"``), or lose the micro-batches whose loss is infinite (``"left out"``).
    """

    width: str = "N"
    weight: str = "share"
    tail: str = "applied"
    clear: str = "start"
    clip: str = "once"
    unscale: str = "once"
    step: str = "scaler"
    update: str = "once"
    scale: bool = True
    infinite: str = "through"


LOOP_MISTAKES: tuple[tuple[tuple[str, ...], Policy], ...] = (
    ((), Policy()),
    (("mean-of-means",), Policy(weight="mean")),
    (("no-scale",), Policy(weight="one")),
    (("tail-scale",), Policy(weight="tail")),
    (("tail-dropped",), Policy(tail="dropped")),
    (("tail-stale",), Policy(tail="kept", clear="end")),
    (("zero-every",), Policy(clear="every")),
    (("never-zero",), Policy(clear="never")),
    (("stale-start",), Policy(clear="end")),
    (("sum-reduction",), Policy(weight="sum")),
    (("double-scale",), Policy(weight="twice")),
    (("mean-of-means", "tail-scale"), Policy(weight="steps")),
    (("mean-of-means", "tail-dropped"), Policy(weight="mean", tail="dropped")),
    (("no-scale", "tail-dropped"), Policy(weight="one", tail="dropped")),
    (("mean-of-means", "tail-stale"), Policy(weight="mean", tail="kept", clear="end")),
    (("mean-of-means", "tail-stale"), Policy(weight="steps", tail="kept", clear="end")),
    (("no-scale", "tail-stale"), Policy(weight="one", tail="kept", clear="end")),
)
"""Mistakes that any loop can have."""

CLIP_MISTAKES: tuple[tuple[str, dict], ...] = (
    ("clip-too-late", {"clip": "never"}),
    ("leftover-unclipped", {"clip": "full"}),
    ("clip-per-micro-batch", {"clip": "micro-batch"}),
    ("clip-too-early", {"clip": "early"}),
    ("clip-too-early", {"clip": "one early"}),
    ("clip-by-value", {"clip": "value"}),
    ("clip-per-parameter", {"clip": "each"}),
    ("clip-always", {"clip": "always"}),
    ("threshold-too-high", {"clip": "high"}),
    ("threshold-too-low", {"clip": "low"}),
    ("threshold-too-low", {"clip": "low samples"}),
)

SCALER_MISTAKES: tuple[tuple[str, dict], ...] = (
    ("clip-before-unscale", {"clip": "scaled"}),
    ("unscale-missing", {"unscale": "never", "step": "plain", "update": "never"}),
    ("unscale-each", {"unscale": "each"}),
    ("scaler-step-every", {"width": "every", "weight": "steps"}),
    ("scaler-step-every", {"width": "every", "weight": "one"}),
    ("scaler-step-every", {"width": "every", "weight": "share"}),
    ("scaler-update-every", {"update": "each"}),
    ("inf-not-reported", {"infinite": "skipped"}),
    ("inf-not-cleared", {"infinite": "kept"}),
    ("inf-left-out", {"infinite": "left out"}),
    ("steps-twice", {"step": "both"}),
    ("inf-applied", {"step": "plain"}),
    ("inf-applied", {"step": "plain", "update": "never", "unscale": "never", "scale": False}),
)

COMMON = (("mean-of-means",), ("no-scale",), ("tail-dropped",))
ALONE = ("clip-per-parameter", "clip-always", "threshold-too-high", "threshold-too-low", "inf-left-out", "steps-twice")
"""What a loop in mixed precision is not tried with, but for the most common mistakes of any loop: each trial takes its time."""

Candidate = tuple[tuple[str, ...], Callable]


@cache
def clipping_candidates(loop_slugs: tuple[str, ...]) -> tuple[Candidate, ...]:
    """Loops that have these mistakes of :data:`LOOP_MISTAKES`, known already, and one in clipping; empty for unknown ones."""
    base = next((policy for slugs, policy in LOOP_MISTAKES if set(slugs) == set(loop_slugs)), None)
    if base is None:
        return ()
    kinds = ((), {}), *(((slug,), changes) for slug, changes in CLIP_MISTAKES if _is_own_mistake(slug, base))
    return tuple((slugs, partial(_play_clipped, replace(base, **changes))) for slugs, changes in kinds)


def _is_own_mistake(slug: str, base: Policy) -> bool:
    """A threshold is too high or too low for a mean; of a loop that forgets to divide nobody can say."""
    return not (slug in ("threshold-too-high", "threshold-too-low") and base.weight in ("one", "sum"))


@cache
def amp_candidates() -> tuple[Candidate, ...]:
    """Loops in mixed precision with one mistake of a kind, and with one of each kind; fewest mistakes first."""
    return tuple(sorted(_amp_candidates(), key=lambda candidate: len(candidate[0])))


def _amp_candidates() -> Iterator[Candidate]:
    precise = ((), {}), *(((slug,), changes) for slug, changes in (*SCALER_MISTAKES, *CLIP_MISTAKES))
    for (loop_slugs, base), (slugs, changes) in itertools.product(LOOP_MISTAKES, precise):
        if any((slug in ALONE and loop_slugs not in ((), *COMMON)) or not _is_own_mistake(slug, base) for slug in slugs):
            continue
        if changes.get("width") != "every" or base == Policy():
            yield (*loop_slugs, *slugs), partial(play, replace(base, **changes))


def _play_clipped(policy: Policy, model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    scaler = torch.amp.GradScaler(enabled=False)
    return play(policy, model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, None)


def play(policy, model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype) -> list[float]:
    """Train for one epoch in the manner of a policy; without a dtype in the model's own precision. Returns norms."""
    norms, spoilt = [], False
    for window in windows(micro_batches, accumulation_steps):
        if policy.clear == "start" and not spoilt:
            optimizer.zero_grad()
        weights = _weights(policy.weight, [len(x) for x, _ in window], accumulation_steps)
        groups = [[pair] for pair in zip(window, weights, strict=True)]
        groups = groups if policy.width == "every" else [[pair for group in groups for pair in group]]
        for group in groups:
            if policy.width == "every":
                optimizer.zero_grad()
            _accumulate(policy, model, loss_fn, optimizer, scaler, group, max_norm, dtype)
            if len(window) == accumulation_steps or policy.tail == "applied":
                limit = _thresholds(max_norm, [len(x) for x, _ in window], accumulation_steps).get(policy.clip, torch.inf)
                norms.append(_apply(policy, model, optimizer, scaler, max_norm, limit))
                spoilt = policy.infinite == "kept" and not math.isfinite(norms[-1])
                if policy.clear == "end" and not spoilt:
                    optimizer.zero_grad()
    return norms


def _accumulate(policy: Policy, model, loss_fn, optimizer, scaler, group, max_norm, dtype) -> None:
    for k, ((x, y), weight) in enumerate(group):
        last = k + 1 == len(group)
        if policy.clear == "every":
            optimizer.zero_grad()
        with torch.autocast(x.device.type, dtype=dtype, enabled=dtype is not None):
            loss = loss_fn(model(x), y) * weight
        if policy.infinite == "left out" and not torch.isfinite(loss):
            continue
        if policy.clip == "early" or (policy.clip == "one early" and last):
            clip_grad_norm_(model.parameters(), max_norm)
        (scaler.scale(loss) if policy.scale else loss).backward()
        if policy.clip == "micro-batch":
            clip_grad_norm_(model.parameters(), max_norm)
        if policy.unscale == "each":
            scaler.unscale_(optimizer)
            if not last:
                scaler.update()
        if policy.update == "each":
            scaler.update(scaler.get_scale() * 2)


def _thresholds(max_norm: float, sizes: list[int], steps: int) -> dict[str, float]:
    """The threshold for a whole window by ``Policy.clip``, where it has one."""
    present = len(sizes)
    limits = {"once": max_norm, "scaled": max_norm, "full": max_norm if present == steps else torch.inf}
    return limits | {"high": max_norm * present, "low": max_norm / present, "low samples": max_norm / sum(sizes)}


def _apply(policy: Policy, model, optimizer, scaler, max_norm: float, limit: float) -> float:
    if policy.infinite == "skipped" and not all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None):
        return float("nan")
    if policy.clip == "scaled":
        norm = clip_grad_norm_(model.parameters(), limit)
    if policy.unscale == "once":
        scaler.unscale_(optimizer)
    if policy.clip != "scaled":
        norm = clip_grad_norm_(model.parameters(), limit)
    if policy.clip == "always":
        for parameter in model.parameters():
            parameter.grad *= max_norm / norm
    if policy.clip == "each":
        for parameter in model.parameters():
            clip_grad_norm_([parameter], max_norm)
    if policy.clip == "value":
        clip_grad_value_(model.parameters(), max_norm)
    if policy.step in ("scaler", "both"):
        scaler.step(optimizer)
    if policy.step in ("plain", "both"):
        optimizer.step()
    if policy.update != "never":
        scaler.update()
    return float(norm)


def _weights(kind: str, sizes: list[int], steps: int) -> list[float]:
    samples, present = sum(sizes), len(sizes)
    weigh = {
        "share": lambda size: size / samples,
        "mean": lambda size: 1 / present,
        "steps": lambda size: 1 / steps,
        "tail": lambda size: size * present / samples / steps,
        "one": lambda size: 1.0,
        "sum": lambda size: float(size),
        "twice": lambda size: size / samples / present,
    }[kind]
    return [weigh(size) for size in sizes]
