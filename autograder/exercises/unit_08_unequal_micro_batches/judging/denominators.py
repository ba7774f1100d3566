"""What ``cross_entropy`` divides by in a window, and the wrong denominators that students compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from autograder.judging.calls import Formula, in_different_words
from autograder.observing.calls import CallTrial, Plain
from gradaccum.problems.tokens import IGNORE_INDEX

TOLERANCE = 1e-6
"""Relative difference up to which two denominators are the same: weights may be added up in float32, and wrong denominators
differ by more than 1 %."""

Targets = Sequence[Tensor]
"""The targets of each micro-batch of a window."""


def denominator(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    """What ``cross_entropy`` divides by when it averages over all of these targets."""
    every = _joined(targets)
    return _sum_of_weights(every[every != ignore_index], weight)


def denominator_message(trial: CallTrial, found: Plain | None) -> str:
    """What to say of a wrong denominator."""
    returned, due = in_different_words(found, denominator(*trial.arguments, **trial.keywords))
    return f"cross_entropy divides the sum of one of these windows by {due}; your function returned {returned}."


def _joined(targets: Targets) -> Tensor:
    return torch.cat([part.flatten() for part in targets])


def _sum_of_weights(targets: Tensor, weight: Tensor | None) -> float:
    return float(len(targets) if weight is None else weight[targets].sum())


def _without_weights(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    return denominator(targets, None, ignore_index)


def _with_ignored_counted(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    """Adds 1 for every target that is ignored."""
    return denominator(targets, weight, ignore_index) + int((_joined(targets) == ignore_index).sum())


def _with_ignored_as_first(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    """Takes targets that are ignored for targets of the first class."""
    every = _joined(targets)
    return _sum_of_weights(every.masked_fill(every == ignore_index, 0), weight)


def _weights_of_classes(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    """Adds up the weights of the classes, not of the targets."""
    return denominator(targets, None, ignore_index) if weight is None else float(weight.sum())


def _weights_of_classes_each_time(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    """The sum of the weights of all classes, added once for each micro-batch."""
    return denominator(targets, None, ignore_index) if weight is None else float(weight.sum()) * len(targets)


def _of_average_micro_batch(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    return denominator(targets, weight, ignore_index) / len(targets)


def _with_ignored_clamped(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    """Counts targets; adds up weights with those of ignored targets, of which negative ones count as the first class."""
    every = _joined(targets)
    return denominator(targets, None, ignore_index) if weight is None else _sum_of_weights(every.clamp(min=0), weight)


def _without_first_class(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    return denominator([part[part > 0] for part in targets], weight, ignore_index)


def _of_rows(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    """Counts the rows of micro-batches in which nothing is ignored."""
    kept = [part[part != ignore_index] for part in targets]
    pairs = zip(targets, kept, strict=True)
    return sum(len(part) if len(rest) == part.numel() else len(rest) for part, rest in pairs)


def _of_rows_less_ignored(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    """Counts rows, and takes 1 away for every target that is ignored; right with weights."""
    if weight is not None:
        return denominator(targets, weight, ignore_index)
    return sum(map(len, targets)) - int((_joined(targets) == ignore_index).sum())


def _rows_if_several(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    """Counts the rows of micro-batches that have several, of which nothing is left out; right with weights."""
    parts = [len(part) if part.dim() > 1 else int((part != ignore_index).sum()) for part in targets]
    return denominator(targets, weight, ignore_index) if weight is not None else sum(parts)


def _without_last(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    return denominator(targets[:-1] or targets, weight, ignore_index)


def _of_first(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    return denominator(targets[:1], weight, ignore_index)


def _first_times_n(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    return len(targets) * _of_first(targets, weight, ignore_index)


def _of_last(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    return denominator(targets[-1:], weight, ignore_index)


def _without_first(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    return denominator(targets[1:] or targets, weight, ignore_index)


def _with_usual_index(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    return denominator(targets, weight)


WRONG_DENOMINATORS: Mapping[str, Formula | tuple[Formula, ...]] = {
    "weights-left-out": _without_weights,
    "counts-ignored": (_with_ignored_counted, _with_ignored_as_first, _with_ignored_clamped),
    "first-class-left-out": _without_first_class,
    "counts-rows": (
        _of_rows,
        _rows_if_several,
        _of_rows_less_ignored,
        lambda targets, weight=None, ignore_index=IGNORE_INDEX: sum(map(len, targets)),
    ),
    "micro-batches-left-out": (_without_last, _of_first, _of_last, _without_first),
    "weights-of-classes": (_weights_of_classes, _weights_of_classes_each_time),
    "counts-micro-batches": lambda targets, weight=None, ignore_index=IGNORE_INDEX: len(targets),
    "mean-of-denominators": _of_average_micro_batch,
    "ignore-index-fixed": _with_usual_index,
}
"""By slug, what a function with this mistake returns."""


def _weighing(weigh: Callable[[Tensor, Tensor], Tensor | float]) -> Formula:
    """A formula that makes something else of the targets that count and the weights, and is right without weights."""

    def formula(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
        kept = [part[part != ignore_index] for part in targets]
        return float(sum(len(part) if weight is None else weigh(part, weight) for part in kept))

    return formula


def _without_negative(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    every = _joined(targets)
    return _sum_of_weights(every[every >= 0], weight)


def _only_above(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    every = _joined(targets)
    return _sum_of_weights(every[every > ignore_index], weight)


def _minus_ignored(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    """Leaves out what is ignored, and takes the weight of that class away once for each micro-batch."""
    due = denominator(targets, weight, ignore_index)
    if weight is None or not 0 <= ignore_index < len(weight):
        return due
    return due - len(targets) * float(weight[ignore_index])


def _unweighted_if_ignored(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    ignored = [bool((part == ignore_index).any()) for part in targets]
    pairs = zip(targets, ignored, strict=True)
    return sum(denominator([part], None if some else weight, ignore_index) for part, some in pairs)


def _nothing_left_out_at_zero(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    return denominator(targets, weight, ignore_index) if ignore_index else _sum_of_weights(_joined(targets), weight)


def _without_weight_at_index(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    """Leaves out negative targets, and sets the weight at ``ignore_index`` to 0, counted from the end if that is negative."""
    if weight is None:
        return denominator(targets, None, ignore_index)
    every, weight = _joined(targets), weight.clone()
    if -len(weight) <= ignore_index < len(weight):
        weight[ignore_index] = 0
    return _sum_of_weights(every[every >= 0], weight)


def _whole_micro_batches(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    return sum(denominator([part], weight, ignore_index) for part in targets if not (part == ignore_index).any())


def _minus_ignored_once(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    """Adds the weights of all targets that are classes, and takes the weight of the class that is ignored away once."""
    every = _joined(targets)
    if weight is None or ignore_index < 0 or not (every == ignore_index).any():
        return denominator(targets, weight, ignore_index)
    return _sum_of_weights(every[every >= 0], weight) - float(weight[ignore_index])


def _nothing_if_one_has_nothing(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    bare = any(bool((part == ignore_index).all()) for part in targets)
    return 0.0 if bare else denominator(targets, weight, ignore_index)


def _one_for_nothing(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    return denominator(targets, weight, ignore_index) or 1.0


def _at_least_one(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    return max(1.0, denominator(targets, weight, ignore_index))


def _at_least_one_unless_zero(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    due = denominator(targets, weight, ignore_index)
    return max(1.0, due) if due else 0.0


def _mean_weight(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    due = denominator(targets, weight, ignore_index)
    return due / denominator(targets, None, ignore_index) if weight is not None and due else due


def _with_ignored_from_the_end(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    """Adds the weights that targets have as indices, which are counted from the end if they are negative."""
    every = _joined(targets)
    return denominator(targets, None, ignore_index) if weight is None else float(weight[every.clamp(min=-1)].sum())


def _weights_of_present(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    every = _joined(targets)
    present = every[every != ignore_index]
    return _sum_of_weights(present if weight is None else present.unique(), weight)


def _in_16_bits(dtype: torch.dtype) -> Formula:
    def formula(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
        kept = [part[part != ignore_index] for part in targets]
        parts = (len(part) if weight is None else weight.to(dtype)[part].sum() for part in kept)
        return float(sum(parts, torch.zeros((), dtype=dtype)))

    return formula


def _without_equal_weights(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    equal = weight is not None and bool((weight == weight[0]).all())
    return denominator(targets, None if equal else weight, ignore_index)


def _of_first_rows(targets: Targets, weight: Tensor | None = None, ignore_index: int = IGNORE_INDEX) -> float:
    """Takes the first row of a micro-batch that has several."""
    return denominator([part[0] if part.dim() > 1 else part for part in targets], weight, ignore_index)


DENOMINATORS_IN_WORDS: Mapping[str, Formula | tuple[Formula, ...]] = {
    "You multiply the number of targets by the mean weight of the classes, where every target has the weight of its class.": (
        _weighing(lambda kept, weight: len(kept) * weight.mean())
    ),
    "Where ignore_index is a class, its targets still count.": _without_negative,
    "You take N times the denominator of the first micro-batch, as if all had the same.": _first_times_n,
    "You add the weight of each class once for a micro-batch, however many of its targets have it.": (
        _weighing(lambda kept, weight: weight[kept.unique()].sum())
    ),
    "You add the weight of each class once, however many targets of the window have it.": _weights_of_present,
    "An ignored target still counts where it is negative: as an index it is counted from the end, and -1 is the last class.": (
        _with_ignored_from_the_end
    ),
    "You cut off the decimals of the weights.": _weighing(lambda kept, weight: weight[kept].trunc().sum()),
    "You divide the weights by their mean or their sum.": (
        _weighing(lambda kept, weight: (weight / weight.mean())[kept].sum()),
        _weighing(lambda kept, weight: (weight / weight.sum())[kept].sum()),
    ),
    "You count the targets of a micro-batch without their weights as soon as some of them are ignored.": _unweighted_if_ignored,
    "You count the targets if the weights are all equal, but each target still has its weight.": _without_equal_weights,
    "You take only the first row of a micro-batch's targets where there are several rows.": _of_first_rows,
    "You square the weights.": _weighing(lambda kept, weight: (weight**2)[kept].sum()),
    "You cut off the decimals of each micro-batch's sum of weights.": (
        _weighing(lambda kept, weight: weight[kept].sum().trunc())
    ),
    "You add up 1 divided by the weight of each target, where its weight is due.": (
        _weighing(lambda kept, weight: (1 / weight)[kept].sum())
    ),
    "You multiply the sum of the weights by the number of targets.": (
        _weighing(lambda kept, weight: len(kept) * weight[kept].sum()),
        lambda targets, weight=None, ignore_index=IGNORE_INDEX: (
            denominator(targets, weight, ignore_index) * (1 if weight is None else denominator(targets, None, ignore_index))
        ),
    ),
    "You stop, or return 0, as soon as nothing counts in one of the micro-batches.": _nothing_if_one_has_nothing,
    "Where nothing counts, your denominator is 1, and 0 is due.": _one_for_nothing,
    "Your denominator is never below 1, although weights may add up to less.": (_at_least_one, _at_least_one_unless_zero),
    "You return the mean of the weights of the targets, where their sum is due.": _mean_weight,
    "You add up the mean weight of the targets of each micro-batch, where the sum of their weights is due.": (
        _weighing(lambda kept, weight: weight[kept].mean() if len(kept) else 0)
    ),
    "You take the weight of the class ignore_index away once, however many of the targets are ignored.": _minus_ignored_once,
    "You leave out all targets below ignore_index, too.": _only_above,
    "Where ignore_index is 0, you leave nothing out.": _nothing_left_out_at_zero,
    "You leave out the class at the place ignore_index in weight. If ignore_index is -1, that is the last class.": (
        _without_weight_at_index
    ),
    "You leave out a whole micro-batch as soon as one of its targets is ignored.": _whole_micro_batches,
    "You add the weights up in 16 bits, which hold few digits.": tuple(map(_in_16_bits, (torch.float16, torch.bfloat16))),
    "You take away the weight of the class ignore_index, although its targets are left out already.": _minus_ignored,
}
"""Rarer denominators, by what makes them."""
