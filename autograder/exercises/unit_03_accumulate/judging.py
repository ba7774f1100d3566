"""What is wrong with an accumulated gradient, and what comes of wrong formulas for a rate or an update."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from itertools import accumulate

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.judging.calls import Formula
from autograder.judging.large_batches import JOINED, MAX_JOINED, is_cut_finely, is_one_forward
from autograder.judging.left_behind import MESSAGES, kept_message
from autograder.judging.other_losses import OWN_LOSSES, squeezed, swapped
from autograder.judging.tolerances import close
from autograder.observing.loops import LoopTrial
from gradaccum.diagnosis.naming import MATCH
from gradaccum.fingerprint import batch_gradient
from gradaccum.problems import LossFn, Problem, flat_parameters

WRONG_GRADIENT = "What is in .grad is not the gradient of the mean loss over all samples."


CHANGED = "Your function changed the parameters; it should only fill .grad."

FROZEN = "A frozen parameter has changed, or it now has a .grad, with which an update would change it."
"""What is said of it here, where we make the update."""


def gradient_message(trial: LoopTrial, seen: Observation) -> str:
    """What is wrong with what a function left in ``.grad``, or did to the model; empty if nothing is."""
    if seen.failure:
        return seen.failure.message
    problem = trial.problem
    before = flat_parameters(problem.build_model()).cpu()
    after, gradients = seen.tensors["parameters"].to(before), seen.tensors["gradients"].cpu()
    if not all(close(row, before, problem.dtype) for row in after):
        return CHANGED
    if kept := kept_message(seen):
        return FROZEN if kept == MESSAGES["frozen"] else kept
    if problem.coupled and is_one_forward(problem, gradients[0]):
        return JOINED
    if problem.coupled:
        return "" if is_cut_finely(problem, gradients[0], MAX_JOINED) else WRONG_GRADIENT
    due = _mean_gradients(problem, problem.loss_fn)
    if _are_close(problem, gradients, due):
        return ""
    used = (due != 0).any(0)
    if _are_close(problem, gradients[:, used], due[:, used]):
        before_too = " It held something before the call, too." if problem.stale else ""
        return f"The .grad of a parameter that no loss depends on is neither None nor zero after the call.{before_too}"
    if len(gradients) != len(due) or not _are_close(problem, gradients[:1], due[:1]):
        return WRONG_GRADIENT
    calls = zip(problem.epochs, gradients.to(due), due, strict=True)
    wrong = [sizes for sizes, found, right in calls if not close(found, right, problem.dtype)]
    if problem.epochs[0] in wrong:
        return WRONG_LATER
    lone = tuple(wrong[0]) == (1,)
    return f"For {'a single micro-batch of one sample' if lone else 'micro-batches of other sizes'}: {WRONG_GRADIENT}"


WRONG_LATER = "At the first call .grad holds the right gradient, at a later one it does not."

OTHER_LOSSES: dict[str, Callable[[LossFn], tuple[LossFn, ...]]] = {
    "loss-arguments-swapped": lambda loss_fn: (swapped(loss_fn),),
    "targets-not-cut": lambda loss_fn: (squeezed(loss_fn),),
    "loss-of-its-own": lambda loss_fn: OWN_LOSSES,
}
"""By mistake, what may be computed in place of a loss."""


OF_A_CALL = {
    " at the window's parameters": "",
    "Every window": "Your gradient",
    "of much or all of a window takes": "of many or all micro-batches takes",
    "updates of several are": "the gradient of several is",
    "Updates include": "Your gradients include",
    "Once an update has been made, its gradient has done its work. ": "",
    "window": "call",
    "Your updates": "Your gradients",
    "in no update": "not in .grad",
    "reach no update": "are not in .grad",
    "reaches no update": "is not in .grad",
    " of an update": "",
    " at its update": "",
    "reaches the update": "is in .grad",
}
"""What replaces words of windows and updates, of which a function that fills ``.grad`` has none."""


def of_a_call(text: str) -> str:
    """What is said of a loop's windows and updates, in the words of a single call that fills ``.grad``."""
    for words, others in OF_A_CALL.items():
        text = text.replace(words, others)
    return re.sub(r"Update (\d+) holds", r"After call \1, .grad holds", text)


def name_loss(trial: LoopTrial, seen: Observation) -> str:
    """The mistake of a function that accumulates as it should, but gradients of another loss; empty if it is none of these."""
    if seen.failure:
        return ""
    gradients = seen.tensors["gradients"].cpu()
    for slug, others in OTHER_LOSSES.items():
        for loss_fn in others(trial.problem.loss_fn):
            if _are_close(trial.problem, gradients, _mean_gradients(trial.problem, loss_fn)):
                return slug
    return ""


NOTHING = 1e-7
"""A weight below is none: a share that was divided again and again is small, but more than what rounding leaves."""


def name_weights(sizes: Sequence[int], found: Sequence[float]) -> tuple[str, ...]:
    """The mistake of a gradient with these weights of micro-batches, which no training loop would make; or none."""
    total, present = sum(sizes), sum(abs(weight) > NOTHING for weight in found)
    rows = {
        "divided-by-own-samples": [1 / size for size in sizes],
        "divided-by-all-samples": [1 / total for _ in sizes],
        "samples-of-one-counted": [size / sizes[0] / len(sizes) for size in sizes],
        "samples-so-far-counted": [size / so_far for size, so_far in zip(sizes, accumulate(sizes), strict=True)],
    }
    for slug, row in rows.items():
        if all(abs(a - b) <= MATCH for a, b in zip(row, found, strict=True)):
            return (slug,)
    return ("micro-batch-left-out",) if 1 < present < len(sizes) else ()


def times_in_words(trial: LoopTrial, seen: Observation) -> str:
    """How many times what is due is in ``.grad`` after the first call, as a sentence; empty if it is no multiple."""
    if seen.failure or not len(seen.tensors["gradients"]):
        return ""
    due = _mean_gradients(trial.problem, trial.problem.loss_fn)[0]
    found = seen.tensors["gradients"][0].cpu().to(due)
    factor = float(found @ due / due.square().sum())
    if not factor or close(found, due, trial.problem.dtype) or not close(found, factor * due, trial.problem.dtype):
        return ""
    return f"For micro-batches of equal size, .grad holds {factor:.3g} times what is due."


def _mean_gradients(problem: Problem, loss_fn: LossFn) -> Tensor:
    """The gradient due at each call, if this is the loss: ``(E, P)``."""
    model = problem.build_model()
    rows = []
    for batches in map(problem.batches, range(len(problem.epochs))):
        total = sum(len(x) for x, _ in batches)
        shares = [len(x) / total * batch_gradient(model, loss_fn, (x, y)) for x, y in batches]
        rows.append(torch.stack(shares).sum(0))
    return torch.stack(rows).cpu()


def _are_close(problem: Problem, gradients: Tensor, due: Tensor) -> bool:
    return len(gradients) == len(due) and all(map(close, gradients.to(due), due, [problem.dtype] * len(due)))


def same_samples(config_a: tuple[int, int], config_b: tuple[int, int]) -> bool:
    """Whether two configurations ``(B, N)`` average over equally many samples."""
    return config_a[0] * config_a[1] == config_b[0] * config_b[1]


RATE = 1e-6
"""Relative difference up to which a rate is right: a tensor may be in float32, which leaves 6e-8."""

WRONG_RATES: dict[str, Formula | tuple[Formula, ...]] = {
    "rate-multiplied": lambda lr, n: lr * n,
    "rate-unchanged": lambda lr, n: lr,
    "rate-by-root": (lambda lr, n: lr / n**0.5, lambda lr, n: lr * n**0.5),
    "rate-divided-twice": lambda lr, n: lr / n**2,
    "rate-of-other-n": (
        lambda lr, n: lr / (n + 1),
        lambda lr, n: lr / max(1, n - 1),
        *(lambda lr, n, most=most: lr / max(most, n) for most in (2, 3, 4)),
        *(lambda lr, n, fixed=fixed: lr / fixed for fixed in (2, 3, 4, 8, 10, 16)),
    ),
    "rate-rounded": (
        lambda lr, n: lr // n,
        *(lambda lr, n, digits=digits: round(lr / n, digits) for digits in range(9)),
        *(lambda lr, n, digits=digits: float(f"{lr / n:.{digits}e}") for digits in range(5)),
    ),
    "rate-upside-down": lambda lr, n: n / lr,
    "rate-without-lr": lambda lr, n: 1 / n,
    "rate-negative": lambda lr, n: -lr / n,
}
"""By mistake, the rate that comes of it instead of ``lr / n``."""

RATES_IN_WORDS: dict[str, Formula | tuple[Formula, ...]] = {
    "You return as much as lr - lr/N, where lr/N is due.": lambda lr, n: lr - lr / n,
    "You divide the rate by 1 + log2(N).": lambda lr, n: lr / (1 + math.log2(n)),
    "You divide the rate by log2(N), or by 1 where that is less.": lambda lr, n: lr / max(1, math.log2(n)),
    "You divide the rate by N rounded to a power of two.": (
        lambda lr, n: lr / 2 ** round(math.log2(n)),
        lambda lr, n: lr / 2 ** math.ceil(math.log2(n)),
    ),
    "You never return less than some smallest rate.": tuple(
        lambda lr, n, least=least: max(lr / n, least) for least in (1e-2, 1e-3, 1e-4)
    ),
    "You take the N-th root of the rate.": lambda lr, n: lr ** (1 / n),
    "For a large N you return 0. Rounding 1/N before you multiply would do that.": lambda lr, n: lr / n if n < 3 else 0.0,
    "You round 1/N before you multiply.": tuple(lambda lr, n, digits=digits: lr * round(1 / n, digits) for digits in (3, 4)),
    "You halve the rate N - 1 times, where it has to be divided by N.": lambda lr, n: lr / 2 ** (n - 1),
    "You halve the rate N times, where it has to be divided by N.": lambda lr, n: lr / 2**n,
    "You subtract a number that grows with N from the rate, where the rate has to be divided by N.": tuple(
        lambda lr, n, step=step: lr - n * step for step in (1.0, 0.1, 0.01, 0.001)
    ),
}
"""Rarer rates, by what makes them."""


def _samples(config: tuple[int, int]) -> int:
    return config[0] * config[1]


WRONG_COMPARISONS: dict[str, Formula | tuple[Formula, ...]] = {
    "compares-sum": lambda a, b: sum(a) == sum(b),
    "compares-accumulation-steps": lambda a, b: a[1] == b[1],
    "compares-micro-batch": lambda a, b: a[0] == b[0],
    "compares-configurations": lambda a, b: a == b,
    "compares-in-any-order": lambda a, b: set(a) == set(b),
    "compares-ratio": lambda a, b: a[0] * b[1] == a[1] * b[0],
    "same-answer-always": (lambda a, b: True, lambda a, b: False),
    "answer-reversed": lambda a, b: not same_samples(a, b),
    "compares-which-is-larger": (lambda a, b: _samples(a) >= _samples(b), lambda a, b: _samples(a) <= _samples(b)),
    "multiples-accepted": lambda a, b: _samples(a) % _samples(b) == 0 or _samples(b) % _samples(a) == 0,
    "compares-roughly": tuple(
        lambda a, b, share=share: math.isclose(_samples(a), _samples(b), rel_tol=share) for share in (0.1, 0.05, 0.01, 1e-6)
    ),
    "compares-objects": lambda a, b: same_samples(a, b) and _samples(a) <= 256,  # Python has one object for each of these
    "divisible-only": (
        lambda a, b: same_samples(a, b) and (a[0] % b[0] == 0 or b[0] % a[0] == 0),
        lambda a, b: same_samples(a, b) and a[0] % b[0] == 0,
    ),
    "ones-refused": (
        lambda a, b: same_samples(a, b) and (a == b or min(a[0], b[0]) > 1),
        lambda a, b: same_samples(a, b) and (a[1] == 1) == (b[1] == 1),
    ),
}
"""By mistake, the answer that comes of it instead of :func:`same_samples`."""

LOGARITHMS = math.log, math.log2, math.log10

COMPARISONS_IN_WORDS: dict[str, Formula | tuple[Formula, ...]] = {
    "You compare the greatest common divisors of B and N.": lambda a, b: math.gcd(*a) == math.gcd(*b),
    "You compare only the last digits or bits of the numbers of samples.": tuple(
        lambda a, b, modulus=modulus: _samples(a) % modulus == _samples(b) % modulus for modulus in (10, 16, 100, 256, 2**16)
    ),
    "You also say yes where the numbers of samples differ by 1.": lambda a, b: abs(_samples(a) - _samples(b)) <= 1,
    "You compare the least common multiples of B and N.": lambda a, b: math.lcm(*a) == math.lcm(*b),
    "You compare B to the power of N, where B times N is due.": lambda a, b: a[0] ** a[1] == b[0] ** b[1],
    "You compare the numbers of samples only after you have rounded them to a power of two.": (
        lambda a, b: round(math.log2(_samples(a))) == round(math.log2(_samples(b))),
        lambda a, b: int(math.log2(_samples(a))) == int(math.log2(_samples(b))),
    ),
    "You compare logarithms, quotients or roots to the last bit, and they are rounded.": (
        *(lambda a, b, log=log: log(a[0]) + log(a[1]) == log(b[0]) + log(b[1]) for log in LOGARITHMS),
        *(lambda a, b, log=log: log(a[0]) - log(b[0]) == log(b[1]) - log(a[1]) for log in LOGARITHMS),
        *(lambda a, b, log=log: log(a[0]) + log(a[1]) - log(b[0]) - log(b[1]) == 0 for log in LOGARITHMS),
        lambda a, b: math.sqrt(a[0]) * math.sqrt(a[1]) == math.sqrt(b[0]) * math.sqrt(b[1]),
        lambda a, b: 1 / a[0] / a[1] == 1 / b[0] / b[1],
        lambda a, b: (1 / a[0]) * (1 / a[1]) == (1 / b[0]) * (1 / b[1]),
        lambda a, b: (a[0] / b[0]) * (a[1] / b[1]) == 1,
        lambda a, b: a[0] / b[0] * a[1] / b[1] == 1,
        lambda a, b: b[0] / a[0] * b[1] == a[1],
        lambda a, b: a[0] / b[0] * a[1] == b[1],
    ),
}
"""Rarer answers, by what is compared."""
