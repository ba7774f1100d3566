"""Names for what a loop over tokens does instead: what it counts in place of tokens, and its other mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.optim import Optimizer

from autograder.contract.observation import Observation
from autograder.diagnosing.loop_diagnosis import Diagnosis, diagnose
from autograder.judging.reported_losses import loss_mistakes, same_numbers
from autograder.judging.token_loops import (
    losses_of_windows,
    movements_of,
    moves_like,
    window_tokens,
)
from autograder.observing.token_loops import TokenLoopTrial, observe_tokens
from gradaccum.loops import windows
from gradaccum.loops.tokens import TOKEN_LOOPS
from gradaccum.problems import MicroBatch
from gradaccum.problems.tokens import IGNORE_INDEX, PADDING_TOO, TokenProblem

OTHER_COUNTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("sequences-for-tokens", {"weigh_by": "sequences"}),
    ("sequences-for-tokens", {"weigh_by": "sequences", "mean_over": "sequences"}),
    ("padding-counted", {"weigh_by": "positions"}),
    ("padding-counted", {"weigh_by": "positions", "mean_over": "positions"}),
    ("ignore-index-fixed", {"weigh_by": "positions", "mean_over": PADDING_TOO}),
    ("ignore-index-fixed", {"mean_over": PADDING_TOO}),
)
"""What a loop may count instead of tokens: slugs, and how to change a problem so that such a loop is right on it."""


def ignores_only_usual(trial: TokenLoopTrial, seen: Observation, counts_padding: bool) -> bool:
    """Whether a frozen loop ignores -100 whatever it was told: in its losses, in its count of tokens, or in both.

    Args:
        trial: with another ignore index than the usual one.
        seen: what the loop did.
        counts_padding: whether it counts padding with the usual ignore index as well.
    """
    named = "ignore-index-fixed" in diagnose_tokens(trial, seen).slugs
    if named or counts_padding:
        return named
    too_many = _per_window(replace(trial.problem, weigh_by="positions")) / _per_window(trial.problem)
    only_in_count = movements_of(trial) / too_many
    only_in_losses = movements_of(trial, "ignore-index-fixed") * too_many
    return any(moves_like(trial, seen, other) for other in (only_in_count, only_in_losses))


def leaves_out_zeros(trial: TokenLoopTrial, seen: Observation) -> bool:
    """Whether a frozen loop ignores targets that are 0, too: in its losses, in its count of tokens, or in both.

    Every sequence of the trial begins with the target 0.
    """

    def loop(
        model: nn.Module, optimizer: Optimizer, micro_batches: Iterable[MicroBatch], steps: int, ignore_index: int
    ) -> object:
        masked = ((x, targets.masked_fill(targets == 0, ignore_index)) for x, targets in micro_batches)
        return TOKEN_LOOPS["right"](model, optimizer, masked, steps, ignore_index)

    others = tuple(tuple(tuple(max(0, n - 1) for n in batch) for batch in epoch) for epoch in trial.problem.lengths)
    fewer = _per_window(replace(trial.problem, lengths=others)) / _per_window(trial.problem)
    in_both = observe_tokens(loop, trial).tensors["movements"]
    return any(moves_like(trial, seen, other) for other in (in_both, in_both * fewer, movements_of(trial) / fewer))


def loss_slugs(trial: TokenLoopTrial, seen: Observation) -> tuple[str, ...]:
    """The mistakes that explain what a loop reported instead of each window's mean over its tokens."""
    returned = seen.facts["losses"]
    if any(row is None for row in returned):
        return ()
    if slugs := loss_mistakes(trial.problem, returned):
        return slugs
    for slug, problem in _other_problems(trial.problem):
        if same_numbers(returned, losses_of_windows(problem)):
            return (slug,)
    return ()


def diagnose_tokens(trial: TokenLoopTrial, seen: Observation) -> Diagnosis:
    """What a loop computes instead: what it counts, and what else is wrong. Of several readings the simplest is taken."""
    plain = diagnose(trial, seen)
    plain = replace(plain, remark=plain.remark.replace("samples", "tokens"))
    if seen.failure or (len(plain.slugs) <= 1 and not plain.remark):
        return plain
    readings = [plain]
    for slug, problem in _other_problems(trial.problem):
        other = diagnose(replace(trial, problem=problem), seen)
        if "lr-scaled-too" in other.slugs:
            continue  # with another count and another rate a great deal can be explained
        readings.append(replace(plain, slugs=(slug, *other.slugs), remark=other.remark))
    if explained := [reading for reading in readings if not reading.remark]:
        return min(explained, key=lambda reading: len(reading.slugs))
    if said := shares_in_words(trial, plain):
        return replace(plain, remark=said)
    first_match = next((slug for slug, movements in _examples(trial) if moves_like(trial, seen, movements)), None)
    if first_match:
        return replace(plain, slugs=(first_match,), remark="")
    described = (words for words, loss in LOSSES_IN_WORDS.items() if moves_like(trial, seen, _moved_by(loss, trial)))
    return replace(plain, remark=next(described, plain.remark))


WindowLoss = Callable[[Tensor, Tensor, Sequence[Tensor], int], Tensor]
"""``loss(logits, targets, targets of the window, ignore_index)``: what a micro-batch adds to its window's loss."""


def _by_sequence(logits: Tensor, targets: Tensor, window: Sequence[Tensor], ignore_index: int) -> Tensor:
    """The mean of the means over each sequence's tokens, of all sequences that have some."""
    each = cross_entropy(logits.transpose(1, 2), targets, ignore_index=ignore_index, reduction="none").sum(1)
    sequences = sum(int((some != ignore_index).any(1).sum()) for some in window)
    return (each / (targets != ignore_index).sum(1).clamp(min=1)).sum() / max(1, sequences)


def _mixed(logits: Tensor, targets: Tensor, window: Sequence[Tensor], ignore_index: int) -> Tensor:
    """The mean over tokens, after the vocabulary has been put before the positions and the shape been forced."""
    flat = logits.transpose(1, 2).reshape(-1, logits.shape[-1])
    tokens = sum(int((some != ignore_index).sum()) for some in window)
    return cross_entropy(flat, targets.flatten(), ignore_index=ignore_index, reduction="sum") / max(1, tokens)


LOSSES_IN_WORDS: dict[str, WindowLoss] = {
    "You average over the tokens of each sequence first and then over sequences, so a token of a short sequence counts more.": (
        _by_sequence
    ),
    "You transpose the logits before you reshape them, so numbers of different positions end up in one row.": _mixed,
}
"""Rarer losses, by what makes them."""


def _moved_by(loss: WindowLoss, trial: TokenLoopTrial) -> Tensor:
    """``(U, P)``, the movements of a loop with such a loss on a frozen trial."""

    def loop(
        model: nn.Module,
        optimizer: Optimizer,
        micro_batches: Iterable[MicroBatch],
        steps: int,
        ignore_index: int = IGNORE_INDEX,
    ) -> None:
        for window in windows(micro_batches, steps):
            optimizer.zero_grad()
            for x, targets in window:
                loss(model(x), targets, [some for _, some in window], ignore_index).backward()
            optimizer.step()

    return observe_tokens(loop, trial).tensors["movements"]


Shares = Callable[[Sequence[float], Sequence[Sequence[float]], int], Sequence[float]]
"""From the tokens of the micro-batches of a window, those of all windows of its epoch, and N: the shares of the means."""

SHARES_IN_WORDS: dict[str, tuple[Shares, ...]] = {
    "Each micro-batch counts as if divided by the tokens of its window so far, not by those of the whole window.": (
        lambda window, _, n: [one / so_far for one, so_far in zip(window, accumulate(window), strict=True)],
    ),
    "Your windows count as if each of their micro-batches had as many tokens as the last one.": (
        lambda window, epoch, n: [one / (window[-1] * len(window)) for one in window],
        lambda window, epoch, n: [one / (window[-1] * n) for one in window],
    ),
    "Your windows count as if each of their micro-batches had as many tokens as the first one.": (
        lambda window, epoch, n: [one / (window[0] * len(window)) for one in window],
        lambda window, epoch, n: [one / (window[0] * n) for one in window],
    ),
    "Your windows count as if each of them had as many tokens as the windows of its epoch have on average.": (
        lambda window, epoch, n: [one * len(epoch) / sum(map(sum, epoch)) for one in window],
    ),
}
"""Rarer ways to weight tokens, by what they do."""


def shares_in_words(trial: TokenLoopTrial, plain: Diagnosis) -> str:
    """How micro-batches are weighted in all updates, if windows are as they should be; empty if nothing known fits."""
    found, due = plain.found, plain.expected
    if found is None or not found.linear or found.coefficients.shape != due.coefficients.shape:
        return ""
    problem = trial.problem
    epochs = [list(windows([float(size) for size in sizes], problem.accumulation_steps)) for sizes in problem.epochs]
    if any(size == 0 for epoch in epochs for window in epoch for size in window):
        return ""
    for words, several in SHARES_IN_WORDS.items():
        for shares in several:
            rows = [torch.tensor(shares(window, epoch, problem.accumulation_steps)) for epoch in epochs for window in epoch]
            played = replace(due, coefficients=torch.block_diag(*rows).to(due.coefficients))
            if found.same_as(played):
                return words
    return ""


def _examples(trial: TokenLoopTrial) -> Iterator[tuple[str, Tensor]]:
    """Slugs and movements ``(U, P)`` of loops that are recognised by comparison with an example."""
    own = _per_window(trial.problem)
    yield "tokens-not-reset", movements_of(trial) * own / _per_window(trial.problem, so_far=True)
    yield "tokens-not-reset", movements_of(trial) * own / own.cumsum(0)
    shifted = movements_of(trial, "targets-shifted")
    fewer = tuple(tuple(tuple(max(0, n - 1) for n in batch) for batch in epoch) for epoch in trial.problem.lengths)
    yield "targets-shifted", shifted
    share = _per_window(replace(trial.problem, lengths=fewer)) / own
    yield "targets-shifted", shifted * share
    yield "targets-shifted", movements_of(trial) / share


def _per_window(problem: TokenProblem, so_far: bool = False) -> Tensor:
    """``(U, 1)``, how much of what the problem weights by each window holds, or it and the earlier ones of its epoch."""
    counts = [torch.tensor(epoch) for epoch in window_tokens(problem)]
    return torch.cat([count.cumsum(0) if so_far else count for count in counts])[:, None]


def _other_problems(problem: TokenProblem) -> list[tuple[str, TokenProblem]]:
    padding_is_a_token = problem.ignore_index >= 0
    others = OTHER_COUNTS if padding_is_a_token else [other for other in OTHER_COUNTS if PADDING_TOO not in other[1].values()]
    return [(slug, replace(problem, **changes)) for slug, changes in others]
