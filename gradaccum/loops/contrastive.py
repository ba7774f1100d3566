"""The gallery of contrastive losses: one large batch, the ways to accumulate it, and what each famous wrong one does.

All are called ``loop(encode_image, encode_text, logit_scale, micro_batches)``, leave gradients in ``.grad`` and return a loss.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from gradaccum.loops.micro_batches import MicroBatches
from gradaccum.problems.contrastive import info_nce

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]
"""``loss(image_features, text_features, logit_scale)``, of all the pairs it is given at once."""


def one_large_batch(
    encode_image: nn.Module, encode_text: nn.Module, logit_scale: Tensor, micro_batches: MicroBatches, loss_fn: Loss = info_nce
) -> float:
    clear(encode_image, encode_text, logit_scale)
    images, texts = (torch.cat(parts) for parts in zip(*micro_batches, strict=True))
    loss = loss_fn(encode_image(images), encode_text(texts), logit_scale)
    loss.backward()
    return loss.item()


def cached_features(
    encode_image: nn.Module, encode_text: nn.Module, logit_scale: Tensor, micro_batches: MicroBatches, loss_fn: Loss = info_nce
) -> float:
    """Features without a graph, the loss's gradient for them, and then one micro-batch's graph at a time.

    Gao et al. 2021 (arXiv 2101.06983) call it a gradient cache.
    """
    clear(encode_image, encode_text, logit_scale)
    batches = list(micro_batches)
    sizes = [len(images) for images, _ in batches]
    with torch.no_grad():
        image_features = torch.cat([encode_image(images) for images, _ in batches])
        text_features = torch.cat([encode_text(texts) for _, texts in batches])
    loss = loss_fn(image_features.requires_grad_(), text_features.requires_grad_(), logit_scale)
    loss.backward()
    assert image_features.grad is not None
    assert text_features.grad is not None
    due = zip(batches, image_features.grad.split(sizes), text_features.grad.split(sizes), strict=True)
    for (images, texts), image_gradient, text_gradient in due:
        encode_image(images).backward(image_gradient)
        encode_text(texts).backward(text_gradient)
    return loss.item()


def temperature_times_n(
    encode_image: nn.Module, encode_text: nn.Module, logit_scale: Tensor, micro_batches: MicroBatches, loss_fn: Loss = info_nce
) -> float:
    """As published: the loss of the whole window goes through backward once for every micro-batch, logit_scale with it."""
    clear(encode_image, encode_text, logit_scale)
    batches = list(micro_batches)
    with torch.no_grad():
        cached = [[encode_image(images) for images, _ in batches], [encode_text(texts) for _, texts in batches]]
    for k, (images, texts) in enumerate(batches):
        live = encode_image(images), encode_text(texts)
        all_images, all_texts = (torch.cat([*old[:k], new, *old[k + 1 :]]) for old, new in zip(cached, live, strict=True))
        loss = loss_fn(all_images, all_texts, logit_scale)
        loss.backward()
    return loss.item()


def window_loss_over_n(
    encode_image: nn.Module, encode_text: nn.Module, logit_scale: Tensor, micro_batches: MicroBatches
) -> float:
    batches = list(micro_batches)

    def divided(image_features: Tensor, text_features: Tensor, scale: Tensor) -> Tensor:
        return info_nce(image_features, text_features, scale) / len(batches)

    return len(batches) * temperature_times_n(encode_image, encode_text, logit_scale, batches, divided)


def local_negatives(encode_image: nn.Module, encode_text: nn.Module, logit_scale: Tensor, micro_batches: MicroBatches) -> float:
    clear(encode_image, encode_text, logit_scale)
    batches, total = list(micro_batches), 0.0
    for images, texts in batches:
        loss = info_nce(encode_image(images), encode_text(texts), logit_scale) / len(batches)
        loss.backward()
        total += loss.item()
    return total


def negatives_so_far(
    encode_image: nn.Module, encode_text: nn.Module, logit_scale: Tensor, micro_batches: MicroBatches
) -> float:
    clear(encode_image, encode_text, logit_scale)
    batches, total = list(micro_batches), 0.0
    seen: tuple[list[Tensor], list[Tensor]] = ([], [])
    for images, texts in batches:
        live = encode_image(images), encode_text(texts)
        all_images, all_texts = (torch.cat([*kept, new]) for kept, new in zip(seen, live, strict=True))
        loss = info_nce(all_images, all_texts, logit_scale) / len(batches)
        loss.backward()
        total += loss.item()
        for kept, new in zip(seen, live, strict=True):
            kept.append(new.detach())
    return total


GALLERY: dict[str, Callable[..., float]] = {
    "right": cached_features,
    "temperature-times-n": temperature_times_n,
    "window-loss-over-n": window_loss_over_n,
    "local-negatives": local_negatives,
    "negatives-so-far": negatives_so_far,
}
"""Loops by the slug of their mistake."""


def clear(encode_image: nn.Module, encode_text: nn.Module, logit_scale: Tensor) -> None:
    """Discard what ``.grad`` holds."""
    parameters: tuple[Tensor, ...] = (*encode_image.parameters(), *encode_text.parameters(), logit_scale)
    for parameter in parameters:
        parameter.grad = None
