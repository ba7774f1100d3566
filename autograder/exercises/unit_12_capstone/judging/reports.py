"""What mistakes explain the numbers that a capstone run reports: its history."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import torch
from torch import Tensor, nn
from torch.nn.utils import vector_to_parameters

from autograder.contract.observation import Observation
from autograder.exercises.unit_12_capstone.judging.references import history_due, history_of
from autograder.exercises.unit_12_capstone.observing import RunTrial, WindowTrial
from gradaccum.capstone.config import Config
from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import tokens_in
from gradaccum.capstone.variants import MISTAKES, Window, weigh
from gradaccum.diagnosis.search import each_alone
from gradaccum.loops import windows

NUMBERS = 1e-5
"""Relative difference up to which two reported numbers are the same; wrong ones differ by more than 1e-3."""

History = Mapping[str, Sequence[float]]
Trials = Mapping[str, WindowTrial | RunTrial]
Slugs = tuple[str, ...]


def same(found: Sequence[float], due: Sequence[float], tolerance: float = NUMBERS) -> bool:
    """Whether two lists of numbers agree up to rounding."""
    return len(found) == len(due) and all(
        math.isfinite(f) and math.isclose(f, d, rel_tol=tolerance, abs_tol=0.0) for f, d in zip(found, due, strict=True)
    )


def report_mistakes(
    trials: Trials,
    observations: Mapping[str, Observation],
    due: Mapping[str, Observation],
    right: set[str],
    known: Sequence[str] = (),
) -> tuple[str, ...]:
    """The mistakes in what is reported, list by list, as slugs.

    What is said of tokens and losses explains all trials where they are wrong. A loss may follow from wrong weights, so if
    losses are wrong where weights are right, only such trials count.

    Args:
        trials: by name.
        observations: what was seen of the student's function on each.
        due: what is seen of a right one.
        right: the trials on which the weights are right.
        known: mistakes in the weights; a loss that follows from one of them needs no name.
    """
    slugs: list[str] = []
    tokens: list[list[Slugs]] = []
    losses: dict[bool, list[list[Slugs]]] = {True: [], False: []}
    for name in [name for name in ("uneven", "even", "clip", "schedule") if name in trials]:
        found, wanted, config = history_of(observations[name]), history_due(due[name]), trials[name].config
        if found is None or len(found["losses"]) != len(wanted["losses"]):
            continue
        if not same(found["tokens"], wanted["tokens"]):
            tokens.append(_explaining(_tokens(config), found["tokens"][:1]))
        if not same(found["losses"][:1], wanted["losses"][:1]):
            after = due[name].tensors["rows"][0] if name in right else None
            losses[name in right].append(_explaining(_losses(config, known, after), found["losses"][:1]))
        if name in right and not same(found["norms"], wanted["norms"]) and _reordered(found, wanted):
            slugs += ["entries-in-another-order"]
            continue
        clipped = [min(norm, config.max_norm) for norm in wanted["norms"]]
        if name in right and not same(clipped, wanted["norms"], 1e-3) and same(found["norms"], clipped, 1e-4):
            slugs += ["norm-after-clip"]
        if name in right and not same(found["rates"], wanted["rates"]):
            ahead = [config.lr * config.rate(k + 1) for k in range(len(found["rates"]))]
            slugs += ["rate-of-next"] if same(found["rates"], ahead) else []
    slugs = [*_first(tokens), *_first(losses[True] or losses[False]), *slugs]
    return tuple(slug for slug in dict.fromkeys(slugs) if slug not in known)


def _reordered(found: History, wanted: History) -> bool:
    """Whether the numbers of every update are right, in another order."""
    both = ([sorted(update) for update in zip(*lists.values(), strict=True)] for lists in (found, wanted))
    return all(same(one, other) for one, other in zip(*both, strict=True))


def _explaining(candidates: Iterator[tuple[Slugs, float]], found: Sequence[float]) -> list[Slugs]:
    return [slugs for slugs, value in candidates if same(found, [value])]


def _first(explaining: Sequence[list[Slugs]]) -> Slugs:
    """The first that explains every trial."""
    return next((slugs for slugs in chain(*explaining) if all(slugs in others for others in explaining)), ())


def _tokens(config: Config) -> Iterator[tuple[Slugs, float]]:
    window = _first_window(config)
    yield ("tokens-with-padding",), sum(y.numel() for _, y in window)
    yield ("tokens-of-last",), tokens_in(window[-1][1])
    yield ("tokens-with-padding", "tokens-of-last"), window[-1][1].numel()


def _losses(config: Config, known: Sequence[str], after: Tensor | None) -> Iterator[tuple[Slugs, float]]:
    """What may be reported for the first window, at the weights before training, or at those after the first update."""
    window, model = _first_window(config), config.build_model()
    tokens, n = [tokens_in(y) for _, y in window], len(window)
    losses, mean = _losses_of(model, window)
    for variant, slugs in each_alone(MISTAKES, (slug for slug in known if slug in MISTAKES)):
        yield slugs, sum(w * loss for w, loss in zip(weigh(variant.weight, window, n), losses, strict=True))
    yield ("loss-of-last",), losses[-1]
    yield ("loss-mean-of-means",), sum(losses) / n
    yield ("loss-scaled-in-log",), mean / n
    yield ("loss-share-of-last",), losses[-1] * tokens[-1] / sum(tokens)
    yield ("loss-summed",), sum(losses)
    yield ("loss-summed",), mean * sum(tokens)
    if after is not None:
        vector_to_parameters(after.to(config.device), model.parameters())
        yield ("loss-after-update",), _losses_of(model, window)[1]


@torch.no_grad()
def _losses_of(model: nn.Module, window: Window) -> tuple[list[float], float]:
    """The losses of the micro-batches, and their mean over the tokens of the window."""
    losses, tokens = [token_loss(model(x), y).item() for x, y in window], [tokens_in(y) for _, y in window]
    return losses, sum(loss * t for loss, t in zip(losses, tokens, strict=True)) / sum(tokens)


def _first_window(config: Config) -> Window:
    return next(windows(config.micro_batches(0), config.accumulation_steps))
