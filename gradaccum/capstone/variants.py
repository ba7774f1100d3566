"""The ways to train the capstone's model, right and wrong, as one loop that plays any of them, and the mistakes they make.

The defaults of a :class:`RunVariant` are a right loop; every other value is something that people write. The explorable of
unit 12 shows where such a run departs from the right one; the marker plays them to find out what a student's loop does instead.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

from gradaccum.capstone.config import Config
from gradaccum.capstone.model import token_loss
from gradaccum.capstone.run import History, Run
from gradaccum.capstone.text import IGNORE, tokens_in
from gradaccum.loops import windows
from gradaccum.problems import MicroBatch

Window = list[MicroBatch]


class RunVariant(NamedTuple):
    """One way to train. The defaults are right.

    Attributes:
        weight: of a micro-batch: its share of the window's ``"tokens"``, of its ``"lines"``, or of all ``"places"``, padding
            included; its tokens over all places (``"over-places"``); alike, one over those present (``"mean"``) or over N
            (``"steps"``); its share of tokens times those present over N (``"tail"``); ``"one"``; its number of tokens
            (``"sum"``); divided again (``"twice"``); its share of the tokens ``"so-far"``; as if each had as many tokens as
            the ``"first"``; its share, but nothing of the ``"last"``, or that divided by the tokens of the ``"others"``; its
            share of those with as many lines as the first, and nothing if it has fewer (``"whole"``).
        clear: at the ``"start"`` of a window, at its ``"end"`` only, before ``"every"`` micro-batch, or ``"never"``.
        clip: ``"once"``, ``"never"``, after each ``"micro-batch"``, ``"early"`` before the last backward, by ``"value"``,
            each ``"parameter"`` on its own, ``"matrices"`` alone, ``"always"`` to the threshold, or with a threshold times
            (``"looser"``) or over (``"tighter"``) the micro-batches of the window, or over its tokens (``"sum"``); or the
            update is left out (``"skip"``) where it would be clipped.
        schedule: a step after each ``"update"``, ``"before"`` it, for each ``"micro-batch"`` after the update, as many
            ``"inside"`` the window, the last of them after the update (``"between"``), ``"twice"`` after each update, for
            each ``"epoch"``, or ``"never"``.
        step: an update for each ``"window"`` or for ``"every"`` micro-batch.
        tail: the leftover window is ``"applied"``, ``"dropped"``, ``"kept"`` in ``.grad`` for the next epoch, or ``"filled"``
            up with that one's micro-batches.
        data: every epoch has its ``"own"`` order, or all have the ``"first"`` one's, or each has that of the ``"next"``.
        forget: what of a run is not restored when it goes on: nothing (``""``), ``"model"``, ``"optimizer"``,
            ``"scheduler"``, ``"history"``, the ``"place"`` in the data, the ``"epoch"`` (its place within one is known), the
            place ``"within"`` the epoch, ``"all"``, or several of these with spaces between them; of the optimizer only its
            ``"averages"``; ``"one-back"`` and ``"one-ahead"`` are a window off; ``"stepped"`` lets the schedule step for what
            is passed over; ``"count"`` passes over as many windows in every epoch; ``"full"`` takes every window used up for
            N micro-batches, ``"floor"`` every epoch for its full windows alone.
    """

    weight: str = "tokens"
    clear: str = "start"
    clip: str = "once"
    schedule: str = "update"
    step: str = "window"
    tail: str = "applied"
    data: str = "own"
    forget: str = ""


RIGHT = RunVariant()


def train(config: Config, variant: RunVariant = RIGHT) -> History:
    """Train as the config says, in this way; stop where it says so, or go on from a checkpoint that is there."""
    run = config.build()
    done, number = _restore(run, config, variant), 0
    skip = done * config.accumulation_steps if variant.forget == "full" else 0
    order_of = {"own": lambda epoch: epoch, "first": lambda _: 0, "next": lambda epoch: epoch + 1}[variant.data]
    streams = [config.micro_batches(order_of(epoch)) for epoch in range(config.epochs)]
    for stream in [itertools.chain(*streams)] if variant.tail == "filled" else streams:
        number = 0 if variant.forget == "count" else number
        while skip and next(stream, None):
            skip, done = skip - 1, 0
        for window in windows(stream, config.accumulation_steps):
            number += 1
            if number <= done:
                continue
            train_window(run, window, config.max_norm, variant, config.accumulation_steps)
            if run.history.updates == config.stop_after:
                assert config.checkpoint is not None  # a run that is to be stopped has a place to save itself
                torch.save({name: part.state_dict() for name, part in run.parts().items()}, config.checkpoint)
                return run.history
        if variant.schedule == "epoch":
            run.scheduler.step()
    return run.history


def large_batches(config: Config) -> History:
    """The run that accumulation stands in for: every window is one micro-batch."""
    run = config.build()
    for epoch in range(config.epochs):
        for window in windows(config.micro_batches(epoch), config.accumulation_steps):
            train_window(run, [joined(window)], config.max_norm)
    return run.history


def joined(window: Window) -> tuple[Tensor, Tensor]:
    """The lines of a window as one large batch, padded to the longest of them."""
    size = max(x.shape[1] for x, _ in window)
    xs = [torch.nn.functional.pad(x, (0, size - x.shape[1])) for x, _ in window]
    ys = [torch.nn.functional.pad(y, (0, size - y.shape[1]), value=IGNORE) for _, y in window]
    return torch.cat(xs), torch.cat(ys)


def train_window(run: Run, window: Window, max_norm: float, variant: RunVariant = RIGHT, steps: int | None = None) -> None:
    """One update, entered into the history.

    Args:
        run: what is trained.
        window: the micro-batches.
        max_norm: clipping threshold.
        variant: how.
        steps: N; the number of micro-batches in the window if not given.
    """
    steps = steps or len(window)
    groups = [[pair] for pair in window] if variant.step == "every" else [window]
    weights = iter(weigh(variant.weight, window, steps))
    for group in groups:
        if variant.clear == "start" or variant.step == "every":
            run.optimizer.zero_grad()
        loss, norm = _accumulate(run, group, list(zip(group, weights, strict=False)), max_norm, variant)
        full = len(window) == steps
        if not full and variant.tail in ("dropped", "kept"):
            continue
        _apply(run, window, loss, norm, max_norm, variant)


def weigh(kind: str, window: Window, steps: int) -> list[float]:
    """How much the mean loss of each micro-batch counts."""
    tokens, lines = [tokens_in(y) for _, y in window], [len(y) for _, y in window]
    places, present = [y.numel() for _, y in window], len(window)
    others = [*tokens[:-1], 0]
    whole = [t * (n == lines[0]) for t, n in zip(tokens, lines, strict=True)]
    return {
        "tokens": [t / sum(tokens) for t in tokens],
        "lines": [n / sum(lines) for n in lines],
        "places": [p / sum(places) for p in places],
        "over-places": [t / sum(places) for t in tokens],
        "mean": [1 / present] * present,
        "steps": [1 / steps] * present,
        "tail": [t / sum(tokens) * present / steps for t in tokens],
        "one": [1.0] * present,
        "sum": [float(t) for t in tokens],
        "twice": [t / sum(tokens) / present for t in tokens],
        "so-far": [t / total for t, total in zip(tokens, itertools.accumulate(tokens), strict=True)],
        "first": [t / (present * tokens[0]) for t in tokens],
        "last": [t / sum(tokens) for t in others],
        "others": [t / max(1, sum(others)) for t in others],
        "whole": [t / sum(whole) for t in whole],
    }[kind]


def _accumulate(
    run: Run, group: Window, weighted: Iterable[tuple[MicroBatch, float]], max_norm: float, variant: RunVariant
) -> tuple[float, float]:
    """Gradients of some micro-batches; their mean loss per token, and the norm where clipping comes early."""
    tokens, total, norm = sum(tokens_in(y) for _, y in group), 0.0, 0.0
    for k, ((x, y), weight) in enumerate(weighted):
        if variant.clear == "every":
            run.optimizer.zero_grad()
        loss = token_loss(run.model(x), y)
        total += loss.item() * tokens_in(y) / tokens
        if variant.clip == "early" and k + 1 == len(group):
            norm = float(clip_grad_norm_(run.model.parameters(), max_norm))
        (loss * weight).backward()
        if variant.clip == "micro-batch":
            norm = float(clip_grad_norm_(run.model.parameters(), max_norm))
    return total, norm


def _apply(run: Run, window: Window, loss: float, norm: float, max_norm: float, variant: RunVariant) -> None:
    """Clip, step the schedule and the optimizer, and enter the update into the history."""
    if variant.clip not in ("micro-batch", "early"):
        thresholds = {"once": max_norm, "looser": max_norm * len(window), "tighter": max_norm / len(window)}
        thresholds["sum"] = max_norm / sum(tokens_in(y) for _, y in window)
        norm = float(clip_grad_norm_(run.model.parameters(), thresholds.get(variant.clip, torch.inf)))
    if variant.clip == "value":
        clip_grad_value_(run.model.parameters(), max_norm)
    for parameter in run.model.parameters() if variant.clip == "parameter" else ():
        clip_grad_norm_(parameter, max_norm)
    if variant.clip == "matrices":
        clip_grad_norm_([p for p in run.model.parameters() if p.dim() > 1], max_norm)
    for parameter in run.model.parameters() if variant.clip == "always" else ():
        assert parameter.grad is not None  # the model uses all that it has
        parameter.grad.mul_(max_norm / norm)
    for _ in range({"before": 1, "inside": len(window), "between": len(window) - 1}.get(variant.schedule, 0)):
        run.scheduler.step()
    rate = run.optimizer.param_groups[0]["lr"]
    if variant.clip != "skip" or norm <= max_norm:
        run.optimizer.step()
    if variant.schedule in ("update", "micro-batch", "between", "twice"):
        times = 2 if variant.schedule == "twice" else 1
        for _ in range(len(window) if variant.schedule == "micro-batch" and variant.step == "window" else times):
            run.scheduler.step()
    if variant.clear == "end":
        run.optimizer.zero_grad()
    run.history.add(loss, norm, rate, sum(tokens_in(y) for _, y in window))


def _restore(run: Run, config: Config, variant: RunVariant) -> int:
    """Restore a run from its checkpoint, if it has one, and return how many windows not to train on again."""
    if variant.forget == "all" or not config.checkpoint or not os.path.exists(config.checkpoint):
        return 0
    saved = torch.load(config.checkpoint, weights_only=True)
    for name, part in run.parts().items():
        if name not in variant.forget.split():
            part.load_state_dict(saved[name] | ({"state": {}} if (name, variant.forget) == ("optimizer", "averages") else {}))
    done = len(saved["history"]["losses"])
    per_epoch, full = config.updates // config.epochs, max(1, config.lines // config.effective_batch)
    for _ in range(done if variant.forget == "stepped" else 0):
        run.scheduler.step()
    within = done % per_epoch
    places = {"place": 0, "epoch": within, "within": done - within, "one-back": done - 1, "one-ahead": done + 1}
    places["history place"] = 0
    return (places | {"floor": done // full * per_epoch + done % full}).get(variant.forget, done)


MISTAKES: dict[str, tuple[RunVariant, ...]] = {
    "token-mean-of-means": (RunVariant(weight="mean"),),
    "sequences-for-tokens": (RunVariant(weight="lines"),),
    "padding-counted": (RunVariant(weight="places"), RunVariant(weight="over-places")),
    "no-scale": (RunVariant(weight="one"),),
    "sum-reduction": (RunVariant(weight="sum"),),
    "double-scale": (RunVariant(weight="twice"),),
    "tail-scale": (RunVariant(weight="tail"),),
    "zero-every": (RunVariant(clear="every"),),
    "never-zero": (RunVariant(clear="never"),),
    "stale-start": (RunVariant(clear="end"),),
    "step-every": tuple(RunVariant(step="every", weight=w) for w in ("mean", "one", "tokens")),
    "not-clipped": (RunVariant(clip="never"),),
    "clip-per-micro-batch": (RunVariant(clip="micro-batch"),),
    "clip-too-early": (RunVariant(clip="early"),),
    "clip-by-value": (RunVariant(clip="value"),),
    "threshold-too-high": (RunVariant(clip="looser"),),
    "threshold-too-low": (RunVariant(clip="tighter"), RunVariant(clip="sum")),
    "schedule-per-micro-batch": tuple(RunVariant(schedule=when) for when in ("micro-batch", "inside", "between")),
    "schedule-before-step": (RunVariant(schedule="before"),),
    "schedule-per-epoch": (RunVariant(schedule="epoch"),),
    "schedule-never": (RunVariant(schedule="never"),),
    "tail-dropped": (RunVariant(tail="dropped"),),
    "tail-stale": (RunVariant(tail="kept", clear="end"),),
    "tail-filled": (RunVariant(tail="filled"),),
    "epoch-order-repeated": (RunVariant(data="first"),),
    "epochs-from-one": (RunVariant(data="next"),),
}
"""For each mistake the variants that make it."""
