"""What is said of a mistake in a watched run: with its numbers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from torch import Tensor

from gradaccum.diagnosis.catalogue import CATALOGUE, Mistake
from gradaccum.fingerprint import as_fraction
from gradaccum.fingerprint_words import listing
from gradaccum.watching.matrices import Matrix, same, usual_width
from gradaccum.watching.streams import Column

SENTENCES = {
    "no-scale": "{subject} is never divided: a micro-batch of a window of {width} weighs {weight} where {share} is due.",
    "mean-of-means": "{subject}: micro-batches weigh alike in a window, {weight} each, whatever they hold. By {what}, {dues} "
    "were due.",
    "tail-dropped": "{subject}: {count} at the end of an epoch reach no update.",
    "tail-scale": "{subject}: a leftover window of {short} is divided by {usual}, so its micro-batches weigh too little.",
    "step-every": "{subject}: there is an update after every micro-batch.",
    "zero-every": "{subject}: of each window only the last micro-batch is in the update.",
    "never-zero": "{subject}: gradients are never cleared, so an update also holds the micro-batches of earlier ones.",
    "double-scale": "{subject} is divided twice: rows add up to {total} where 1 is due.",
}
"""How a mistake is said of a trainer: with its numbers. Others keep the catalogue's words."""


def said_of(slug: str, matrix: Matrix, rows: Tensor, subject: str) -> Mistake:
    """A mistake of the catalogue, said of a matrix with its numbers."""
    full = [u for u, window in enumerate(matrix.windows) if window]
    first = next((u for u in full if not same(rows[u : u + 1], matrix.due[u : u + 1])), full[0] if full else 0)
    window = matrix.windows[first] if matrix.windows else ()
    what = _counted_by(matrix)
    name = "token-mean-of-means" if slug == "mean-of-means" and what == "their tokens" else slug
    short = next((len(w) for w in matrix.windows if w and len(w) < usual_width(matrix)), len(window))
    numbers = {
        "subject": subject,
        "width": len(window) or usual_width(matrix),
        "weight": number(float(rows[first, window[-1]])) if window else "0",
        "share": number(float(matrix.due[first, window[-1]])) if window else "0",
        "what": what,
        "dues": listing(number(float(matrix.due[first, k])) for k in window),
        "total": number(float(rows[first].sum())) if len(rows) else "0",
        "short": short,
        "usual": usual_width(matrix),
        "count": micro_batches(sum(not bool((rows[:, k] != 0).any()) for k in range(len(matrix.columns)))),
    }
    known = CATALOGUE[slug]
    message = SENTENCES[slug].format(**numbers) if slug in SENTENCES else f"{subject}: {_of_a_trainer(known.message)}"
    return Mistake(name, message, known.hint)


def _counted_by(matrix: Matrix) -> str:
    """What the losses of a matrix count, in words: samples if as many went through the model."""
    forwarded = [
        now.sampled - before.sampled for before, now in itertools.pairwise([Column({}, None, 0, False), *matrix.columns])
    ]
    if [column.count for column in matrix.columns] == forwarded:
        return "their samples"
    return "their tokens" if matrix.loss in ("cross_entropy", "nll_loss") else "what they count"


def _of_a_trainer(message: str) -> str:
    return message.replace("Your loop", "the loop").replace("Your updates", "the updates").replace("your loop", "the loop")


def micro_batches(count: int) -> str:
    """A number of micro-batches in words."""
    return "one micro-batch" if count == 1 else f"{count} micro-batches"


def empty_update(subject: str, rows: Sequence[int] = ()) -> Mistake:
    """These updates, or all of them, hold nothing."""
    which = f"Update {listing(u + 1 for u in rows)}" if rows else "Every update"
    message = f"{which} holds nothing of {subject}: .grad was empty or cleared when the optimizer updated."
    return Mistake("empty-update", message, "Is .grad cleared between backward and the update?")


def wrong_width(matrix: Matrix, steps: int, subject: str) -> Mistake:
    """Windows are not as wide as was meant."""
    widths = [len(window) for window in matrix.windows]
    message = (
        f"{subject}: the micro-batches of an update are weighted right, but updates come after {min(widths)} to {max(widths)} "
        f"of them where {steps} were meant."
    )
    return Mistake("window-width", message, "Leftovers at the end of an epoch aside, when does the trainer decide to update?")


def still_scaled(subject: str, factor: float) -> Mistake:
    """A loss scaler's factor is still in the gradients."""
    message = f"{subject} is multiplied by {factor:g}, a loss scaler's factor, and still is when the optimizer updates."
    return Mistake("still-scaled", message, "Let the scaler make the step: scaler.step(optimizer), or unscale first.")


def wrong_total(matrix: Matrix, sums: Sequence[float], subject: str) -> Mistake:
    """Rows are in proportion to what is due, but do not add up to 1."""
    u = max(range(len(sums)), key=lambda k: abs(sums[k] - 1))
    due = sum(matrix.columns[k].count or 1.0 for k in matrix.windows[u])
    message = (
        f"{subject} is divided by a wrong total: what it counts weighs 1/{_whole(due / sums[u])} in update {u + 1}, "
        f"where the window has {_whole(due)}; the row adds up to {sums[u]:.3g}."
    )
    return Mistake("wrong-total", message, "Count what the loss averages over, in the window that the update is made of.")


def _whole(value: float) -> str:
    return f"{value:.0f}" if abs(value - round(value)) < 0.01 else f"{value:.4g}"


def difference(matrix: Matrix, rows: Tensor) -> str:
    """Where found differs most from due, as a sentence."""
    u = int((rows - matrix.due).abs().amax(1).argmax())
    k = int((rows[u] - matrix.due[u]).abs().argmax())
    weight, due, count = float(rows[u, k]), float(matrix.due[u, k]), matrix.columns[k].count
    said = f"in update {u + 1} micro-batch {k + 1} weighs {number(weight)} where {number(due)} is due"
    if count and weight * due > 0 and abs(count / weight - round(count / weight)) < 0.01:
        said += f": what it counts is divided by {_whole(count / weight)}, and the window has {_whole(count / due)}"
    return f"{said}."


def number(value: float) -> str:
    """A coefficient: a simple fraction if it is one up to rounding, which is coarser in half precision."""
    return next((said for said in map(as_fraction, (value, round(value, 4))) if "/" in said), f"{value:.3g}")


def constant(subject: str, factor: float, width: int) -> str:
    """What is said of rows that are a multiple of what is due."""
    said = f"{subject} is multiplied by a constant, {number(factor)}"
    if width == 1:
        return f"{said}."
    return f"{said}; or by {number(factor / width)}, and is not divided by the {width} micro-batches of a window."


def world_twice(subject: str, ranks: int) -> Mistake:
    """The number of ranks divides twice."""
    message = (
        f"{subject} is divided by the {ranks} ranks, and averaging gradients divides by them again: rows add up to 1/{ranks} "
        "of what is due."
    )
    return Mistake(
        "world-twice", message, "DistributedDataParallel averages over ranks. What is left for the loss to divide by?"
    )


def left_alone(matrix: Matrix, subject: str) -> Mistake:
    """Updates hold gradients that were not averaged over ranks."""
    first = next(u for u, alone in enumerate(matrix.alone) if alone)
    whole = [u + 1 for u, alone in enumerate(matrix.alone) if alone and {*alone} >= {*matrix.windows[u]}]
    if whole:
        message = f"{subject}: in update {listing(whole)} gradients were not averaged over ranks, so each rank used its own."
        return Mistake(
            "windows-not-synced",
            message,
            "Does the last backward of every window average over ranks?",
        )
    which = listing(k + 1 for k in matrix.alone[first])
    message = (
        f"{subject}: update {matrix.updates[first] + 1} holds micro-batch {which} of its own rank alone: gradients had been "
        "averaged over ranks before, and the ranks drift apart."
    )
    return Mistake("sync-wrong-one", message, "Averaging takes what is in .grad by then: which backward should do it?")


def ranks_alike(subject: str, dues: Sequence[float]) -> Mistake:
    """Each rank divides by what it counts itself."""
    message = (
        f"{subject}: ranks weigh alike, 1/{len(dues)} each, whatever they hold: each divides by what it counts itself. By what "
        f"they count, {listing(map(number, dues))} were due."
    )
    return Mistake("local-tokens-only", message, "How does a rank learn what all ranks together count in a window?")


def rank_sum(subject: str, ranks: int) -> Mistake:
    """Gradients are added up over ranks."""
    message = f"{subject} is added up over the {ranks} ranks: rows add up to {ranks} where 1 is due."
    return Mistake("rank-sum", message, "Is the mean over ranks meant, or is the loss to be divided by what all of them count?")
