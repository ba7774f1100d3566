"""What a function leaves behind: what it attached to models, optimizers and the like that it was given; settings; a seed."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterable, Iterator
from types import MethodType
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.amp import GradScaler
from torch.nn.parallel import DistributedDataParallel
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler
from torch.utils._pytree import tree_leaves

from autograder.observing.settings import LEFT_CHANGED, settings_put_back

_OF_MODULES = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
_HOOKS: dict[type, tuple[str, ...]] = {
    DistributedDataParallel: (*_OF_MODULES, "_comm_hooks"),
    nn.Module: _OF_MODULES,
    Tensor: ("_backward_hooks", "_post_accumulate_grad_hooks"),
    Optimizer: ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks"),
    LRScheduler: (),
    GradScaler: (),
}
"""Where torch keeps the hooks of what functions are given, if it can have any."""

Thing = nn.Module | Tensor | Optimizer | LRScheduler | GradScaler
"""What things can be attached to."""

_TORCHS_OWN = ("_opt_called", "step")
"""Attributes of an optimizer that torch's schedulers set."""

_SCHEDULED = "initial_lr"
"""What a scheduler of torch notes in each group of its optimizer, whose rate and momentum it changes from then on."""

HOOK = "Your function leaves a hook behind, which goes on acting after the call. Remove it through its handle."
ATTRIBUTE = (
    "Your function leaves an attribute on something that it was given, such as a model or an optimizer. Keep what you need in "
    "variables."
)
SETTING = "Your function leaves a setting of a layer changed, such as the probability of a dropout. Put it back."
REPLACED = "Your function leaves the optimizer with another step() than it had. Put the method back."
OPTIMIZER = (
    "Your function leaves a setting of the optimizer changed, such as its learning rate or its momentum. Every later update "
    "would be made with it. Put it back."
)
SEED = "Your function seeds torch's random numbers, so all that runs later draws different ones. Leave the seeding out."

NO_USUAL_SEED = 7_420_183
"""What the seed of torch's random numbers seems to be when a function is called. If it is another one then, it was set."""

ROUNDED = 1e-9
"""Relative difference up to which a setting is the one that it was: dividing and multiplying leaves 1e-16 each time."""

_noted: list[str] = []
"""What calls have left since :func:`notes` was last called, in this process."""


class _Owner(NamedTuple):
    """Something that things can be attached to, and what it held before a call; what that means is asked only of changes."""

    thing: Thing
    hooks: int
    held: dict[str, object]
    rules: list[dict[str, object]]

    def left(self) -> Iterator[str]:
        """What is said of what is attached now and was not before."""
        now = _owner(self.thing)
        if now.hooks > self.hooks:
            yield HOOK
        changed = {name: value for name, value in now.held.items() if name not in self.held or value is not self.held[name]}
        if any(name not in self.held and not self._may_have(name, value) for name, value in changed.items()):
            yield ATTRIBUTE
        if isinstance(self.thing, nn.Module) and any(
            _is_setting(name, value) and _is_setting(name, self.held.get(name)) and not _as_before(value, self.held[name])
            for name, value in changed.items()
        ):
            yield SETTING
        if isinstance(self.thing, Optimizer) and "step" in changed and not self._may_step_by(changed["step"]):
            yield REPLACED
        # Groups that were added have no settings that could have changed, and a new scheduler takes its own into its hands.
        groups = zip(self.rules, now.rules, strict=False)
        if any(name in after and not _as_before(after[name], value) for was, after in groups for name, value in was.items()):
            yield OPTIMIZER

    def _may_have(self, name: str, value: object) -> bool:
        """Whether a new attribute is torch's own, or the method of this name that the class has, put back."""
        return name in _TORCHS_OWN or self._is_own_method(name, value)

    def _may_step_by(self, step: object) -> bool:
        """Whether the class or a scheduler of torch has put this method there."""
        return self._is_own_method("step", step) or hasattr(step, "_wrapped_by_lr_sched")

    def _is_own_method(self, name: str, value: object) -> bool:
        return isinstance(value, MethodType) and value.__func__ is getattr(type(self.thing), name, None)


def noting(function: Callable) -> Callable:
    """The function, which notes after each call what it leaves attached to its arguments. A class is returned as it is.

    The models that it is called with live as long as the function, so that none has the id that another had: what a function
    keeps by id must not make marks depend on chance.
    """
    if isinstance(function, type):
        return function
    models: list[nn.Module] = []

    @functools.wraps(function)
    def call(*arguments: object, **keywords: object) -> object:
        before = [_owner(thing) for thing in _things((arguments, keywords))]
        models.extend(value for value in tree_leaves((arguments, keywords)) if isinstance(value, nn.Module))
        # What saves or restores the random numbers of a run must see their state as it is.
        seeding = contextlib.nullcontext() if any(map(_restores, arguments)) else seeding_noted()
        with seeding, settings_put_back() as changed:
            returned = function(*arguments, **keywords)
        _noted.extend(map(LEFT_CHANGED.format, changed))
        _noted.extend(message for owner in before for message in owner.left())
        return returned

    return call


@contextlib.contextmanager
def seeding_noted() -> Iterator[None]:
    """Note it if torch's random numbers are seeded in the block."""
    _rename_seed()
    yield
    if torch.initial_seed() != NO_USUAL_SEED:
        _noted.append(SEED)


def _rename_seed() -> None:
    """Let torch's generator say that it was seeded with :data:`NO_USUAL_SEED`. What it draws stays the same."""
    state = torch.default_generator.get_state()
    storage = state.untyped_storage()  # it begins with the seed; writing into it is no operation that a meter would count
    for place, byte in enumerate(NO_USUAL_SEED.to_bytes(8, "little")):
        storage[place] = byte
    torch.default_generator.set_state(state)


def notes() -> list[str]:
    """What calls have left since this was last asked, as sentences."""
    noted = list(_noted)
    _noted.clear()
    return noted


def _things(given: object) -> Iterator[Thing]:
    """The models with their layers and parameters, and all else that is no container, in nested ones or in plain objects."""
    for value in tree_leaves(given):
        if isinstance(value, nn.Module):
            yield from _parts(value)
        elif isinstance(value, Thing):
            yield value
        elif _is_run(value):
            for held in vars(value).values() if hasattr(value, "__dict__") else ():
                if isinstance(held, nn.Module):
                    yield from _parts(held)
                elif isinstance(held, Thing) and not isinstance(held, Tensor):
                    yield held


def _is_run(value: object) -> bool:
    """Whether it is an object of the course that has a model and an optimizer."""
    return type(value).__module__.startswith("gradaccum.") and not isinstance(value, nn.Module)


def _restores(value: object) -> bool:
    """Whether it is a run that can be saved and loaded, of which torch's random numbers are a part."""
    return type(value).__module__ == "gradaccum.resuming"


def _parts(model: nn.Module) -> Iterable[nn.Module | Tensor]:
    return (*model.modules(), *model.parameters())


def _owner(thing: Thing) -> _Owner:
    held = dict(vars(thing))
    if isinstance(thing, DistributedDataParallel):  # what it keeps for itself changes from pass to pass, and may be new
        held = {name: None for name in held if not name.startswith("_")}
    rules = [_rule(group) for group in thing.param_groups] if isinstance(thing, Optimizer) else []
    kind: type = type(thing)
    return _Owner(thing, sum(len(getattr(thing, name, None) or ()) for name in _hooks_of(kind)), held, rules)


@functools.cache
def _hooks_of(kind: type) -> tuple[str, ...]:
    """Where things of a type keep their hooks."""
    return next((names for base, names in _HOOKS.items() if issubclass(kind, base)), ())


def _rule(group: dict[str, object]) -> dict[str, object]:
    """The settings of a group of parameters, without those that a scheduler may have changed."""
    scheduled = ("lr", "momentum", "betas") if _SCHEDULED in group else ()
    return {name: value for name, value in group.items() if name != "params" and name not in scheduled}


def _as_before(now: object, before: object) -> bool:
    """Whether a setting has its value again, which may be rounded: 0.1 / 11 * 11 is not 0.1."""
    if isinstance(now, float) and isinstance(before, float):
        return math.isclose(now, before, rel_tol=ROUNDED)
    return now == before


def _is_setting(name: str, value: object) -> bool:
    return isinstance(value, bool | int | float | str) and name != "training" and not name.startswith("_")
