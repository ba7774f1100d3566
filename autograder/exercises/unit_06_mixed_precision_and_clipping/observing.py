"""Observing loops that clip, loops in mixed precision and sums in float32, and what they are run on."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from autograder.contract.observation import Observation
from autograder.observing.loops import LoopTrial, observe_loop
from gradaccum.kept_state import same_data, state_of
from gradaccum.problems import OUTPUTS, MicroBatch, Problem

NEARNESS = 0.006
"""How far telling targets are from outputs, as a share of these; bfloat16 rounds by up to 0.004."""


FAR = 4096
"""Targets whose gradients cancel are this many times the model's output. Beside them, float32 keeps short gradients to a
thousandth, and bfloat16 loses them."""


LONG = 256
"""In mixed precision, such targets are this many outputs away: a power of two, so that the two errors are exactly opposite.
Next to their gradients bfloat16 loses the others, and float16 a tenth of them; float32 keeps them to a ten-thousandth."""


@dataclass(frozen=True)
class Float32SumTrial:
    """Many nearly equal micro-batches for a bfloat16 model.

    Attributes:
        seed: of model and data.
        count: micro-batches; sizes alternate between 1 and 4 samples if ragged, else they are 2.
        ragged: whether sizes differ, see ``count``.
        spread: how much the samples differ; the smaller, the sooner a sum in bfloat16 stalls.
        device: where the model and its data are.
        cancelling: whether the gradient of the last micro-batch is that of the first with the other sign, and so long that in
            less than float32 nothing is left of the others next to it. Samples of a micro-batch are a power of two, and so are
            the micro-batches: then it makes no difference whether losses or gradients are weighted.
        training: whether the model is in training mode, or else in evaluation mode, but for its first layer.
        overflowed: whether ``.grad`` holds infinity at first.
        outputs: of the model.
        telling: whether the gradients tell what computed them: the samples of one forward act on each other, micro-batches have
            one sample, and a target is so near the model's output that the rounding of bfloat16 decides how far it is off.
        stale: how many times as long as usual is what ``.grad`` holds at first.
        tied: whether two layers share a weight, in a model that has other parameters of equal shape.
    """

    seed: int
    count: int
    ragged: bool
    spread: float
    device: str
    training: bool = True
    overflowed: bool = False
    outputs: int = OUTPUTS
    telling: bool = False
    cancelling: bool = False
    stale: float = 1.0
    tied: bool = False

    @property
    def sizes(self) -> tuple[int, ...]:
        """Samples of each micro-batch."""
        return tuple(1 if self.telling else (1, 4)[k % 2] if self.ragged else 2 for k in range(self.count))

    def build(self) -> tuple[nn.Module, Callable[[Tensor, Tensor], Tensor], list[MicroBatch]]:
        """The model in bfloat16, the loss and the micro-batches."""
        problem = Problem(
            self.seed,
            self.count,
            (self.sizes,),
            device=self.device,
            dtype="float32",
            stale=True,
            overflowed=self.overflowed,
            outputs=self.outputs,
            gated=True,
            tied=self.tied,
            depth=3 if self.tied else 1,
            skewed=not self.cancelling,  # with the other sign, a skewed loss is not the same
            coupled=self.telling,
        )
        model = problem.build_model().to(torch.bfloat16).train(self.training)
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter.grad *= self.stale
        if not self.training:
            next(layer for layer in model.modules() if isinstance(layer, nn.Linear)).train()
        model.register_buffer("samples", torch.zeros((), dtype=torch.bfloat16, device=self.device))  # which is no parameter
        first_x, first_y = problem.batches()[0]
        batches = [
            ((first_x[:1] + self.spread * x).to(torch.bfloat16), (first_y[:1] + self.spread * y).to(torch.bfloat16))
            for x, y in problem.batches()
        ]
        if self.telling:
            with torch.no_grad():
                batches = [(x, (model(x).float() * (1 + NEARNESS * y.float().sign())).to(torch.bfloat16)) for x, y in batches]
        if self.cancelling:
            x = batches[0][0]
            with torch.no_grad():
                far = model(x) * FAR  # next to which the model's output itself is lost
            batches[0], batches[-1] = (x, -far), (x, far)
        return model, problem.loss_fn, batches


def observe_float32_sums(function: Callable, trial: Float32SumTrial) -> Observation:
    """Returns tensors by name, whether the model was ``moved`` or ``converted``, and what was ``changed``."""
    model, loss_fn, batches = trial.build()
    state, given = state_of(model), [(x.clone(), y.clone()) for x, y in batches]
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    converted: list[bool] = []
    linear = [layer for layer in model.modules() if isinstance(layer, nn.Linear)]
    hooks = [
        layer.register_forward_pre_hook(lambda layer, _: converted.append(layer.weight.dtype != torch.bfloat16))
        for layer in linear
    ]
    try:
        value = function(model, loss_fn, batches)
    finally:
        for hook in hooks:
            hook.remove()
    if not isinstance(value, Mapping):
        return Observation(facts={"type": type(value).__name__})
    tensors = {str(name): t.detach().cpu() for name, t in value.items() if isinstance(t, Tensor)}
    if tensors:  # then a key that is no parameter's name is one too many, whatever it is given
        tensors |= {str(name): torch.zeros(()) for name in value if name not in before and str(name) not in tensors}
    after = dict(model.named_parameters())
    kept = after.keys() == before.keys() and all(
        after[name].dtype == torch.bfloat16 and torch.equal(before[name], after[name]) for name in before
    )
    changed = [what for what, value in state_of(model).items() if what in ("modes", "requires_grad") and value != state[what]]
    changed += [] if same_data(batches, given) else ["data"]
    facts = {"moved": not kept, "converted": any(converted), "changed": changed}
    return Observation(tensors, facts)


@dataclass(frozen=True)
class ClipTrial:
    """A loop trial and the threshold."""

    loop: LoopTrial
    max_norm: float


def observe_clipped(function: Callable, trial: ClipTrial) -> Observation:
    """Run a loop that clips. Returns the norms it returned among the facts, as ``"losses"``."""
    return observe_loop(lambda *arguments: function(*arguments, trial.max_norm), trial.loop)


@dataclass(frozen=True)
class AmpTrial:
    """A loop trial in mixed precision.

    Attributes:
        loop: problem (float32 parameters) and how it is watched.
        precision: ``"float16"`` or ``"bfloat16"``.
        scale: the scaler's scale at the start.
        growth_interval: after how many windows without infinities the scaler raises its scale.
        max_norm: clipping threshold, for unscaled gradients.
        broken: micro-batch of the epoch whose targets are infinite, or None.
        telling: whether targets are so near the model's outputs that their rounding decides how far they are off.
        cancelling: whether the gradient of an epoch's last micro-batch is that of the first with the other sign, and so long
            that a sum in less than float32 loses the others next to it.
    """

    loop: LoopTrial
    precision: str
    scale: float
    max_norm: float
    growth_interval: int = 1000
    broken: int | None = None
    telling: bool = False
    cancelling: bool = False


@torch.no_grad()
def _near_outputs(model: nn.Module, x: Tensor, y: Tensor, precision: torch.dtype) -> Tensor:
    """Targets near what the model makes of ``x`` in this precision, off in the directions of ``y``."""
    with torch.autocast(x.device.type, dtype=precision):
        return model(x).float() * (1 + NEARNESS * y.sign())


@torch.no_grad()
def _opposite(model: nn.Module, batches: list[MicroBatch], precision: torch.dtype) -> list[MicroBatch]:
    """The micro-batches, of which the last is now the first with targets on the other side of what the model makes of it."""
    x, _ = batches[0]
    with torch.autocast(x.device.type, dtype=precision):
        out = model(x).float()
    return [(x, out * (1 + LONG)), *batches[1:-1], (x, out * (1 - LONG))]


SCALER_CALLS = ("unscales", "scaler_steps", "scaler_updates")
"""What is counted of a scaler."""

LAST_CALLS = 6
"""How many of the calls are kept, with ``"forwards"`` between those of different windows: two windows' worth."""


class CountingScaler(torch.amp.GradScaler):
    """A gradient scaler that counts the calls that a loop makes, and knows the last ones, with the forwards between them."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.calls = dict.fromkeys(SCALER_CALLS, 0)
        self.last: list[str] = []
        self.stepping = False

    def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
        self._note("unscales")
        super().unscale_(optimizer)

    def step(self, optimizer: torch.optim.Optimizer, *arguments: Any, **keywords: Any) -> float | None:
        self._note("scaler_steps")
        self.stepping = True  # which may unscale on its own
        try:
            return super().step(optimizer, *arguments, **keywords)
        finally:
            self.stepping = False

    def update(self, new_scale: float | Tensor | None = None) -> None:
        self._note("scaler_updates")
        super().update(new_scale)

    def note_forward(self) -> None:
        """Keep that the model ran."""
        if self.last[-1:] != ["forwards"]:
            self._keep("forwards")

    def _note(self, call: str) -> None:
        self.calls[call] += 1
        if not self.stepping:
            self._keep(call)

    def _keep(self, call: str) -> None:
        self.last = [*self.last, call][-LAST_CALLS:]


def observe_amp(function: Callable, trial: AmpTrial) -> Observation:
    """Run a loop in mixed precision. Returns also the scaler's calls, its scale, and the dtypes the model computed in."""
    scaler = CountingScaler(trial.loop.problem.device, init_scale=trial.scale, growth_interval=trial.growth_interval)
    dtypes: set[str] = set()
    converted: list[bool] = []

    def note(layer: nn.Module, inputs: Any, out: Tensor) -> None:
        scaler.note_forward()
        dtypes.add(str(out.dtype).removeprefix("torch."))
        # A weight that is cast for a call, as functional_call may, is no leaf: its gradient reaches a parameter in float32.
        converted.append(layer.weight.dtype != torch.float32 and bool(layer.weight.is_leaf))

    def loop(
        model: nn.Module,
        loss_fn: Callable,
        optimizer: torch.optim.Optimizer,
        micro_batches: Iterable[MicroBatch],
        accumulation_steps: int,
    ) -> object:
        before = copy.deepcopy(model) if trial.telling or trial.cancelling else model
        hooks = [layer.register_forward_hook(note) for layer in model.modules() if isinstance(layer, nn.Linear)]
        precision = getattr(torch, trial.precision)
        batches = [(x, torch.full_like(y, torch.inf) if k == trial.broken else y) for k, (x, y) in enumerate(micro_batches)]
        if trial.telling:
            batches = [(x, _near_outputs(before, x, y, precision)) for x, y in batches]
        if trial.cancelling:
            batches = _opposite(before, batches, precision)
        try:
            return function(model, loss_fn, optimizer, scaler, batches, accumulation_steps, trial.max_norm, precision)
        finally:
            for hook in hooks:
                hook.remove()
            converted.append(any(parameter.dtype != torch.float32 for parameter in model.parameters()))

    seen = observe_loop(loop, trial.loop)
    if "changed" in seen.facts:  # precision was to be changed
        seen = replace(seen, facts=seen.facts | {"changed": [what for what in seen.facts["changed"] if what != "precision"]})
    facts: dict[str, Any] = {"scale": scaler.get_scale(), "dtypes": sorted(dtypes), "last_calls": scaler.last}
    facts["converted"] = any(converted)
    return replace(seen, facts=seen.facts | scaler.calls | facts)


OBSERVERS = {
    "train_epoch_clipped": observe_clipped,
    "train_epoch_amp": observe_amp,
    "accumulate_in_float32": observe_float32_sums,
}
