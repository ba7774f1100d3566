"""Components of a training run, each tried out: does accumulation still equal one large batch with it?

:func:`departure` trains a small model twice from the same start, with one large batch per update and with micro-batches that
accumulate, and measures how far the two runs end up apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import clip_grad_norm_

FEATURES, WIDTH, SAMPLES, STEPS, UPDATES = 6, 8, 12, 4, 3

MAX_NORM = 0.05
"""A threshold that binds: gradients here are about ten times as long."""

EQUAL = 1e-9
"""Relative difference up to which two float64 runs count as equal: rounding leaves about 1e-15, a real departure above 1e-3."""


@dataclass(frozen=True)
class Component:
    """Something that a training run may contain.

    Attributes:
        about: what it is, in a few words.
        group: ``"layers"``, ``"updates"`` or ``"clipping and losses"``: what it belongs to.
        layer: makes the layer under test.
        training: the mode the model is in.
        optimizer: makes the optimizer.
        loss: loss of a batch of outputs, averaged over what it is made of.
        clip: ``""``, ``"window"`` or ``"micro-batch"``: when gradients are clipped.
        update: ``"window"`` or ``"micro-batch"``: after what the optimizer steps.
    """

    about: str
    group: str = "layers"
    layer: Callable[[], nn.Module] = nn.Identity
    training: bool = True
    optimizer: Callable[..., torch.optim.Optimizer] = torch.optim.SGD
    loss: Callable[[Tensor, Tensor], Tensor] = F.mse_loss
    clip: str = ""
    update: str = "window"


def contrastive_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    """Each output has to find its own target among all targets of the batch (InfoNCE)."""
    similarities = F.normalize(outputs, dim=1) @ F.normalize(targets, dim=1).T
    return F.cross_entropy(similarities / 0.5, torch.arange(len(outputs), device=outputs.device))


def _momentum(parameters: Iterable[nn.Parameter], lr: float) -> torch.optim.SGD:
    return torch.optim.SGD(parameters, lr=lr, momentum=0.9)


def _weight_decay(parameters: Iterable[nn.Parameter], lr: float) -> torch.optim.SGD:
    return torch.optim.SGD(parameters, lr=lr, weight_decay=0.1)


COMPONENTS: dict[str, Component] = {
    "linear": Component("linear layers and tanh, plain SGD"),
    "batchnorm-training": Component("BatchNorm1d in training mode", layer=lambda: nn.BatchNorm1d(WIDTH)),
    "batchnorm-eval": Component("BatchNorm1d in evaluation mode", layer=lambda: nn.BatchNorm1d(WIDTH), training=False),
    "layernorm": Component("LayerNorm", layer=lambda: nn.LayerNorm(WIDTH)),
    "groupnorm": Component("GroupNorm", layer=lambda: nn.GroupNorm(2, WIDTH)),
    "momentum": Component("SGD, momentum, one update per window", "updates", optimizer=_momentum),
    "adamw": Component("AdamW, one update per window", "updates", optimizer=torch.optim.AdamW),
    "weight-decay": Component("SGD, weight decay, one update per window", "updates", optimizer=_weight_decay),
    "step-per-micro-batch": Component(
        "SGD, momentum, one update per micro-batch", "updates", optimizer=_momentum, update="micro-batch"
    ),
    "clip-per-window": Component("clipping the accumulated gradient", "clipping and losses", clip="window"),
    "clip-per-micro-batch": Component("clipping after every micro-batch", "clipping and losses", clip="micro-batch"),
    "contrastive-loss": Component("a contrastive loss over a batch's samples", "clipping and losses", loss=contrastive_loss),
}
"""What unit 07 asks about, by key."""


def departure(component: Component, seed: int = 0) -> float:
    """How far two runs of three updates end up apart, relative to how far they moved.

    Both start from the same parameters and see the same 12 samples per update: one run as one batch, the other as four
    micro-batches of three whose losses are divided by four. In float64, so that 1e-15 means "the same".
    """
    large, small = (_train(component, seed, steps) for steps in (1, STEPS))
    start = _flat(_model(component, seed))
    return float((large - small).norm() / (large - start).norm())


def breaks(component: Component, seed: int = 0) -> bool:
    """Whether a run with the component departs from the large batch by more than rounding."""
    return departure(component, seed) > EQUAL


def _train(component: Component, seed: int, steps: int) -> Tensor:
    model = _model(component, seed)
    optimizer = component.optimizer(model.parameters(), lr=0.05)
    generator = torch.Generator().manual_seed(seed + 1)
    for _ in range(UPDATES):
        x = torch.randn(SAMPLES, FEATURES, generator=generator, dtype=torch.float64)
        y = torch.randn(SAMPLES, 2, generator=generator, dtype=torch.float64)
        optimizer.zero_grad()
        for part_x, part_y in zip(x.chunk(steps), y.chunk(steps), strict=True):
            (component.loss(model(part_x), part_y) / steps).backward()
            if component.clip == "micro-batch":
                clip_grad_norm_(model.parameters(), MAX_NORM)
            if component.update == "micro-batch":
                optimizer.step()
                optimizer.zero_grad()
        if component.clip == "window":
            clip_grad_norm_(model.parameters(), MAX_NORM)
        if component.update == "window":
            optimizer.step()
    return _flat(model)


def _model(component: Component, seed: int) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        first, last = nn.Linear(FEATURES, WIDTH), nn.Linear(WIDTH, 2)
        model = nn.Sequential(first, component.layer(), nn.Tanh(), last)
    return model.to(torch.float64).train(component.training)


def _flat(model: nn.Module) -> Tensor:
    return torch.cat([parameter.detach().reshape(-1) for parameter in model.parameters()]).clone()
