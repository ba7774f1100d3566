"""Token-weighted loss: how much a token counts when micro-batches hold unequal numbers of them."""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from gradaccum.drawing import tidy
from gradaccum.fingerprint import as_fraction, batch_gradient, expected, read
from gradaccum.fingerprint_words import listing
from gradaccum.loops.tokens import TOKEN_LOOPS, as_loop
from gradaccum.phenomena import control
from gradaccum.problems.tokens import TokenProblem, counted, one_large_batch, padded_length
from gradaccum.recording import record
from gradaccum.theme import BLUE, GREEN, GREY, VERMILLION

TITLE = "Token-weighted loss"
SIZE = (9.6, 4.2)
STEPS = 4
SAME = 1e-9
"""Relative difference up to which two float64 numbers are the same."""

LENGTHS = {
    "equally many": ((8,), (4, 4), (2, 2, 4), (3, 5)),
    "a little unequal": ((7,), (4, 4), (2, 3, 4), (3, 5)),
    "very unequal": ((2,), (2, 4), (1, 2, 6), (7, 8)),
    "one nearly empty": ((1,), (3, 6), (2, 3, 5), (4, 8)),
}
"""Tokens of each sequence of each micro-batch; there are as many in every window."""

AVERAGES = {
    "the mean of means": "token-mean-of-means",
    "weighted by sequences": "sequences-for-tokens",
    "over all positions": "padding-counted",
    "over all tokens": "right",
}


@dataclass(frozen=True)
class Settings:
    """How many tokens the four micro-batches of a window hold, and how the loss of the window is averaged."""

    lengths: str = control("very unequal", "Tokens per micro-batch", tuple(LENGTHS))
    average: str = control("token-mean-of-means", "Loss of the window", AVERAGES)


PRESETS = {
    "Break": Settings(),
    "Fix": Settings(average="right"),
    "Hide it": Settings(lengths="equally many"),
}


@dataclass(frozen=True)
class Result:
    """One window.

    Attributes:
        lengths: tokens of each sequence of each micro-batch.
        weights, due: coefficient of each micro-batch in the update, and the one it should have.
        error: distance of the update's gradient from the due one, over the length of the latter.
        loss, right_loss: what the loop reports, and the large batch's, a mean over tokens.
    """

    settings: Settings
    lengths: tuple[tuple[int, ...], ...]
    weights: tuple[float, ...]
    due: tuple[float, ...]
    error: float
    loss: float
    right_loss: float

    @property
    def tokens(self) -> tuple[int, ...]:
        return tuple(counted(sequences, "tokens") for sequences in self.lengths)

    @property
    def worth(self) -> tuple[float, ...]:
        """For each micro-batch how much one of its tokens counts; 1 is due."""
        return tuple(weight / due for weight, due in zip(self.weights, self.due, strict=True))


def compute(settings: Settings) -> Result:
    """Run the loop on the window with frozen parameters and read off the weights; for comparison, one large batch."""
    problem = TokenProblem(seed=8, accumulation_steps=STEPS, width=8, lengths=(LENGTHS[settings.lengths],))
    run = record(as_loop(TOKEN_LOOPS[settings.average]), problem)
    model, (inputs, targets) = problem.build_model(), one_large_batch(problem.batches())
    large = batch_gradient(model, problem.loss_fn, (inputs, targets))
    losses = run.returned[0]
    assert isinstance(losses, list)
    return Result(
        settings=settings,
        lengths=problem.lengths[0],
        weights=tuple(read(run, problem).coefficients[0].tolist()),
        due=tuple(expected(problem).coefficients[0].tolist()),
        error=float((run.gradients[0] - large).norm() / large.norm()),
        loss=losses[0],
        right_loss=problem.loss_fn(model(inputs), targets).item(),
    )


def draw(result: Result, figure: Figure) -> None:
    """The window's tokens, each drawn as large as it counts; next to every micro-batch its weight."""
    tokens = figure.add_axes((0.075, 0.13, 0.4, 0.78))
    weights = figure.add_axes((0.6, 0.13, 0.385, 0.78))
    _draw_tokens(tokens, result)
    _draw_weights(weights, result)


def describe(result: Result) -> str:
    """How unequally tokens count, and what that does to the update and to the loss."""
    name = next(label for label, value in AVERAGES.items() if value == result.settings.average)
    counts, worth, total = result.tokens, result.worth, sum(result.tokens)
    start = f"{name[0].upper()}{name[1:]}, micro-batches of {listing(counts)} tokens:"
    least, most = min(worth), max(worth)
    if most - least > SAME:
        first, last = worth.index(most), worth.index(least)
        return (
            f"{start} a token of micro-batch {first + 1} counts {most / least:.3g} times as much as one of micro-batch "
            f"{last + 1}. The update is {result.error:.0%} off that of one large batch, and the loss is reported as "
            f"{result.loss:.3f} instead of {result.right_loss:.3f}."
        )
    if abs(most - 1) > SAME:
        positions = sum(counted(sequences, "positions") for sequences in result.lengths)
        return (
            f"{start} all tokens count alike, but {most:.2f} times what they should, because {positions} positions are "
            f"counted where {total} hold a token. The update is {result.error:.0%} too short, and the loss is reported as "
            f"{result.loss:.3f} instead of {result.right_loss:.3f}."
        )
    weights = listing(as_fraction(weight) for weight in result.weights)
    return (
        f"{start} each of the {total} tokens counts alike. The micro-batches weigh {weights}; the update is that of one large "
        f"batch, up to {result.error:.0e}, and the loss is {result.loss:.3f}."
    )


GAP, SIDE, SQUEEZE = 0.7, 0.42, 1.25
"""Rows between micro-batches; side of a token that counts as due, in columns; height of a column's width, in rows."""


def _middles(result: Result) -> tuple[list[list[float]], list[float]]:
    """For each micro-batch the places of its sequences, from the top, and its own."""
    rows, y = [], 0.0
    for sequences in result.lengths:
        rows.append([y + k for k in range(len(sequences))])
        y += len(sequences) + GAP
    return rows, [sum(places) / len(places) for places in rows]


def _limits(result: Result) -> tuple[float, float]:
    rows, _ = _middles(result)
    return rows[-1][-1] + 0.8, -0.8


def _draw_tokens(axes: Axes, result: Result) -> None:
    tidy(axes, "The tokens of the window: larger counts more", "position; · is padding", "")
    rows, middles = _middles(result)
    squares, colors, padding = [], [], []
    for sequences, places, worth in zip(result.lengths, rows, result.worth, strict=True):
        half = SIDE * worth**0.5 / 2
        for length, y in zip(sequences, places, strict=True):
            squares += [_square(x, y, half) for x in range(1, length + 1)]
            colors += [_color(worth)] * length
            padding += [(x, y) for x in range(length + 1, padded_length(sequences) + 1)]
    axes.add_collection(PolyCollection(squares, facecolors=colors, edgecolors="none"), autolim=False)
    if padding:
        axes.plot(*zip(*padding, strict=True), linestyle="", marker=".", markersize=3, color=GREY)
    for y, worth in zip(middles, result.worth, strict=True):
        axes.text(8.9, y, f"× {worth:.2f}", va="center", fontsize=10, color=_color(worth), fontweight="bold")
    axes.set(xlim=(0.3, 10.2), ylim=_limits(result), xticks=range(1, 9))
    axes.set_yticks(middles, [f"{k}" for k in range(1, STEPS + 1)])
    axes.set_ylabel("micro-batch", fontsize=9.5)
    axes.tick_params(axis="y", length=0)


def _draw_weights(axes: Axes, result: Result) -> None:
    tidy(axes, "Fingerprint: what each micro-batch weighs", "coefficient in the update", "")
    _, middles = _middles(result)
    colors = [_color(worth) for worth in result.worth]
    axes.barh(middles, result.weights, height=0.5, color=colors)
    axes.barh(middles, result.due, height=0.9, fill=False, edgecolor=GREEN, linestyle="--", linewidth=1.4)
    for y, weight, due, color in zip(middles, result.weights, result.due, colors, strict=True):
        said = _in_cell(weight) if abs(weight - due) < SAME else f"{_in_cell(weight)}, due {_in_cell(due)}"
        axes.text(max(weight, due) + 0.012, y, said, va="center", fontsize=9.5, color=color)
    axes.text(0.72, -0.6, "dashed: what is due", color=GREEN, fontsize=9, ha="right", va="center")
    axes.set(xlim=(0, 0.72), ylim=_limits(result), xticks=[0, 0.25, 0.5])
    axes.set_yticks(middles, [f"{count} tokens" if count > 1 else "1 token" for count in result.tokens])
    axes.tick_params(axis="y", length=0)


def _in_cell(weight: float) -> str:
    text = as_fraction(weight)
    return f"{weight:.2f}" if "." in text else text


def _color(worth: float) -> str:
    return BLUE if abs(worth - 1) < SAME else VERMILLION


def _square(x: float, y: float, half: float) -> list[tuple[float, float]]:
    high = half * SQUEEZE
    return [(x - half, y - high), (x + half, y - high), (x + half, y + high), (x - half, y + high)]
