"""One loop that clips or scales in any of the ways of :mod:`.clipping_variants`, right or wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial

import torch
from torch import Tensor, nn
from torch.amp import GradScaler
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

from autograder.exercises.unit_06_mixed_precision_and_clipping.judging.clipping_variants import ClippingVariant
from gradaccum.loops import windows
from gradaccum.problems import MicroBatch

Loss = Callable[[Tensor, Tensor], Tensor]


@cache  # one loop for each variant, so that what it does on a trial is found again
def clipped_loop(variant: ClippingVariant) -> Callable[..., list[float]]:
    """A ``train_epoch_clipped`` that goes about it in this way."""
    return partial(play_clipped, variant)


@cache
def amp_loop(variant: ClippingVariant) -> Callable[..., list[float]]:
    """A ``train_epoch_amp`` that goes about it in this way."""
    return partial(play, variant)


def play_clipped(
    variant: ClippingVariant,
    model: nn.Module,
    loss_fn: Loss,
    optimizer: torch.optim.Optimizer,
    micro_batches: Iterable[MicroBatch],
    accumulation_steps: int,
    max_norm: float,
) -> list[float]:
    """A ``train_epoch_clipped`` that is written in this way."""
    scaler = GradScaler(enabled=False)
    return play(variant, model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, None)


def play(
    variant: ClippingVariant,
    model: nn.Module,
    loss_fn: Loss,
    optimizer: torch.optim.Optimizer,
    scaler: GradScaler,
    micro_batches: Iterable[MicroBatch],
    accumulation_steps: int,
    max_norm: float,
    dtype: torch.dtype | None,
) -> list[float]:
    """A ``train_epoch_amp`` that is written in this way; without a dtype it computes in the model's own precision."""
    if variant.autocast == "epoch":
        with torch.autocast(next(model.parameters()).device.type, dtype=dtype):
            inside = variant._replace(autocast="forward")
            return play(inside, model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype)
    training = _Training(variant, model, loss_fn, optimizer, scaler, scaler.get_scale(), max_norm, dtype)
    norms: list[float] = []
    spoilt = False
    for window in windows(micro_batches, accumulation_steps):
        if variant.clear in ("start", "short") and not spoilt:
            optimizer.zero_grad()
        sizes = [len(x) for x, _ in window]
        weighted = list(zip(window, _weights(variant.weight, sizes, accumulation_steps), strict=True))
        for group in [[one] for one in weighted] if variant.width == "every" else [weighted]:
            if variant.width == "every":
                optimizer.zero_grad()
            training.accumulate(group)
            if variant.infinite == "zeroed":
                training.zero_infinite()
            if len(window) == accumulation_steps or variant.tail == "applied":
                limit = _thresholds(max_norm, sizes, accumulation_steps).get(variant.clip, torch.inf)
                norms.append(training.update(limit))
                spoilt = variant.infinite == "kept" and not math.isfinite(norms[-1])
                spoilt = spoilt or (variant.clear == "short" and norms[-1] > max_norm)
                if variant.clear == "end" and not spoilt:
                    optimizer.zero_grad()
                if variant.infinite == "stopped" and not math.isfinite(norms[-1]):
                    return norms
    return norms


@dataclass(frozen=True)
class _Training:
    """What a variant works with."""

    variant: ClippingVariant
    model: nn.Module
    loss_fn: Loss
    optimizer: torch.optim.Optimizer
    scaler: GradScaler
    first_scale: float
    max_norm: float
    dtype: torch.dtype | None

    def accumulate(self, group: list[tuple[MicroBatch, float]]) -> None:
        """Forward and backward for some micro-batches with their weights."""
        for k, ((x, y), weight) in enumerate(group):
            last = k + 1 == len(group)
            if self.variant.clear == "every":
                self.optimizer.zero_grad()
            with torch.autocast(x.device.type, dtype=self.dtype, enabled=self.dtype is not None):
                loss = self.loss_fn(self.model(x), y) * weight
            if self.variant.infinite == "left out" and not torch.isfinite(loss):
                continue
            if self.variant.clip == "early" or (self.variant.clip == "one early" and last):
                clip_grad_norm_(self.model.parameters(), self.max_norm)
            scaled = self.scaler.scale(loss) if self.variant.scale != "none" else loss
            if self.variant.scale == "first":
                scaled = loss * self.first_scale
            if self.variant.clip in ("alone", "alone in full"):
                self.add_clipped(scaled, self.max_norm * (weight if self.variant.clip == "alone" else 1.0))
                continue
            scaled.backward()
            if self.variant.clip == "micro-batch":
                clip_grad_norm_(self.model.parameters(), self.max_norm)
            if self.variant.clip == "micro-batch scaled":
                clip_grad_norm_(self.model.parameters(), self.max_norm * self.scaler.get_scale())
            if self.variant.unscale == "each":
                self.scaler.unscale_(self.optimizer)
                if not last:
                    self.scaler.update()
            if self.variant.unscale == "again" and not last:
                torch._foreach_div_(self.gradients(), self.scaler.get_scale())
            if self.variant.update == "each":
                self.scaler.update(self.scaler.get_scale() * 2)

    def gradients(self) -> list[Tensor]:
        """What ``.grad`` of each parameter holds, where it holds anything."""
        return [p.grad for p in self.model.parameters() if p.grad is not None]

    def add_clipped(self, loss: Tensor, limit: float) -> None:
        """Add the gradient of a loss to what ``.grad`` holds, after it has been clipped on its own."""
        parameters = list(self.model.parameters())
        held = [p.grad for p in parameters]
        self.optimizer.zero_grad()
        loss.backward()
        clip_grad_norm_(parameters, limit)
        for parameter, before in zip(parameters, held, strict=True):
            if before is not None:
                parameter.grad = before if parameter.grad is None else before + parameter.grad

    def zero_infinite(self) -> None:
        """Replace by 0 what is not a finite number in the gradient."""
        for parameter in self.model.parameters():
            if parameter.grad is not None:
                parameter.grad.nan_to_num_(nan=0.0, posinf=0.0, neginf=0.0)

    def update(self, limit: float) -> float:
        """Clip and update; the norm of the gradient before, or NaN if there is no update."""
        if self.variant.infinite == "skipped" and not all(
            p.grad.isfinite().all() for p in self.model.parameters() if p.grad is not None
        ):
            return float("nan")
        if self.variant.clip == "scaled":
            norm = clip_grad_norm_(self.model.parameters(), limit)
        if self.variant.unscale in ("once", "again"):
            self.scaler.unscale_(self.optimizer)
        if self.variant.clip == "largest":
            norm = clip_grad_norm_(self.model.parameters(), self.max_norm, norm_type=math.inf)
        elif self.variant.clip == "one norm":
            norm = clip_grad_norm_(self.model.parameters(), self.max_norm, norm_type=1)
        elif self.variant.clip == "matrices":
            norm = clip_grad_norm_([p for p in self.model.parameters() if p.dim() > 1], self.max_norm)
        elif self.variant.clip == "sum":
            norm = torch.stack(torch._foreach_norm(self.gradients())).sum()
            torch._foreach_mul_(self.gradients(), min(1.0, self.max_norm / float(norm)))
        elif self.variant.clip != "scaled":
            norm = clip_grad_norm_(self.model.parameters(), limit)
        if self.variant.clip == "skipped" and norm > self.max_norm:
            return float(norm)
        if self.variant.clip == "always":
            for parameter in self.model.parameters():
                assert parameter.grad is not None
                parameter.grad *= self.max_norm / norm
        if self.variant.clip == "each":
            for parameter in self.model.parameters():
                clip_grad_norm_([parameter], self.max_norm)
        if self.variant.clip == "group":
            for group in self.optimizer.param_groups:
                clip_grad_norm_(group["params"], self.max_norm)
        if self.variant.clip == "value":
            clip_grad_value_(self.model.parameters(), self.max_norm)
        self.step(float(norm))
        if self.variant.infinite == "halved" and not norm.isfinite():
            self.scaler.update(self.scaler.get_scale() / 2)
        elif self.variant.update == "doubled" and norm.isfinite():
            self.scaler.update(self.scaler.get_scale() * 2)
        elif self.variant.update != "never":
            self.scaler.update()
        return float(norm)

    def step(self, norm: float) -> None:
        """Move the parameters, and clip what is not the gradient."""
        factor = min(1.0, self.max_norm / norm) if self.variant.clip == "rate" else 1.0
        before = [p.detach().clone() for p in self.model.parameters()]
        for group in self.optimizer.param_groups:
            group["lr"] *= factor
        if self.variant.step in ("scaler", "both"):
            self.scaler.step(self.optimizer)
        if self.variant.step in ("plain", "both"):
            self.optimizer.step()
        for group in self.optimizer.param_groups:
            group["lr"] /= factor
        if self.variant.clip == "movement":
            with torch.no_grad():
                moved = [p - old for p, old in zip(self.model.parameters(), before, strict=True)]
                share = min(1.0, self.max_norm / float(torch.cat([move.flatten() for move in moved]).norm()))
                for parameter, old, move in zip(self.model.parameters(), before, moved, strict=True):
                    parameter.copy_(old + share * move)


def _thresholds(max_norm: float, sizes: list[int], steps: int) -> dict[str, float]:
    """The threshold for a whole window by ``ClippingVariant.clip``, where it has one."""
    present = len(sizes)
    limits = {"once": max_norm, "scaled": max_norm, "full": max_norm if present == steps else torch.inf}
    return limits | {"high": max_norm * present, "low": max_norm / present, "low samples": max_norm / sum(sizes)}


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
