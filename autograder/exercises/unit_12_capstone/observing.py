"""What the functions of unit 12 are run on, and what is recorded of them."""

from __future__ import annotations

import operator
import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from autograder.contract.observation import Observation
from autograder.observing.calls import observe_call
from autograder.observing.folders import read_folder, write_folder
from autograder.observing.loops import plain_losses
from autograder.observing.stages import Stage, StagedTrial, in_stages, observe_all
from gradaccum.capstone.config import Config
from gradaccum.capstone.run import History, Run
from gradaccum.loops import windows
from gradaccum.problems import flat_parameters, trainable
from gradaccum.recording import LiveBytes

MAX_UPDATES = 200
"""Updates after which weights are no longer kept; right runs make a dozen."""

MAX_SIZES = 20
"""Different numbers of lines in a forward pass that are noted."""

FEW_STEPS = 2
"""Steps that are no updates of a run if what they change is replaced by a checkpoint, or if the run is thrown away: they let an
optimizer build its state, or measure something."""

FEWER = ("precision", "loss", "dtypes")
"""What can have fewer digits than the model: a forward under autocast, a loss computed in another dtype, its parameters."""

LISTS = ("losses", "norms", "rates", "tokens")
"""The lists of a history."""


@dataclass(frozen=True)
class WindowTrial:
    """A run that is trained window by window.

    Attributes:
        config: what to train.
        stale: what ``.grad`` is filled with before the first window, if with anything.
    """

    config: Config
    stale: float | None = None


@dataclass(frozen=True)
class RunTrial(StagedTrial):
    """A whole run.

    Attributes:
        config: what to train. The ``checkpoint`` of a run that does not stop is a file's name; there is no such file.
        meter: whether live bytes are counted.
        stop_after: stop after so many updates, then go on; None if the run does not stop.
        then_norm, then_stop: the clipping threshold with which to go on, and after how many updates of the whole run to stop
            again, if at all.
        last_norm: the clipping threshold with which to go on from a second stop.
    """

    config: Config
    meter: bool = False
    stop_after: int | None = None
    then_norm: float = 1.0
    then_stop: int | None = None
    last_norm: float = 1.0

    @property
    def stops(self) -> list[int]:
        """After how many updates of the whole run it stops."""
        return [stop for stop in (self.stop_after, self.then_stop) if stop is not None]

    @property
    def stages(self) -> int:
        """One for each call."""
        return len(self.stops) + 1

    def call(self, number: int) -> Config:
        """The config of a call, counted from 0, but for its checkpoint."""
        norms = (self.config.max_norm, self.then_norm, self.last_norm)
        return self.config.with_(max_norm=norms[number], stop_after=(*self.stops, None)[number])

    def norm_at(self, update: int) -> float:
        """The threshold for an update, counted from 0, of the whole run."""
        if self.stop_after is None or update < self.stop_after:
            return self.config.max_norm
        return self.then_norm if self.then_stop is None or update < self.then_stop else self.last_norm


def observe_windows(function: Callable, trial: WindowTrial) -> Observation:
    """Call ``function(run, window, max_norm)`` for every window; return the weights after each, and the history.

    ``kept`` and ``intact`` say whether the lists of micro-batches and these themselves are as they were, and ``fewer`` what had
    fewer digits than the model, as :data:`FEWER` calls it. Of all ``steps`` of the optimizer, ``stepped_after_passes`` counts
    those with a forward pass since the one before.
    """
    run = trial.config.build()
    if trial.stale is not None:
        for parameter in trainable(run.model):
            parameter.grad = torch.full_like(parameter, trial.stale)
    rows: list[Tensor] = []
    passes: list[None] = []
    steps: list[int] = []
    kept = intact = True
    _, fewer = _passes_of(run)
    run.model.register_forward_pre_hook(_Hook(lambda *_: passes.append(None)))
    run.optimizer.register_step_post_hook(lambda *_: steps.append(len(passes)))
    for epoch in range(trial.config.epochs):
        for window in windows(trial.config.micro_batches(epoch), trial.config.accumulation_steps):
            given, before = list(window), [(x.clone(), y.clone()) for x, y in window]
            function(run, given, trial.config.max_norm)
            kept = kept and len(given) == len(window) and all(map(operator.is_, given, window))
            intact = intact and all(
                torch.equal(x, u) and torch.equal(y, v) for (x, y), (u, v) in zip(window, before, strict=True)
            )
            rows.append(flat_parameters(run.model).cpu())
    facts = {
        "history": _lists(run.history),
        "kept": kept,
        "intact": intact,
        "fewer": _fewer(fewer, run, trial.config),
        "training": all(part.training for part in run.model.modules()),
        "steps": len(steps),
        "stepped_after_passes": len({*steps} - {0}),
    }
    return Observation({"rows": torch.stack(rows), "final": rows[-1]}, facts)


class _Hook:
    """A hook that keeps nobody from saving a whole model: what is loaded has one that does nothing. A copy shares it."""

    def __init__(self, function: Callable[..., None]):
        self._function = function

    def __call__(self, *arguments: object) -> None:
        self._function(*arguments)

    def __deepcopy__(self, copied: dict[int, object]) -> _Hook:
        return self

    def __reduce__(self) -> tuple[type[_Hook], tuple[Callable[..., None]]]:
        return _Hook, (_nothing,)


def _nothing(*arguments: object) -> None:
    pass


def _passes_of(run: Run, gradients: bool = True) -> tuple[set[int], set[str]]:
    """How many lines the model's forward passes with gradients have, and what has fewer digits, as :data:`FEWER` calls it.

    Both sets are empty, and filled as the model is used. A loss that was computed in float32 sends back nothing but numbers
    that float32 has.

    Args:
        run: whose model.
        gradients: whether to look at what comes back from the loss, which takes some memory.
    """
    lines: set[int] = set()
    fewer: set[str] = set()
    devices = {"cpu", next(run.model.parameters()).device.type}

    def before(model: nn.Module, inputs: tuple[Any, ...]) -> None:
        if torch.is_grad_enabled():
            lines.add(len(inputs[0]) if inputs and isinstance(inputs[0], Tensor) and inputs[0].dim() else 0)
        if any(map(torch.is_autocast_enabled, devices)):
            fewer.add("precision")

    def after(model: nn.Module, inputs: tuple[Any, ...], logits: object) -> None:
        if isinstance(logits, Tensor) and logits.requires_grad and logits.dtype == torch.float64:
            logits.register_hook(look)

    def look(gradient: Tensor) -> None:
        if gradient.any() and torch.equal(gradient, gradient.float().double()):
            fewer.add("loss")

    run.model.register_forward_pre_hook(_Hook(before))
    if gradients:
        run.model.register_forward_hook(_Hook(after))
    return lines, fewer


def _fewer(seen: set[str], run: Run, config: Config) -> list[str]:
    """What was seen to have fewer digits, and the parameters if they have another dtype than they began with."""
    changed = any(p.dtype != getattr(torch, config.dtype) for p in run.model.parameters())
    return sorted(seen | ({"dtypes"} if changed else set()))


CHECKPOINTS = ("first.pt", "second.pt", "third.pt")
"""What the checkpoint is called in each call: it is moved in between, as if to another machine, and nothing else is."""


def observe_run_stage(function: Callable, stage: Stage, folder: Path) -> Observation:
    """Train, with or without stops, each of which ends a process; return the weights after every update, and the history.

    A run that does not stop must leave no file: ``left`` says whether it left none, if its config names one.

    Of a run that stops these are of the second call, with the weights and the history of the one that was ``stopped`` before
    and the weights of the ``last`` one; ``steps`` and the number of a call say how many updates it made. ``left`` says whether
    the last one had a file to go on from, and left it as it was or removed it.
    """
    trial = stage.trial
    if not trial.stops:
        return _observe_whole_run(function, trial, folder)
    path, content = folder / CHECKPOINTS[stage.number], None
    if stage.folders:
        content = stage.folders[0].get(CHECKPOINTS[stage.number - 1])
        write_folder(folder, {} if content is None else {path.name: content})
    seen = observe_one_call(function, trial.call(stage.number).with_(checkpoint=str(path)))
    found = {} if stage.is_last else read_folder(folder, {})
    left = () if stage.is_last else (found,)
    steps = {f"steps {stage.number}": seen.facts["steps"]}
    if stage.is_last:
        left_alone = path.read_bytes() == content if path.is_file() else not path.exists()
        steps |= {"left": content is not None and left_alone}
    if stage.number == 1:
        facts = {name: value for name, value in seen.facts.items() if name != "steps"}
        return Observation(seen.tensors, facts | steps, left=left)
    end = {"last" if stage.number else "stopped": seen.tensors["final"]} if "final" in seen.tensors else {}
    if stage.number == 0:
        steps |= {"stopped": seen.facts.get("history"), "written": path.name in found}
    return Observation(end, steps, left=left)


observe_run = in_stages(observe_run_stage)


def observe_here(function: Callable, trial: RunTrial) -> Observation:
    """The same for a function that is not a student's: all its calls are in this process."""

    def observe(stage: Stage) -> Observation:
        with tempfile.TemporaryDirectory(prefix="gradaccum-") as folder:
            return observe_run_stage(function, stage, Path(folder))

    return observe_all(Stage(trial), observe)


def _observe_whole_run(function: Callable, trial: RunTrial, folder: Path) -> Observation:
    if trial.config.checkpoint is not None:
        seen = observe_one_call(function, trial.config.with_(checkpoint=str(folder / trial.config.checkpoint)))
        return replace(seen, facts=seen.facts | {"left": not any(folder.iterdir())})
    if not trial.meter:
        return observe_one_call(function, trial.config)
    with LiveBytes() as live:
        seen = observe_one_call(function, trial.config, live)
    return replace(seen, facts=seen.facts | {"peak_bytes": live.peak})


def observe_one_call(function: Callable, config: Config, live: LiveBytes | None = None) -> Observation:
    """One call of ``function(config)``. What the marker keeps is not part of the run, and is not counted as its memory.

    ``steps`` counts the updates of the run whose history is returned, and those of others that make more than
    :data:`FEW_STEPS`. As many may come before the first forward pass or before the model is loaded: these are no updates.
    """
    runs: list[Run] = []
    passes: list[tuple[set[int], set[str]]] = []
    peaks: dict[bool, int] = {}
    first_peaks: list[int] = []
    rows: dict[int, list[Tensor]] = {}
    unmetered = live.pause if live else nullcontext

    def watch(run: Run) -> None:
        kept = rows.setdefault(id(run), [])
        runs.append(run)
        lines, fewer = _passes_of(run, gradients=live is None)
        passes.append((lines, fewer))

        def keep(*_: object) -> None:
            if live and not first_peaks:
                first_peaks.append(live.peak)
            if len(kept) < MAX_UPDATES:
                with unmetered():
                    kept.append(flat_parameters(run.model).cpu())

        def forget_few(*_: object) -> None:
            with unmetered():
                if 0 < len(kept) <= FEW_STEPS and not torch.equal(kept[-1], flat_parameters(run.model).cpu()):
                    kept.clear()

        def reach(*_: object) -> None:  # batches of other sizes may come before, to measure something
            if live:
                peaks.setdefault(config.micro_batch_size in lines, live.peak)

        def begin(*_: object) -> None:
            if not lines and len(kept) <= FEW_STEPS:
                kept.clear()

        run.model.register_load_state_dict_post_hook(_Hook(forget_few))
        run.model.register_forward_pre_hook(_Hook(begin), prepend=True)
        run.optimizer.register_step_post_hook(keep)
        if live:
            run.model.register_forward_pre_hook(_Hook(reach))

    value = function(config.with_(watch=watch))
    facts: dict[str, Any] = {"built": len(runs), "steps": 0, "type": type(value).__name__}
    fewer = [_fewer(seen, run, config) for (_, seen), run in zip(passes, runs, strict=True)]
    facts |= {"lines": sorted(set().union(*(lines for lines, _ in passes)))[:MAX_SIZES], "fewer": sorted(set().union(*fewer))}
    facts |= {"peak_before": peaks.get(True, peaks.get(False)), "peak_first": first_peaks[0] if first_peaks else None}
    if isinstance(value, History):
        facts["history"] = _lists(value)
    if not runs:
        return Observation(facts=facts)
    run = next((run for run in runs if run.history is value), runs[-1])
    others = (len(made) for of, made in rows.items() if of != id(run))
    facts["steps"] = len(rows[id(run)]) + sum(made for made in others if made > FEW_STEPS)
    with unmetered():
        kept = rows[id(run)]
        tensors = {"final": flat_parameters(run.model).cpu()} | ({"rows": torch.stack(kept)} if kept else {})
    return Observation(tensors, facts)


def _lists(history: History) -> dict[str, list[float] | None]:
    return {name: plain_losses(getattr(history, name, None)) for name in LISTS}


OBSERVERS = {"pick_micro_batch_size": observe_call, "train_window": observe_windows, "train": observe_run}
