"""What loops that clip and loops in mixed precision are run on, and what is brought back from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch

from autograder.exercise import Observation
from autograder.loop_trials import LoopTrial, observe_loop


@dataclass(frozen=True)
class ClipTrial:
    """A loop trial and the threshold."""

    loop: LoopTrial
    max_norm: float


def observe_clipped(function: Callable, trial: ClipTrial) -> Observation:
    """Run a loop that clips; what it returns is among the facts as ``"losses"``."""
    return observe_loop(lambda *arguments: function(*arguments, trial.max_norm), trial.loop)


@dataclass(frozen=True)
class AmpTrial:
    """A loop trial in mixed precision.

    Attributes:
        loop: problem (float32 parameters) and how it is watched.
        precision: ``"float16"`` or ``"bfloat16"``.
        scale, growth_interval: of the scaler.
        max_norm: clipping threshold, for unscaled gradients.
        broken: micro-batch of the epoch whose targets are infinite, or None.
    """

    loop: LoopTrial
    precision: str
    scale: float
    max_norm: float
    growth_interval: int = 1000
    broken: int | None = None


class CountingScaler(torch.amp.GradScaler):
    """A gradient scaler that counts what is asked of it, and knows the last three things a loop asked for."""

    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self.calls = {"unscales": 0, "scaler_steps": 0, "scaler_updates": 0}
        self.last: list[str] = []
        self.stepping = False

    def unscale_(self, optimizer):
        self._note("unscales")
        return super().unscale_(optimizer)

    def step(self, optimizer, *arguments, **keywords):
        self._note("scaler_steps")
        self.stepping = True  # it may unscale by itself
        try:
            return super().step(optimizer, *arguments, **keywords)
        finally:
            self.stepping = False

    def update(self, new_scale=None):
        self._note("scaler_updates")
        return super().update(new_scale)

    def _note(self, call: str) -> None:
        self.calls[call] += 1
        if not self.stepping:
            self.last = [*self.last, call][-3:]


def observe_amp(function: Callable, trial: AmpTrial) -> Observation:
    """Run a loop in mixed precision; bring back also the scaler's calls, its scale, and the dtypes the model computed in."""
    scaler = CountingScaler(trial.loop.problem.device, init_scale=trial.scale, growth_interval=trial.growth_interval)
    dtypes: set[str] = set()
    parameters: list[torch.nn.Parameter] = []

    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        parameters[:] = model.parameters()
        hook = model.register_forward_hook(lambda module, x, out: dtypes.add(str(out.dtype).removeprefix("torch.")))
        batches = [(x, torch.full_like(y, torch.inf) if k == trial.broken else y) for k, (x, y) in enumerate(micro_batches)]
        precision = getattr(torch, trial.precision)
        try:
            return function(model, loss_fn, optimizer, scaler, batches, accumulation_steps, trial.max_norm, precision)
        finally:
            hook.remove()

    seen = observe_loop(loop, trial.loop)
    facts = {"scale": scaler.get_scale(), "dtypes": sorted(dtypes), "last_calls": scaler.last}
    facts["converted"] = any(parameter.dtype != torch.float32 for parameter in parameters)
    return replace(seen, facts=seen.facts | scaler.calls | facts)
