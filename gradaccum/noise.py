"""The simple noise scale: how many samples an update should average over, read off the micro-batch gradients of a window.

McCandlish, Kaplan, Amodei et al. 2018, "An Empirical Model of Large-Batch Training", arXiv 1812.06162, appendix A.1.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def signal_and_noise(gradients: Sequence[Tensor], size: int) -> tuple[float, float]:
    """Unbiased estimates of the squared length of the true gradient, |G|², and of one sample's total variance, tr Σ.

    Args:
        gradients: N ≥ 2 vectors, each the mean gradient of a micro-batch.
        size: B, samples in each micro-batch.

    Raises:
        ValueError: there are fewer than two gradients.
    """
    small, large = square_lengths(gradients)
    samples = len(gradients) * size
    if len(gradients) < 2:
        raise ValueError("one gradient does not show how gradients differ; two are needed")
    return (samples * large - size * small) / (samples - size), (small - large) / (1 / size - 1 / samples)


def simple_noise_scale(gradients: Sequence[Tensor], size: int) -> float:
    """``tr Σ / |G|²`` in samples; arguments and errors as of :func:`signal_and_noise`."""
    signal, noise = signal_and_noise(gradients, size)
    return noise / signal


def square_lengths(gradients: Sequence[Tensor]) -> tuple[float, float]:
    """Mean squared length of the gradients, and squared length of their mean; in float64."""
    rows = torch.stack([gradient.double().cpu() for gradient in gradients])
    return float(rows.square().sum(1).mean()), float(rows.mean(0).square().sum())
