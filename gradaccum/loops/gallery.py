"""The gallery: the right loop and each famous wrong one.

Every loop is a short function a student could have written, with the signature
``loop(model, loss_fn, optimizer, micro_batches, accumulation_steps)``. A wrong one differs from :func:`right` in the one
thing its name says and is right in everything else, ragged micro-batches and leftover windows included.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from itertools import islice

from torch import Tensor, nn
from torch.optim import Optimizer

from gradaccum.loops.micro_batches import MicroBatches, samples_in, windows
from gradaccum.problems import LossFn


def right(
    model: nn.Module, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    optimizer.zero_grad()
    for window in windows(micro_batches, accumulation_steps):
        samples = samples_in(window)
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def no_scale(
    model: nn.Module, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    optimizer.zero_grad()
    for window in windows(micro_batches, accumulation_steps):
        for x, y in window:
            loss_fn(model(x), y).backward()
        optimizer.step()
        optimizer.zero_grad()


def double_scale(
    model: nn.Module, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    optimizer.zero_grad()
    for window in windows(micro_batches, accumulation_steps):
        samples = samples_in(window)
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            (loss / len(window)).backward()
        optimizer.step()
        optimizer.zero_grad()


def lr_scaled_too(
    model: nn.Module, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    given = optimizer.param_groups[0]["lr"]
    optimizer.zero_grad()
    for window in windows(micro_batches, accumulation_steps):
        samples = samples_in(window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.param_groups[0]["lr"] = given / len(window)
        optimizer.step()
        optimizer.zero_grad()
    optimizer.param_groups[0]["lr"] = given


def sum_reduction(
    model: nn.Module, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    optimizer.zero_grad()
    for window in windows(micro_batches, accumulation_steps):
        for x, y in window:
            sum_over_samples = loss_fn(model(x), y) * len(x)
            sum_over_samples.backward()
        optimizer.step()
        optimizer.zero_grad()


def mean_of_means(
    model: nn.Module, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    optimizer.zero_grad()
    for window in windows(micro_batches, accumulation_steps):
        for x, y in window:
            (loss_fn(model(x), y) / len(window)).backward()
        optimizer.step()
        optimizer.zero_grad()


def tail_scale(
    model: nn.Module, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    optimizer.zero_grad()
    for window in windows(micro_batches, accumulation_steps):
        mean_size = samples_in(window) / len(window)
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / mean_size
            (loss / accumulation_steps).backward()
        optimizer.step()
        optimizer.zero_grad()


def tail_dropped(
    model: nn.Module, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = samples_in(window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        if len(window) == accumulation_steps:
            optimizer.step()


def tail_stale(
    model: nn.Module, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    for window in windows(micro_batches, accumulation_steps):
        samples = samples_in(window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        if len(window) == accumulation_steps:
            optimizer.step()
            optimizer.zero_grad()


def short_epoch_no_step(
    model: nn.Module, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    updates = 0
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = samples_in(window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        if len(window) == accumulation_steps or updates > 0:
            optimizer.step()
            updates += 1


def zero_every(
    model: nn.Module, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    for window in windows(micro_batches, accumulation_steps):
        samples = samples_in(window)
        for x, y in window:
            optimizer.zero_grad()
            (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()


def never_zero(
    model: nn.Module, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    for window in windows(micro_batches, accumulation_steps):
        samples = samples_in(window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()


def zero_before_step(
    model: nn.Module, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    for window in windows(micro_batches, accumulation_steps):
        samples = samples_in(window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.zero_grad()
        optimizer.step()


def stale_start(
    model: nn.Module, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    for window in windows(micro_batches, accumulation_steps):
        samples = samples_in(window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()
        optimizer.zero_grad()


def step_every(
    model: nn.Module, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    for x, y in micro_batches:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
        optimizer.step()


def off_by_one_early(
    model: nn.Module, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    stream = iter(micro_batches)
    first = list(islice(stream, 1))
    for window in [first, *windows(stream, accumulation_steps)]:
        optimizer.zero_grad()
        samples = samples_in(window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()


def off_by_one_late(
    model: nn.Module, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    stream = iter(micro_batches)
    first = list(islice(stream, accumulation_steps + 1))
    for window in [first, *windows(stream, accumulation_steps)]:
        optimizer.zero_grad()
        samples = samples_in(window)
        for x, y in window:
            (loss_fn(model(x), y) * len(x) / samples).backward()
        optimizer.step()


def same_batch_repeated(
    model: nn.Module, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        x, y = window[0]
        for _ in window:
            (loss_fn(model(x), y) / len(window)).backward()
        optimizer.step()


def retained_graph(
    model: nn.Module, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = samples_in(window)
        running: Tensor | int = 0
        for x, y in window:
            running = running + loss_fn(model(x), y) * len(x) / samples
            running.backward(retain_graph=True)
        optimizer.step()


def eval_mode(
    model: nn.Module, loss_fn: LossFn, optimizer: Optimizer, micro_batches: MicroBatches, accumulation_steps: int
) -> None:
    model.eval()
    right(model, loss_fn, optimizer, micro_batches, accumulation_steps)
    model.train()


GALLERY: dict[str, Callable[..., None]] = {
    loop.__name__.replace("_", "-"): loop
    for loop in (
        right,
        no_scale,
        double_scale,
        lr_scaled_too,
        sum_reduction,
        mean_of_means,
        tail_scale,
        tail_dropped,
        tail_stale,
        short_epoch_no_step,
        zero_every,
        never_zero,
        zero_before_step,
        stale_start,
        step_every,
        off_by_one_early,
        off_by_one_late,
        same_batch_repeated,
        retained_graph,
        eval_mode,
    )
}
"""Loops by the slug of their mistake; ``"right"`` is the right one."""


def source(slug: str) -> str:
    """The code of a gallery loop as a student would write it: without annotations.

    Raises:
        KeyError: no loop has this slug.
    """
    if slug not in GALLERY:
        raise KeyError(f"no loop in the gallery is called {slug!r}; there are {', '.join(GALLERY)}")
    return without_annotations(inspect.getsource(GALLERY[slug]))


WIDEST = 72
"""Characters of a line of code for which there is room beside a picture."""


def without_annotations(code: str) -> str:
    """A function's code with its signature on one line, if that is not too long, and no types in it or in its assignments."""
    function = ast.parse(code).body[0]
    assert isinstance(function, ast.FunctionDef)
    lines = code.splitlines()
    for node in ast.walk(function):
        if isinstance(node, ast.AnnAssign):
            line, start, end = node.lineno - 1, node.target.end_col_offset, node.annotation.end_col_offset
            lines[line] = lines[line][:start] + lines[line][end:]
    names = ", ".join(argument.arg for argument in function.args.args)
    signature = [f"def {function.name}({names}):"]
    if len(signature[0]) > WIDEST:
        signature = [f"def {function.name}(", f"    {names}", "):"]
    return "\n".join([*signature, *lines[function.body[0].lineno - 1 :], ""])
