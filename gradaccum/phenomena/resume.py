"""Resume: a run is killed and taken up again from its last checkpoint; does it go on as if nothing had happened?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from gradaccum.drawing import LABEL, Style, tidy
from gradaccum.phenomena import control
from gradaccum.resuming import Run, RunProblem, put_state, state_of
from gradaccum.theme import BLUE, GREEN, GREY, VERMILLION

TITLE = "Killed and resumed"
SIZE = (9.6, 3.9)
PROBLEM = RunProblem(seed=3, accumulation_steps=4, micro_batches=10, epochs=2)
LOST = {
    "nothing": "nothing",
    "the optimizer state": "optimizer",
    "the schedule": "scheduler",
    "the scale of the gradients": "scaler",
    "the order of the epoch": "order",
    "the generator that shuffles": "shuffler",
    "torch's random numbers": "rng",
}


@dataclass(frozen=True)
class Settings:
    """When the run is saved, when it is killed, and what the checkpoint lacks."""

    every: str = control("micro-batch", "Saved after every", ("update", "micro-batch"))
    kill: int = control(6, "Killed after micro-batch", range(1, PROBLEM.total))
    lacks: str = control("nothing", "Checkpoint lacks", LOST)


PRESETS = {
    "Break": Settings(),
    "Forget the optimizer": Settings(every="update", lacks="optimizer"),
    "Fix": Settings(every="update"),
}


@dataclass(frozen=True)
class Result:
    """A run that was never killed, and the rest of one that was.

    Attributes:
        losses: ``(20,)``, of each micro-batch of the uninterrupted run.
        place: after how many micro-batches the checkpoint was made.
        again: losses of the resumed run, from there to the end.
        distances: of its parameters from the uninterrupted run's after the same micro-batch, over the way that run goes.
        skipped: whether the window of the kill overflows, so that there is no update from which anything could be missing.
    """

    settings: Settings
    losses: Tensor
    place: int
    again: Tensor
    distances: Tensor
    skipped: bool

    @property
    def identical(self) -> bool:
        """Whether losses and parameters are the same to the last bit."""
        return torch.equal(self.again, self.losses[self.place :]) and not self.distances.any()

    @property
    def lost(self) -> int:
        """Micro-batches whose gradients waited in ``.grad`` when the checkpoint was made."""
        return self.place % PROBLEM.micro_batches % PROBLEM.accumulation_steps


def compute(settings: Settings) -> Result:
    """Kill, load, go on."""
    losses, path = _uninterrupted()
    whole = [k for k in range(settings.kill + 1) if settings.every == "micro-batch" or not PROBLEM.is_open(k)]
    with torch.random.fork_rng(devices=[]):
        run = PROBLEM.start()
        for _ in range(whole[-1]):
            run.train_micro_batch()
        state, run = state_of(run), PROBLEM.start()
        put_state(run, state, forget=(settings.lacks,))
        again, resumed = _train(run)
    distances = (resumed - path[whole[-1] :]).norm(dim=1) / (path[-1] - path[0]).norm()
    end = next(k for k in PROBLEM.boundaries() if k >= settings.kill)
    return Result(settings, losses, whole[-1], again, distances, skipped=torch.equal(path[end], path[settings.kill]))


@cache
def _uninterrupted() -> tuple[Tensor, Tensor]:
    with torch.random.fork_rng(devices=[]):
        return _train(PROBLEM.start())


def _train(run: Run) -> tuple[Tensor, Tensor]:
    """Losses up to the end, and the parameters before the first and after each of these micro-batches."""
    losses, path = [], [_parameters(run)]
    while run.position < PROBLEM.total:
        losses.append(run.train_micro_batch())
        path.append(_parameters(run))
    return torch.tensor(losses, dtype=torch.float64), torch.stack(path)


def _parameters(run: Run) -> Tensor:
    return torch.cat([p.detach().reshape(-1).double() for p in run.model.parameters()])


def draw(result: Result, figure: Figure) -> None:
    """Losses on the left, the distance from the uninterrupted run on the right."""
    losses, distances = figure.add_axes((0.06, 0.14, 0.5, 0.76)), figure.add_axes((0.64, 0.14, 0.345, 0.76))
    tidy(losses, "Loss of each micro-batch (in thousands)", "micro-batch, dotted: updates", "")
    tidy(distances, "How far from the uninterrupted run", "micro-batch", "distance / distance covered", y_away=42)
    _draw_losses(losses, result)
    _draw_distances(distances, result)
    for axes in (losses, distances):
        axes.set(xlim=(0, PROBLEM.total + 0.5), xticks=range(0, PROBLEM.total + 1, 4))


def describe(result: Result) -> str:
    """From where it goes on, what it has lost, and where it ends."""
    settings, total = result.settings, PROBLEM.total
    killed = f"Killed after micro-batch {settings.kill} of {total} (N = {PROBLEM.accumulation_steps})"
    if result.place:
        start = f"{killed}, the run continues from a checkpoint made after {result.place}"
    else:
        start = f"{killed}, before any checkpoint was made, the run begins again"
    lacks = next(label for label, value in LOST.items() if value == settings.lacks)
    without = f", without {lacks}" if result.place and settings.lacks != "nothing" else ""
    grads = f" What waited in .grad, {result.lost} of the window's gradients, is in no state_dict." if result.lost else ""
    if result.identical:
        repeated = settings.kill - result.place
        several = f"{repeated} micro-batches are" if repeated > 1 else "1 micro-batch is"
        again = f"{several} computed again" if repeated else "nothing is computed twice"
        losses = f"all {total - result.place} losses" if result.place < total - 1 else "the last loss"
        luck = " That is luck: this window's gradients overflow, so there is no update." if result.lost else ""
        return f"{start}{without}; {again}, and {losses} and the parameters are the same to the last bit.{luck}"
    off = f"its end is off by {float(result.distances[-1]):.0%} of the distance that the uninterrupted run covers"
    if not result.distances[-1]:
        others = int((result.again != result.losses[result.place :]).sum())
        differ = "one loss differs" if others == 1 else f"{others} of the losses differ"
        off = f"this time the parameters end where they should, but {differ}"
    return f"{start}{without}: {off}.{grads}"


def _look(result: Result) -> Style:
    return {"color": BLUE, "marker": "o"} if result.identical else {"color": VERMILLION, "marker": "x"}


def _draw_losses(axes: Axes, result: Result) -> None:
    for k in PROBLEM.boundaries()[1:]:
        axes.axvline(k, color=GREY, linestyle=":", linewidth=0.8)
    axes.plot(range(1, PROBLEM.total + 1), result.losses / 1000, color=GREEN, linestyle="--", linewidth=2.2)
    axes.plot(range(result.place + 1, PROBLEM.total + 1), result.again / 1000, linewidth=1.1, markersize=5, **_look(result))
    axes.axvline(result.settings.kill, color="black", linewidth=1.5)
    axes.set(ylim=(0, 18), yticks=[0, 5, 10, 15])
    left = result.settings.kill > PROBLEM.total / 2
    text: Style = {"fontsize": 9, "bbox": LABEL}
    axes.text(result.settings.kill + (-0.3 if left else 0.3), 17, "killed", ha="right" if left else "left", **text)
    axes.text(20.3, 15.4, "– – never killed", color=GREEN, ha="right", **text)
    sign = "● resumed" if result.identical else "× resumed"
    axes.text(20.3, 14.2, sign, color=_look(result)["color"], ha="right", **text)


MOST = 1.4
"""The largest relative distance that is drawn; a run without the data's generator ends 1.3 off, more than any other."""


def _draw_distances(axes: Axes, result: Result) -> None:
    axes.axhline(0, color=GREEN, linestyle="--", linewidth=2.2)
    axes.plot(range(result.place, PROBLEM.total + 1), result.distances, linewidth=1.1, markersize=5, **_look(result))
    axes.axvline(result.settings.kill, color="black", linewidth=1.5)
    axes.set(ylim=(-0.05, MOST), yticks=[0, 0.5, 1])
    if result.identical:
        axes.text(20.3, 0.1, "0, to the last bit", color=BLUE, fontsize=10, ha="right", fontweight="bold", bbox=LABEL)
