"""Contrastive negatives: which pairs a micro-batch is compared with, what that does to the gradient, and what it costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor, nn
from torch.nn import functional as F

from gradaccum.drawing import LABEL, PALE_BLUE, SHADES, Style, tidy
from gradaccum.loops.contrastive import cached_features, local_negatives, negatives_so_far, one_large_batch, temperature_times_n
from gradaccum.memory import bytes_held, saved_tensors
from gradaccum.phenomena import control
from gradaccum.problems import flat_gradients, trainable
from gradaccum.problems.contrastive import ContrastiveProblem, Encoders
from gradaccum.theme import BLUE, GREEN, GREY, VERMILLION

TITLE = "Contrastive negatives"
SIZE = (9.9, 3.9)
PAIRS = 32
CUTS = (1, 2, 4, 8, 16)
SHOWN = 1
"""The micro-batch that is outlined, counted from 0."""

PROBLEM = ContrastiveProblem(0, (PAIRS,), patches=8, hidden=16, depth=2, width=8)
TRAINED, RATE = 40, 0.5
"""Updates, and their rate, after which the encoders tell pairs apart, so that it matters which negatives they see."""

SAME = 1e-9
"""Relative difference up to which two float64 gradients are the same."""

KIB = 1024

METHODS = {
    "each micro-batch alone": "local",
    "micro-batches so far": "so far",
    "cached features, as published": "published",
    "cached features": "cached",
}
LOOPS = {
    "local": local_negatives,
    "so far": negatives_so_far,
    "published": temperature_times_n,
    "cached": cached_features,
}


@dataclass(frozen=True)
class Settings:
    """What micro-batches are compared with, into how many 32 pairs are cut, and how sharp the comparison is."""

    method: str = control("local", "Compare", METHODS)
    accumulation_steps: int = control(8, "N", CUTS[1:])
    temperature: float = control(0.1, "Temperature", (0.05, 0.1, 0.5))


PRESETS = {
    "Break": Settings(),
    "Break the temperature": Settings(method="published"),
    "Fix": Settings(method="cached"),
}


@dataclass(frozen=True)
class Gradient:
    """What a method leaves in ``.grad`` for one cut, compared with the large batch.

    Attributes:
        cosine: of the encoders' gradients.
        difference: their distance, over the length of the large batch's.
        scale: the gradient of ``logit_scale`` over the large batch's; where others are wrong it may be anything.
        loss, large_loss: what is reported.
    """

    cosine: float
    difference: float
    scale: float
    loss: float
    large_loss: float


@dataclass(frozen=True)
class Cost:
    """What a method needs, measured.

    Attributes:
        forwards: passes of a sample through its encoder.
        features: bytes of the features that are kept without a graph.
        activations, large_activations: bytes autograd keeps of one micro-batch, and of the large batch.
    """

    forwards: float
    features: int
    activations: int
    large_activations: int


@dataclass(frozen=True)
class Result:
    """One method at every cut, its cost at the chosen one, and the similarities of the pairs.

    Attributes:
        gradients: by N.
        similarities: ``(32, 32)``, cosines of image and text features.
        seen: ``(32, 32)``, which of them are in some loss.
    """

    settings: Settings
    gradients: dict[int, Gradient]
    cost: Cost
    similarities: Tensor
    seen: Tensor

    @property
    def chosen(self) -> Gradient:
        return self.gradients[self.settings.accumulation_steps]


def compute(settings: Settings) -> Result:
    """Take the gradients at frozen parameters, and count what was needed for them."""
    method, n = settings.method, settings.accumulation_steps
    return Result(
        settings=settings,
        gradients={cut: compare(method, cut, settings.temperature) for cut in CUTS},
        cost=measure(method, n),
        similarities=similarities(),
        seen=seen(method, n),
    )


@cache
def compare(method: str, accumulation_steps: int, temperature: float) -> Gradient:
    """A method compared with the large batch."""
    encoders = trained(temperature)
    large_loss = one_large_batch(*encoders, batches(1))
    large, due_scale = _left(encoders)
    loss = LOOPS[method](*encoders, batches(accumulation_steps))
    found, scale = _left(encoders)
    cosine, difference = F.cosine_similarity(found, large, dim=0), (found - large).norm() / large.norm()
    return Gradient(float(cosine), float(difference), scale / due_scale, loss, large_loss)


def _left(encoders: Encoders) -> tuple[Tensor, float]:
    """The gradients in ``.grad``, of both encoders and of ``logit_scale``."""
    encode_image, encode_text, logit_scale = encoders
    towers = [flat_gradients(trainable(encoder)) for encoder in (encode_image, encode_text)]
    return torch.cat(towers), flat_gradients([logit_scale]).item()


def trained(temperature: float) -> Encoders:
    """Encoders after some updates on other pairs, and the ``logit_scale`` of a temperature."""
    encode_image, encode_text, logit_scale = _trained()
    return encode_image, encode_text, nn.Parameter(torch.full_like(logit_scale, math.log(1 / temperature)))


@cache
def _trained() -> Encoders:
    encode_image, encode_text, logit_scale = PROBLEM.build()
    for step in range(TRAINED):
        one_large_batch(encode_image, encode_text, logit_scale, PROBLEM.with_(seed=1000 + step).batches())
        with torch.no_grad():  # an optimizer's first step would import for half a second
            for parameter in (*encode_image.parameters(), *encode_text.parameters()):
                assert parameter.grad is not None
                parameter.sub_(RATE * parameter.grad)
    return encode_image, encode_text, logit_scale


@cache
def batches(accumulation_steps: int) -> list[tuple[Tensor, Tensor]]:
    """A window of 32 pairs that the encoders have not seen, cut."""
    return PROBLEM.with_(seed=501, sizes=(PAIRS // accumulation_steps,) * accumulation_steps).batches()


@cache
def measure(method: str, accumulation_steps: int) -> Cost:
    """Count passes with hooks, and the bytes of features and of activations."""
    encoders = trained(0.1)
    passed: list[int] = []
    features: list[Tensor] = []

    def count(encoder: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        passed.append(len(output))
        if not torch.is_grad_enabled() or method == "so far":
            features.append(output)

    handles = [encoder.register_forward_hook(count) for encoder in encoders[:2]]
    try:
        LOOPS[method](*encoders, batches(accumulation_steps))
    finally:
        for handle in handles:
            handle.remove()
    kept = sum(feature.numel() * feature.element_size() for feature in features)
    activations = (_activations(encoders, batches(cut)[0]) for cut in (accumulation_steps, 1))
    return Cost(sum(passed) / (2 * PAIRS), kept, *activations)


def _activations(encoders: Encoders, pair: tuple[Tensor, Tensor]) -> int:
    """Bytes autograd keeps of a micro-batch's way through both encoders."""
    towers, inputs = encoders[:2], [x.clone() for x in pair]  # a slice would hold the whole window's storage
    features, kept = saved_tensors(lambda: [encoder(x) for encoder, x in zip(towers, inputs, strict=True)])
    assert all(feature.requires_grad for feature in features)
    return bytes_held(kept, without=(p for encoder in towers for p in encoder.parameters()))


@cache
def similarities() -> Tensor:
    """Cosines between all images and all texts of a window."""
    encode_image, encode_text, _ = trained(0.1)
    images, texts = batches(1)[0]
    with torch.no_grad():
        return F.normalize(encode_image(images), dim=1) @ F.normalize(encode_text(texts), dim=1).T


@cache
def seen(method: str, accumulation_steps: int) -> Tensor:
    """Which texts (columns) each image (row) is compared with in the loss through which it gets its gradient."""
    place = torch.arange(PAIRS) * accumulation_steps // PAIRS
    if method == "local":
        return place[:, None] == place[None, :]
    if method == "so far":
        return place[:, None] >= place[None, :]
    return torch.ones(PAIRS, PAIRS, dtype=torch.bool)


def draw(result: Result, figure: Figure) -> None:
    """Who is compared with whom, the gradient against N, and the bytes."""
    _draw_pairs(figure.add_axes((0.035, 0.13, 0.27, 0.76)), result)
    _draw_cosines(figure.add_axes((0.385, 0.13, 0.25, 0.76)), result)
    _draw_cost(figure.add_axes((0.7, 0.13, 0.285, 0.76)), result)


def describe(result: Result) -> str:
    """The negatives, the gradient and the loss; of exact gradients also logit_scale and the price."""
    settings, one, cost = result.settings, result.chosen, result.cost
    n = settings.accumulation_steps
    counts = sorted(set((result.seen.sum(1) - 1).tolist()))
    others = f"{PAIRS - 1} other texts"
    fewest, most = counts[0], counts[-1]
    told = (
        f"all {others}"
        if fewest == PAIRS - 1
        else f"{fewest} of {others}"
        if fewest == most
        else f"{fewest} to {most} of {others}"
    )
    name = next(label for label, method in METHODS.items() if method == settings.method)
    start = f"{name[0].upper()}{name[1:]}, N = {n}: an image tells its own text from {told}"
    if one.difference > SAME:
        easier = f"the loss says {one.loss:.2f} instead of {one.large_loss:.2f}, but only because the choice is easier"
        return f"{start}. The encoders' gradient has a cosine of {one.cosine:.2f} with the large batch's, and {easier}."
    price = (
        f"The price: {cost.forwards:.0f} forward passes per sample and {cost.features / KIB:.0f} KiB of features; in return "
        f"{cost.activations / KIB:.0f} KiB of activations instead of {cost.large_activations / KIB:.0f}"
    )
    right = abs(one.scale - 1) < SAME
    scale = "logit_scale's as well" if right else f"but logit_scale's is {one.scale:.2f} times the large batch's"
    return (
        f"{start}. The encoders' gradient is the large batch's, up to {one.difference:.0e} of its length, {scale} (loss "
        f"{one.large_loss:.2f}). {price}."
    )


def _draw_pairs(axes: Axes, result: Result) -> None:
    settings = result.settings
    tidy(axes, "Who is compared with whom", "texts (framed: seen by micro-batch 2)", "images", y_away=12)
    axes.spines[["top", "right"]].set_visible(True)
    shown = result.similarities.where(result.seen, torch.nan).numpy()
    axes.imshow(shown, cmap=SHADES, vmin=-0.6, vmax=1, interpolation="nearest", aspect="auto")
    size = PAIRS // settings.accumulation_steps
    top, bottom = SHOWN * size - 0.5, (SHOWN + 1) * size - 0.5
    columns = result.seen[SHOWN * size].nonzero()
    left, right = float(columns.min()) - 0.5, float(columns.max()) + 0.5
    color = BLUE if result.chosen.difference < SAME else VERMILLION
    axes.plot([left, right, right, left, left], [top, top, bottom, bottom, top], color=color, linewidth=2.2, clip_on=False)
    axes.set(xlim=(-0.5, PAIRS - 0.5), ylim=(PAIRS - 0.5, -0.5), xticks=[], yticks=[])


def _draw_cosines(axes: Axes, result: Result) -> None:
    tidy(axes, "Gradient against the true one", "N (micro-batches of 32/N pairs)", "cosine", y_away=33)
    places, n = range(len(CUTS)), result.settings.accumulation_steps
    exact = result.chosen.difference < SAME
    look: Style = {"color": BLUE, "marker": "o"} if exact else {"color": VERMILLION, "marker": "x", "markeredgewidth": 1.8}
    axes.axhline(1, color=GREEN, linestyle="--", linewidth=1.4)
    axes.plot(places, [one.cosine for one in result.gradients.values()], linewidth=1.2, **look)
    here, cosine = CUTS.index(n), result.chosen.cosine
    axes.plot([here], [cosine], marker="o", markersize=13, markerfacecolor="none", color="black", linestyle="")
    below = max(cosine - 0.03, 0.12)
    axes.text(here - 0.15, below, f"{cosine:.2f}", ha="right", va="top", fontsize=9, color=look["color"], bbox=LABEL)
    axes.text(-0.3, 1.045, "the large batch's direction", fontsize=9, color=GREEN, va="bottom")
    if exact:
        sign, color = ("●", BLUE) if abs(result.chosen.scale - 1) < SAME else ("×", VERMILLION)
        said = f"{sign} logit_scale: {result.chosen.scale:.2f} times the true one"
        axes.text(-0.3, 0.5, said, fontsize=9, color=color)
    axes.set(xlim=(-0.4, len(CUTS) - 0.6), ylim=(0, 1.12), yticks=[0, 0.5, 1])
    axes.set_xticks(places, [str(cut) for cut in CUTS])


def _draw_cost(axes: Axes, result: Result) -> None:
    cost = result.cost
    axes.set_title("What it costs", fontsize=10.5, loc="left", fontweight="bold", y=1.0)
    rows = {
        "activations, one large batch": (cost.large_activations / KIB, GREY),
        "activations, one micro-batch": (cost.activations / KIB, PALE_BLUE),
        "features kept without a graph": (cost.features / KIB, BLUE),
    }
    for place, (name, (value, color)) in enumerate(rows.items()):
        length = 0.72 * value * KIB / cost.large_activations
        axes.barh([place], [length], height=0.36, color=color)
        axes.text(0.01, place - 0.28, name, fontsize=9, va="bottom")
        axes.text(length + 0.02, place, f"{value:.0f} KiB", fontsize=9, va="center")
    passes = round(cost.forwards)
    axes.text(0.01, len(rows) - 0.28, "forward passes per sample", fontsize=9, va="bottom")
    axes.plot(
        [0.03 + 0.07 * k for k in range(passes)], [len(rows)] * passes, linestyle="", marker="o", markersize=8, color=GREEN
    )
    axes.text(0.07 * passes + 0.02, len(rows), str(passes), fontsize=9, va="center")
    axes.set(xlim=(0, 1), ylim=(len(rows) + 0.4, -0.62), xticks=[], yticks=[])
    axes.spines[["top", "right", "bottom"]].set_visible(False)
