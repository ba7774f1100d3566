"""What the forwards of the model show: how many there were, of what, and in which mode."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Sequence
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn

from gradaccum.watching import sketch
from gradaccum.watching.held import Held
from gradaccum.watching.log import Log


class Forwards:
    """The forwards of one model, or of its parts if these are called one by one.

    Attributes:
        count: of forwards with gradients.
        sampled: samples that these had.
    """

    def __init__(self, log: Log):
        self._log = log
        self.count, self.sampled = 0, 0.0
        self._with_gradients = self._without = 0  # since the last update
        self._inputs: dict[tuple[int, int], weakref.ref[Tensor]] = {}  # since the last update, by module and backward

    def look(self, module: nn.Module, inputs: tuple, named: dict[str, Any], in_backward: bool = False) -> None:
        """A forward begins. Checkpointing runs it with gradients in the backward, and maybe without them before."""
        checkpointed = (in_backward or not torch.is_grad_enabled()) and _is_checkpointed()
        if checkpointed and in_backward:
            return
        if not torch.is_grad_enabled() and not checkpointed:
            self._without += module.training
            return
        if not module.training:
            self._log.notes["The model was in evaluation mode in forwards that it learned from."] = None
        self._with_gradients += 1
        given = next((value for value in (*inputs, *named.values()) if isinstance(value, Tensor)), None)
        if given is None:
            return
        self.count += 1
        self.sampled += len(given) if given.dim() else 0
        for (part, backward), known in self._inputs.items():
            if known() is given and part == id(module) and backward != self._log.backwards:
                self._log.repeated.add(self._log.backwards)
        self._inputs[id(module), self._log.backwards] = weakref.ref(given)

    def updated(self, of: Sequence[Held]) -> None:
        """An optimizer has updated these parameters. Were all forwards of this update also run without gradients?

        Their outputs may then be in the losses of others. A parameter that is not behind these outputs, such as a temperature,
        gets the same gradient in every backward.
        """
        if self._without and self._without == self._with_gradients:
            self._log.cannot_tell[
                "Every micro-batch went through the model twice, first without gradients: a loss may hold features of other "
                "micro-batches, and then says nothing of shares."
            ] = None
            alike = [held for held in of if len(held.parts) > 1 and sketch.are_alike(list(held.parts.values()))]
            most = max((c for held in of if held not in alike for c in held.holding.values()), default=0.0)
            whole = (held for held in alike if max(held.holding.values(), default=0.0) > 0.99 * most > 0)
            self._log.alike.update({held.name: len(held.parts) for held in whole})
        self._with_gradients = self._without = 0
        self.forget_inputs()

    def forget_inputs(self) -> None:
        """From now on an input that comes again is of another update."""
        self._inputs.clear()


def _is_checkpointed() -> bool:
    """Whether it is torch's checkpointing that runs this forward."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") == "torch.utils.checkpoint":
            return True
        frame = frame.f_back
    return False
