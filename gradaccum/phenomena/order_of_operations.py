"""Order of operations: scale, unscale, clip, step and update as a chain, and what its order does to the update."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from gradaccum.drawing import LABEL, Style, tidy
from gradaccum.phenomena import control
from gradaccum.theme import BLUE, GREEN, GREY, VERMILLION

TITLE = "Order of operations"
SIZE = (9.6, 3.9)
STEPS, SAMPLES = 4, 4
LR = 1.0
LOWEST, HIGHEST = 1e-3, 1e6
FRAME = ((-1.3, 2.9), (-1.5, 2.7))
SAME = 0.02
"""A float16 product is rounded by up to 0.05 %; updates that differ by less than 2 % count as the same."""

CHAINS = {
    "clip, unscale, step, update": ("backward",) * 4 + ("clip", "unscale", "step", "update"),
    "unscale, clip, step, update": ("backward",) * 4 + ("unscale", "clip", "step", "update"),
    "unscale, step, clip, update": ("backward",) * 4 + ("unscale", "step", "clip", "update"),
    "clip, step without the scaler": ("backward",) * 4 + ("clip", "plain step"),
    "clip in between, then unscale, step, update": ("backward", "clip") * 4 + ("unscale", "step", "update"),
    "unscale in between, then clip, step, update": ("backward", "unscale") * 4 + ("clip", "step", "update"),
    "the scale grows in between, then as usual": ("backward", "grow") * 3 + ("backward", "unscale", "clip", "step", "update"),
}
"""What happens in a window of four, by what a student can choose."""

RIGHT = "unscale, clip, step, update"


@dataclass(frozen=True)
class Settings:
    """The order, the scale a loss is multiplied by, and the threshold of clipping."""

    chain: str = control("clip, unscale, step, update", "After the backward passes", tuple(CHAINS))
    scale: int = control(256, "Scale", {"1 (off)": 1, "16": 16, "256": 256, "65,536": 65536})
    max_norm: float = control(1.0, "Threshold", {"0.5": 0.5, "1": 1.0, "1,000 (idle)": 1000.0})


PRESETS = {
    "Break": Settings(),
    "Fix": Settings(chain=RIGHT),
    "Hide it": Settings(scale=1),
    "Overflow": Settings(chain=RIGHT, scale=65536),
}


@dataclass(frozen=True)
class Result:
    """One window.

    Attributes:
        operations: the chain, and ``lengths`` of ``.grad`` after each of them; infinite where it holds no numbers.
        update: ``(2,)``, parameters before minus after, over the learning rate.
        due: ``(2,)``, the same for one large batch in float32, clipped; ``gradient``: not clipped.
        scale: the scaler's, afterwards.
    """

    settings: Settings
    operations: tuple[str, ...]
    lengths: list[float]
    update: Tensor
    due: Tensor
    gradient: Tensor
    scale: float

    @property
    def skipped(self) -> bool:
        """Whether the scaler refused to apply the window."""
        return not bool(self.update.any())

    @property
    def ruined(self) -> bool:
        """Whether the parameters are no longer numbers."""
        return not bool(torch.isfinite(self.update).all())

    @property
    def right(self) -> bool:
        return not self.ruined and float((self.update - self.due).norm() / self.due.norm()) < SAME


def compute(settings: Settings) -> Result:
    """Run one window through a real scaler, and its large batch without one."""
    operations = CHAINS[settings.chain]
    w, lengths, scaler = _weights(), [], torch.amp.GradScaler("cpu", init_scale=float(settings.scale), growth_interval=1000)
    optimizer, start = torch.optim.SGD([w], lr=LR), _weights().detach()
    batches = iter(_micro_batches())
    for operation in operations:
        _perform(operation, w, optimizer, scaler, batches, settings.max_norm)
        assert w.grad is not None
        length = float(w.grad.norm())
        lengths.append(length if math.isfinite(length) else math.inf)
    gradient = _large_batch_gradient()
    due = gradient * min(1.0, settings.max_norm / float(gradient.norm()))
    return Result(settings, operations, lengths, (start - w.detach())[0] / LR, due, gradient, scaler.get_scale())


def draw(result: Result, figure: Figure) -> None:
    """How long .grad is after each operation, and the update next to the one that is due."""
    lengths = figure.add_axes((0.075, 0.2, 0.5, 0.72))
    plane = figure.add_axes((0.65, 0.14, 0.34, 0.78))
    _draw_lengths(lengths, result)
    _draw_update(plane, result)


def describe(result: Result) -> str:
    """What the update is, what was due, and why they differ."""
    settings, due = result.settings, float(result.due.norm())
    start = (
        f"{settings.chain[0].upper()}{settings.chain[1:]}, with scale {settings.scale:,} and threshold {settings.max_norm:,g}:"
    )
    if result.ruined:
        return f"{start} a gradient overflowed float16 and nothing checked for it, so the parameters are no longer numbers."
    if result.skipped:
        grown = f", which had grown to {2 * result.scale:,.0f}," if result.scale > settings.scale else ""
        return (
            f"{start} a gradient overflowed float16, so the scaler skips the whole window with all its {STEPS} micro-batches "
            f"and halves its scale{grown} to {result.scale:,.0f}."
        )
    length = float(result.update.norm())
    if result.right:
        why = " Nothing is clipped here." if settings.max_norm > float(result.gradient.norm()) else ""
        if settings.chain == "clip, step without the scaler" and settings.scale > 1:
            why = " Nothing divided by the scale, but clipping hides it: what is too long is cut to the same length."
        return f"{start} the update is {length:.2f} long, as due.{why}"
    angle = math.degrees(math.acos(min(1.0, float(result.update @ result.due) / length / due)))
    turned = f" and points {angle:.0f}° away" if angle > 1 else ""
    return f"{start} the update is {in_words(length)} long where {due:.2f} was due{turned}. {_reason(result)}"


def in_words(length: float) -> str:
    """A length, short at any size."""
    return f"{length:.2f}" if 0.1 <= length < 100 else f"{length:,.0f}" if length >= 100 else f"{length:.1g}"


def _reason(result: Result) -> str:
    scale = f"{result.settings.scale:,}"
    return {
        "clip, unscale, step, update": f"When it is clipped, .grad is still {scale} times too long.",
        "unscale, step, clip, update": "The update has read .grad before it is clipped.",
        "clip, step without the scaler": f"Nothing divided by the scale of {scale}.",
        "clip in between, then unscale, step, update": (
            "Parts of a gradient were cut, so their sum is another gradient"
            + (f", and they were cut while they were {scale} times too long." if result.settings.scale > 1 else ".")
        ),
        "unscale in between, then clip, step, update": "The first micro-batches were divided by the scale again and again.",
        "the scale grows in between, then as usual": "Later micro-batches were multiplied by more, but all were divided alike.",
    }.get(result.settings.chain, "Every number was rounded to float16 on its way.")


def _weights() -> Tensor:
    return torch.tensor([[0.0, 0.0]], requires_grad=True)


def _micro_batches() -> list[tuple[Tensor, Tensor]]:
    """Micro-batches whose gradients point in different directions, as they do."""
    generator = torch.Generator().manual_seed(36)
    x = torch.randn(STEPS * SAMPLES, 2, generator=generator)
    y = x @ torch.tensor([[-0.8], [-0.6]]) + 0.9 * torch.randn(STEPS * SAMPLES, 1, generator=generator)
    return list(zip(x.split(SAMPLES), y.split(SAMPLES), strict=True))


def _large_batch_gradient() -> Tensor:
    w, batches = _weights(), _micro_batches()
    x, y = (torch.cat(parts) for parts in zip(*batches, strict=True))
    torch.nn.functional.mse_loss(x @ w.T, y).backward()
    assert w.grad is not None
    return w.grad[0]


def _perform(
    operation: str,
    w: Tensor,
    optimizer: torch.optim.Optimizer,
    scaler: torch.amp.GradScaler,
    batches: Iterator[tuple[Tensor, Tensor]],
    max_norm: float,
) -> None:
    if operation == "backward":
        x, y = next(batches)
        with torch.autocast("cpu", dtype=torch.float16):
            loss = torch.nn.functional.mse_loss(torch.nn.functional.linear(x, w), y) / STEPS
        scaler.scale(loss).backward()
    elif operation == "unscale":
        if scaler._per_optimizer_states[id(optimizer)]["found_inf_per_device"]:
            scaler.update(scaler.get_scale())  # otherwise the scaler refuses to unscale the same optimizer again
        scaler.unscale_(optimizer)
    elif operation == "clip":
        clip_grad_norm_([w], max_norm)
    elif operation == "grow":
        scaler.update(2 * scaler.get_scale())
    elif operation == "update":
        scaler.update()
    elif operation == "plain step":
        optimizer.step()
    else:
        scaler.step(optimizer)


def _draw_lengths(axes: Axes, result: Result) -> None:
    tidy(axes, "Length of .grad after each operation", "", "length", y_away=46)
    places = range(len(result.operations))
    seen = [min(length, HIGHEST) for length in result.lengths]
    steps = [k for k in places if "step" in result.operations[k]]
    color = BLUE if result.right else VERMILLION
    axes.axhline(float(result.due.norm()), color=GREEN, linestyle="--", linewidth=1.4)
    axes.plot(places, seen, color=color, marker="o", markersize=4, linewidth=1.4)
    axes.plot(steps, [seen[k] for k in steps], linestyle="", marker="D", markersize=9, color=color)
    axes.set_yscale("log")
    axes.set(xlim=(-0.5, len(result.operations) - 0.5), ylim=(LOWEST, 3 * HIGHEST))
    axes.set_xticks(places, result.operations, rotation=90)
    axes.set_yticks([1e-3, 1, 1e3, 1e6], ["0.001", "1", "1,000", "inf"])
    axes.minorticks_off()
    axes.text(0.01, 0.04, "◆ what the update reads", color=color, fontsize=9, transform=axes.transAxes)
    axes.text(0.45, 0.04, "- - due", color=GREEN, fontsize=9, transform=axes.transAxes)


def _draw_update(axes: Axes, result: Result) -> None:
    """Arrows: the gradient, what was due of it, what the update made of it. A tip is marked, since an arrow can be tiny."""
    tidy(axes, "The update", "parameter 1", "parameter 2")
    axes.axhline(0, color=GREY, linewidth=0.6)
    axes.axvline(0, color=GREY, linewidth=0.6)
    arrow: Style = {"angles": "xy", "scale_units": "xy", "scale": 1}
    axes.add_patch(Circle((0, 0), result.settings.max_norm, fill=False, edgecolor=GREY, linestyle=":"))
    axes.quiver([0], [0], *result.gradient[:, None].tolist(), color="#b8b8b8", width=0.01, **arrow)
    axes.quiver([0], [0], *result.due[:, None].tolist(), color=GREEN, width=0.03, alpha=0.5, **arrow)
    color, sign = (BLUE, "●") if result.right else (VERMILLION, "×")
    place = (0.0, 0.0) if result.ruined else tuple(result.update.tolist())
    inside = all(low < value < high for value, (low, high) in zip(place, FRAME, strict=True))
    if not result.ruined:
        axes.quiver([0], [0], *result.update[:, None].tolist(), color=color, width=0.012, zorder=3, **arrow)
    axes.plot(*place, marker="o" if result.right else "x", markersize=8, markeredgewidth=2, color=color, zorder=4)
    said = "not a number" if result.ruined else "none" if result.skipped else "" if inside else "outside"
    axes.set(xlim=FRAME[0], ylim=FRAME[1], xticks=[-1, 0, 1, 2], yticks=[-1, 0, 1, 2])
    axes.set_aspect("equal", adjustable="box")
    text: Style = {"fontsize": 9, "transform": axes.transAxes, "bbox": LABEL}
    axes.text(0.03, 0.93, "➞ gradient, not clipped", color=GREY, **text)
    axes.text(0.03, 0.865, "➞ due", color=GREEN, **text)
    axes.text(0.25, 0.865, f"{sign} made{': ' if said else ''}{said}", color=color, **text)
