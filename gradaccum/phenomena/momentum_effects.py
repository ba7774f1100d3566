"""Momentum effects: an optimizer's memory, with a large batch, with accumulation, and with an update per micro-batch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from gradaccum.drawing import Style, tidy
from gradaccum.phenomena import control
from gradaccum.theme import BLUE, GREEN, GREY, VERMILLION

TITLE = "Momentum effects"
SIZE = (9.6, 3.8)
STEPS, SIZE_OF_ONE, WINDOWS = 4, 4, 20
"""N, B and the number of windows."""

BATCH = STEPS * SIZE_OF_ONE
LR = 0.01
SAME = 1e-9
"""Relative difference of two runs up to which they are the same in float64."""

LOOPS = {
    "accumulation": "accumulate",
    "an update per micro-batch": "every",
    "accumulation without 1/N": "sum",
}


@dataclass(frozen=True)
class Settings:
    """What is compared with the large batch, with which momentum, and what is counted on the x axis."""

    loop: str = control("every", "Compare", LOOPS)
    beta: float = control(0.9, "Momentum β", {"0": 0.0, "0.5": 0.5, "0.9": 0.9})
    axis: str = control("samples", "Count", ("updates", "samples"))


PRESETS = {
    "Break": Settings(),
    "Break another way": Settings(loop="sum"),
    "Fix": Settings(loop="accumulate"),
}


@dataclass(frozen=True)
class Result:
    """Two runs over the same samples, and what each remembers.

    Attributes:
        losses, large_losses: the loss on all samples, at the start and after each update.
        memory, large_memory: the weight of a gradient in the update it belongs to and in those after it, over its weight in
            the first.
        difference: distance between the ends of the two runs, over the distance the large batch went.
    """

    settings: Settings
    losses: Tensor
    large_losses: Tensor
    memory: Tensor
    large_memory: Tensor
    difference: float

    @property
    def per_update(self) -> int:
        """Samples that one update of the run sees."""
        return SIZE_OF_ONE if self.settings.loop == "every" else BATCH


def compute(settings: Settings) -> Result:
    """Train both and let both forget."""
    path, large = train(settings.loop, settings.beta), train("large", settings.beta)
    return Result(
        settings=settings,
        losses=_loss(path),
        large_losses=_loss(large),
        memory=memory(settings.beta, 12 * STEPS if settings.loop == "every" else 12),
        large_memory=memory(settings.beta, 12),
        difference=float((path[-1] - large[-1]).norm() / (large[-1] - large[0]).norm()),
    )


@cache
def train(loop: str, beta: float) -> Tensor:
    """The parameters at the start and after each update of a run over 20 windows of 16 samples."""
    x, y = _data()
    w = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=LR, momentum=beta)
    path = [w.detach().clone()]
    for window_x, window_y in zip(x.chunk(WINDOWS), y.chunk(WINDOWS), strict=True):
        steps = 1 if loop == "large" else STEPS
        for k, (a, b) in enumerate(zip(window_x.chunk(steps), window_y.chunk(steps), strict=True), 1):
            loss = torch.nn.functional.mse_loss(a @ w, b)
            (loss / steps if loop == "accumulate" else loss).backward()
            if loop == "every" or k == steps:
                optimizer.step()
                optimizer.zero_grad()
                path.append(w.detach().clone())
    return torch.stack(path)


@cache
def memory(beta: float, updates: int) -> Tensor:
    """What torch's SGD makes of a gradient of 1 that is followed by zeros: the length of its updates."""
    w = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=1.0, momentum=beta)
    lengths = []
    for k in range(updates):
        before = w.detach().clone()
        w.grad = torch.full_like(w, float(k == 0))
        optimizer.step()
        lengths.append(float((before - w.detach()).abs()))
    return torch.tensor(lengths, dtype=torch.float64)


def draw(result: Result, figure: Figure) -> None:
    """Losses on the left, memories on the right, on the same kind of axis."""
    losses = figure.add_axes((0.065, 0.14, 0.41, 0.77))
    memories = figure.add_axes((0.565, 0.14, 0.415, 0.77))
    _draw_losses(losses, result)
    _draw_memories(memories, result)


def describe(result: Result) -> str:
    """How far apart the runs end and how long each remembers, in what is counted."""
    settings = result.settings
    name = next(label for label, value in LOOPS.items() if value == settings.loop)
    samples = WINDOWS * BATCH
    start = f"Momentum β = {settings.beta:g}, {samples} samples as {WINDOWS} large batches of {BATCH}, against {name}"
    ends = f"final loss {result.losses[-1]:.2g}, and {result.large_losses[-1]:.2g} with the large batch"
    if result.difference < SAME:
        exact = f"up to {result.difference:.0e} of the distance covered" if result.difference else "to the last bit"
        same = f"{start}: they end in the same place, {exact}, and counted in {settings.axis} the memory is the same"
        return f"{same}. The optimizer receives the same gradients, so it cannot tell the two apart."
    if settings.loop == "sum":
        long = f"each of its {len(result.losses) - 1} updates is {STEPS} times as long as it should be"
        said = f"{long}{_climb(result.losses)} ({ends})"
        return f"{start}: {said}. Counted in {settings.axis}, the memory is the large batch's, so it is not at fault."
    fades, large = (_half_life(m) for m in (result.memory, result.large_memory))
    if settings.axis == "samples":
        fades, large = fades * SIZE_OF_ONE, large * BATCH
    counted = "update" if fades == 1 else settings.axis
    faded = "has halved" if result.memory[1] else "is 0"
    remembers = f"A gradient's weight {faded} after {fades} {counted}, and after {large} with the large batch"
    apart = f"the two differ by {result.difference:.0%} of the distance covered"
    return f"{start}: after the same {samples} samples {apart} ({ends}). {remembers}."


def _climb(losses: Tensor) -> str:
    """How far the loss climbs after having fallen, if it does."""
    lowest = losses.cummin(0).values
    at = int((losses - lowest).argmax())
    if losses[at] < 1.2 * lowest[at]:
        return ""
    return f", and the loss climbs from {lowest[at]:.2g} back to {losses[at]:.2g}"


def _half_life(weights: Tensor) -> int:
    """Updates until a gradient's weight is at most half of what it was."""
    return int((weights <= 0.5).nonzero()[0])


@cache
def _data() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(2)
    x = torch.randn(WINDOWS * BATCH, 2, generator=generator, dtype=torch.float64) * torch.tensor([1.3, 0.8])
    noise = 0.5 * torch.randn(len(x), generator=generator, dtype=torch.float64)
    return x, x @ torch.tensor([1.0, -2.0], dtype=torch.float64) + noise


def _loss(path: Tensor) -> Tensor:
    x, y = _data()
    return (path @ x.T - y).square().mean(dim=1)


def _look(result: Result) -> Style:
    same = result.difference < SAME
    return {"color": BLUE, "marker": "o"} if same else {"color": VERMILLION, "marker": "x"}


def _draw_losses(axes: Axes, result: Result) -> None:
    settings = result.settings
    tidy(axes, "Loss on all samples", f"{settings.axis} so far", "", y_away=38)
    each, large_each = (result.per_update, BATCH) if settings.axis == "samples" else (1, 1)
    axes.plot(
        *_points(result.large_losses, large_each),
        color=GREEN,
        linestyle="--",
        marker="s",
        markersize=6,
        markerfacecolor="white",
    )
    axes.plot(*_points(result.losses, each), linewidth=1.1, markersize=4, **_look(result))
    axes.set_yscale("log")
    axes.minorticks_off()
    end = WINDOWS * (BATCH if settings.axis == "samples" else STEPS)
    axes.set(xlim=(-0.015 * end, 1.015 * end), ylim=(0.1, 40))
    axes.set_yticks([0.1, 1, 10], ["0.1", "1", "10"])
    name = next(label for label, value in LOOPS.items() if value == settings.loop)
    text: Style = {"fontsize": 9, "transform": axes.transAxes}
    axes.text(0.4, 0.93, f"□ large batch: {len(result.large_losses) - 1} updates", color=GREEN, **text)
    sign = "●" if result.difference < SAME else "×"
    axes.text(0.4, 0.86, f"{sign} {name}: {len(result.losses) - 1}", color=_look(result)["color"], **text)


def _points(values: Tensor, each: int) -> tuple[Tensor, Tensor]:
    return each * torch.arange(len(values)), values


def _draw_memories(axes: Axes, result: Result) -> None:
    axis = result.settings.axis
    tidy(axes, "Memory: what a gradient still weighs", f"{axis} after it", "weight, first = 1", y_away=38)
    each, large_each = (result.per_update, BATCH) if axis == "samples" else (1, 1)
    axes.axhline(0.5, color=GREY, linestyle=":", linewidth=1)
    axes.plot(
        *_points(result.large_memory, large_each),
        color=GREEN,
        linestyle="--",
        marker="s",
        markersize=6,
        markerfacecolor="white",
    )
    axes.plot(*_points(result.memory, each), linewidth=1.1, markersize=4, **_look(result))
    end = 11 * (BATCH if axis == "samples" else 1)
    axes.set(xlim=(-0.015 * end, 1.015 * end), ylim=(-0.02, 1.05), yticks=[0, 0.5, 1])
