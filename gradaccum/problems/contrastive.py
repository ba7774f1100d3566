"""Contrastive problems: pairs of images and texts, two encoders, and a loss in which every pair is compared with all others."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gradaccum.problems.ingredients import MicroBatch, TrainingGate, fill_stale_gradient, fill_with_infinity, normal_numbers
from gradaccum.problems.parameters import flat_gradients, trainable

FEATURES = 4
"""Numbers in each patch of an image and in each token of a text."""

Encoders = tuple[nn.Module, nn.Module, nn.Parameter]
"""``encode_image``, ``encode_text`` and ``logit_scale``, the logarithm of the factor that multiplies the similarities."""


def info_nce(image_features: Tensor, text_features: Tensor, logit_scale: Tensor) -> Tensor:
    """The symmetric contrastive loss of a batch of n pairs: each image has to find its text among n, and each text its image.

    It averages over the n pairs and over both directions, as in Radford et al. 2021 (arXiv 2103.00020, figure 3).

    Args:
        image_features, text_features: ``(n, width)``, row k of both belongs to pair k. They are normalized here.
        logit_scale: scalar; similarities are multiplied by its exponential, which is 1 / temperature.
    """
    logits = logit_scale.exp() * F.normalize(image_features, dim=1) @ F.normalize(text_features, dim=1).T
    own = torch.arange(len(logits), device=logits.device)
    return (F.cross_entropy(logits, own) + F.cross_entropy(logits.T, own)) / 2


@dataclass(frozen=True)
class ContrastiveProblem:
    """One window of pairs, cut into micro-batches, and the encoders for them.

    Attributes:
        seed: fixes weights and data.
        sizes: pairs in each micro-batch.
        patches: length of an image and of a text, in patches or tokens.
        hidden, depth, width: units per hidden layer, number of hidden layers, numbers in a feature vector.
        temperature: what ``logit_scale`` stands for at the start.
        stale: whether ``.grad`` holds something already.
        overflowed: whether it holds infinity, as after a loss that overflowed.
        one_shot: whether the micro-batches come as a generator instead of a list.
        extras: whether each encoder also has a frozen and an unused parameter.
        gated: whether each encoder has a layer that acts differently in training and in evaluation mode.
        device, dtype: where and in which precision; strings, so that a problem stays plain data.
    """

    seed: int = 0
    sizes: tuple[int, ...] = (4, 4, 4, 4)
    patches: int = 3
    hidden: int = 6
    depth: int = 1
    width: int = 5
    temperature: float = 0.2
    stale: bool = False
    overflowed: bool = False
    one_shot: bool = False
    extras: bool = False
    gated: bool = False
    device: str = "cpu"
    dtype: str = "float64"

    def __post_init__(self) -> None:
        if not self.sizes or min(self.sizes) < 1:
            raise ValueError(f"a window needs micro-batches of at least one pair, not {self.sizes}")

    @property
    def pairs(self) -> int:
        """Pairs in the window."""
        return sum(self.sizes)

    def build(self) -> Encoders:
        """Fresh encoders in training mode and a fresh ``logit_scale``, the same on every call."""
        dtype = getattr(torch, self.dtype)
        with torch.device("cpu"), torch.random.fork_rng(devices=[]):  # layers draw weights, which are not kept
            images, texts = (Encoder(self.hidden, self.depth, self.width, self.extras, self.gated) for _ in range(2))
        for stream, encoder in enumerate((images, texts)):
            generator = _generator(self.seed, stream)
            for parameter in encoder.parameters():
                parameter.data = normal_numbers(parameter.shape, generator) / parameter.shape[-1] ** 0.5
            encoder.to(device=self.device, dtype=dtype)
        scale = nn.Parameter(torch.tensor(math.log(1 / self.temperature), dtype=dtype, device=self.device))
        if self.stale:
            for stream, encoder in enumerate((images, texts)):
                fill_stale_gradient(encoder, self.seed + 7 * stream)
            scale.grad = torch.full_like(scale, 0.7)
        if self.overflowed:
            fill_with_infinity([*trainable(images), *trainable(texts), scale])
        return images, texts, scale

    def batches(self) -> list[MicroBatch]:
        """The micro-batches: images and texts, each of shape ``(size, patches, 4)``, made from what a pair has in common."""
        generator = _generator(self.seed, 2)
        shape = (self.pairs, self.patches, FEATURES)
        common = normal_numbers((self.pairs, 1, FEATURES), generator)
        images, texts = (common + 0.5 * normal_numbers(shape, generator) for _ in range(2))
        images, texts = (t.to(device=self.device, dtype=getattr(torch, self.dtype)) for t in (images, texts))
        return list(zip(images.split(list(self.sizes)), texts.split(list(self.sizes)), strict=True))

    def micro_batches(self) -> list[MicroBatch] | Iterator[MicroBatch]:
        """What a loop is given: a list, or a generator if the problem is ``one_shot``."""
        batches = self.batches()
        return (batch for batch in batches) if self.one_shot else batches

    def with_(self, **changes: Any) -> ContrastiveProblem:
        """A copy with some attributes changed."""
        return replace(self, **changes)


class Encoder(nn.Module):
    """The same small network at every patch, their mean, and a projection: ``(n, patches, 4)`` to ``(n, width)``."""

    def __init__(self, hidden: int, depth: int, width: int, extras: bool = False, gated: bool = False):
        super().__init__()
        sizes = [FEATURES, *([hidden] * depth)]
        self.hidden = nn.ModuleList(nn.Linear(a, b) for a, b in itertools.pairwise(sizes))
        self.gate = TrainingGate() if gated else nn.Identity()
        self.project = nn.Linear(hidden, width)
        if extras:
            self.shift = nn.Parameter(torch.zeros(hidden), requires_grad=False)
            self.unused = nn.Parameter(torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.hidden:
            x = torch.tanh(layer(x))
        if hasattr(self, "shift"):
            x = x + self.shift
        return self.project(self.gate(x).mean(dim=1))


def gradients(loop: Callable[..., object], problem: ContrastiveProblem) -> tuple[Tensor, Tensor, Tensor]:
    """What a loop leaves in ``.grad`` of a problem's two encoders, as vectors, and of ``logit_scale``.

    Raises:
        Exception: whatever the loop raises.
    """
    encode_image, encode_text, logit_scale = problem.build()
    loop(encode_image, encode_text, logit_scale, problem.micro_batches())
    of_images, of_texts = (flat_gradients(trainable(encoder)) for encoder in (encode_image, encode_text))
    return of_images, of_texts, flat_gradients([logit_scale])


def _generator(seed: int, stream: int) -> torch.Generator:
    return torch.Generator(device="cpu").manual_seed((1_000_003 * seed + 31 * stream + 17) % 2**63)
