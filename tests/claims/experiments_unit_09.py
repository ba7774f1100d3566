"""What the sources say about accumulating contrastive losses, tried out. Each function is one row of the ledger."""

from __future__ import annotations

from collections.abc import Callable

import torch
from claim import Claim
from torch import Tensor, nn
from torch.nn import functional as F

from gradaccum.loops.contrastive import GALLERY, cached_features, one_large_batch
from gradaccum.phenomena import contrastive_negatives as cn
from gradaccum.problems.contrastive import ContrastiveProblem, gradients, info_nce
from gradaccum.recording import LiveBytes

UNIT = "09_contrastive_losses"
STEPS = 8
EQUAL = 1e-9
"""Relative difference up to which two float64 gradients are the same: rounding leaves about 1e-15."""

PROBLEM = ContrastiveProblem(seed=1, sizes=(4,) * STEPS)


def row_27() -> Claim:
    """How often does a sample go through its encoder, and with or without gradients?"""
    without, with_gradients = passes(cached_features)
    once = passes(graphs_kept)
    kept, freed = peak(graphs_kept), peak(cached_features)
    verdict = "true of cached features" if (without, with_gradients) == (1, 1) and sum(once) == 1 < kept / freed else "false"
    figure = (
        f"N = {STEPS}, passes of a sample through its encoder: {without:.0f} without gradients and {with_gradients:.0f} with "
        f"them; {sum(once):.0f} if the graphs of the window are kept, with a peak {kept / freed:.1f} times as high"
    )
    return Claim(27, "Contrastive accumulation needs two forward passes per sample", verdict, figure, UNIT)


def row_28() -> Claim:
    """How many bytes are the features of the whole window?"""
    cost = cn.measure("cached", STEPS)
    product = cn.PAIRS * cn.PROBLEM.width * 2 * torch.float64.itemsize
    small = cost.features < cost.large_activations / 10
    verdict = "true, and they are small" if cost.features == product and small else "false"
    figure = (
        f"{cost.features} bytes = {cn.PAIRS} samples × width {cn.PROBLEM.width} × 2 encoders × 8; activations of the large "
        f"batch {cost.large_activations} bytes, of one of {STEPS} micro-batches {cost.activations}"
    )
    return Claim(28, "Contrastive accumulation keeps the features of all batches in memory", verdict, figure, UNIT)


def row_29() -> Claim:
    """Is the published gradient the large batch's, or that divided or multiplied by N?"""
    published, divided = (times_due(GALLERY[slug]) for slug in ("temperature-times-n", "window-loss-over-n"))
    exact = errors(cached_features)
    encoders = max(abs(published[name] - 1) for name in ("images", "texts")) < EQUAL
    scale = abs(published["scale"] - STEPS) < EQUAL
    verdict = "true of the encoders, false of logit_scale" if encoders and scale and max(exact) < EQUAL else "false"
    figure = (
        f"N = {STEPS}, gradients as published: encoders {published['images']:.3f} and {published['texts']:.3f} times the large "
        f"batch's, logit_scale {published['scale']:.3f} times; divided by N {divided['images']:.3f}, {divided['texts']:.3f} "
        f"and {divided['scale']:.3f} times; with logit_scale in the loss once, all three are {max(exact):.0e} off"
    )
    return Claim(29, "The final contrastive gradient is the sum, effectively the mean", verdict, figure, UNIT)


def row_30() -> Claim:
    """Can a loss that learns from a teacher's similarities be accumulated?"""
    off = max(errors(cached_features, distillation))
    alone = min(errors(mean_of_micro_batches, distillation))
    verdict = "false" if off < EQUAL < alone else "true"
    figure = (
        f"learning from a teacher's similarities, N = {STEPS}: with cached features all gradients are {off:.0e} off the large "
        f"batch's, with each micro-batch alone at least {alone:.0%}"
    )
    return Claim(30, "Contrastive accumulation is incompatible with distillation", verdict, figure, UNIT)


EXPERIMENTS: tuple[Callable[[], Claim], ...] = (row_27, row_28, row_29, row_30)


def passes(loop: Callable) -> tuple[float, float]:
    """How often a sample goes through its encoder without gradients, and with them."""
    *encoders, logit_scale = PROBLEM.build()
    counts = {False: 0, True: 0}

    def count(module: nn.Module, inputs: tuple, output: Tensor) -> None:
        counts[output.requires_grad] += len(output)

    for encoder in encoders:
        encoder.register_forward_hook(count)
    loop(*encoders, logit_scale, PROBLEM.batches())
    return tuple(counts[mode] / (2 * PROBLEM.pairs) for mode in (False, True))


def graphs_kept(encode_image, encode_text, logit_scale, micro_batches) -> float:
    """A single pass: the graphs of all micro-batches wait for the loss."""
    features = [(encode_image(images), encode_text(texts)) for images, texts in micro_batches]
    loss = info_nce(*(torch.cat(side) for side in zip(*features, strict=True)), logit_scale)
    loss.backward()
    return loss.item()


def mean_of_micro_batches(encode_image, encode_text, logit_scale, micro_batches, loss_fn) -> float:
    """Each micro-batch alone, with the rows and columns of the teacher that are its own."""
    total, start = 0.0, 0
    for images, texts in micro_batches:
        loss = loss_fn(encode_image(images), encode_text(texts), logit_scale, start) / len(micro_batches)
        loss.backward()
        total, start = total + loss.item(), start + len(images)
    return total


def distillation(image_features: Tensor, text_features: Tensor, logit_scale: Tensor, start: int = 0) -> Tensor:
    """Cross-entropy with a teacher's similarities, of the pairs from ``start`` on, in both directions."""
    teacher_image, teacher_text, _ = PROBLEM.with_(seed=9).build()
    images, texts = (torch.cat(side) for side in zip(*PROBLEM.batches(), strict=True))
    own = slice(start, start + len(image_features))
    with torch.no_grad():
        soft = 5 * F.normalize(teacher_image(images), dim=1)[own] @ F.normalize(teacher_text(texts), dim=1)[own].T
    logits = logit_scale.exp() * F.normalize(image_features, dim=1) @ F.normalize(text_features, dim=1).T
    return (F.cross_entropy(logits, soft.softmax(1)) + F.cross_entropy(logits.T, soft.T.softmax(1))) / 2


def peak(loop: Callable) -> int:
    """Bytes alive at most, with long images and texts."""
    problem = PROBLEM.with_(patches=96, hidden=3, depth=6)
    encoders, batches = problem.build(), problem.batches()
    with LiveBytes() as live:
        loop(*encoders, batches)
    return live.peak


def times_due(loop: Callable) -> dict[str, float]:
    """Lengths of the gradients a loop leaves, over those of the large batch; NaN where the direction is another."""
    times = {}
    pairs = zip(gradients(loop, PROBLEM), gradients(one_large_batch, PROBLEM), strict=True)
    for name, (found, due) in zip(("images", "texts", "scale"), pairs, strict=True):
        same_way = F.cosine_similarity(found, due, dim=0) > 1 - EQUAL
        times[name] = float(found.norm() / due.norm()) if same_way else float("nan")
    return times


def errors(loop: Callable, *loss: Callable) -> list[float]:
    """How far the gradients of both encoders and of ``logit_scale`` are off those of the large batch."""
    found, due = (gradients(lambda *a, loop=loop: loop(*a, *loss), PROBLEM) for loop in (loop, one_large_batch))
    return [float((f - d).norm() / d.norm()) for f, d in zip(found, due, strict=True)]
