"""What there is to say of a watched run, all of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gradaccum.diagnosis.catalogue import Mistake
from gradaccum.fingerprint_words import listing
from gradaccum.watching.guard import note_fault
from gradaccum.watching.held import names_of
from gradaccum.watching.holdings import Holdings
from gradaccum.watching.log import Log
from gradaccum.watching.matrices import matrices_of
from gradaccum.watching.verdict import Judged, judge


@dataclass(frozen=True)
class Report:
    """A report on a run, or on what all ranks of a run showed.

    Attributes:
        updates, backwards: how many were seen.
        judged: the verdict on each matrix, the main one first.
        mistakes: what explains that something is not due; empty if all is, or if it cannot be told.
        reasons: why the run, or a part of it, cannot be judged.
        notes: what else there is to say.
        fault: traceback of an error of ours; empty if there was none.
    """

    updates: int
    backwards: int
    judged: tuple[Judged, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    fault: str = ""


def report_of(log: Log, holdings: Holdings, steps: int | None) -> Report:
    """The report on what a run showed. If that cannot be made for a fault of ours, this is what it says."""
    if not log.fault:
        try:
            return _Judging(log, holdings, steps).report()
        except Exception as error:
            note_fault(log, error)
    return Report(len(log.updates), log.backwards, reasons=tuple(log.cannot_tell), notes=tuple(log.notes), fault=log.fault)


class _Judging:
    def __init__(self, log: Log, holdings: Holdings, steps: int | None):
        self._log, self._holdings = log, holdings
        matrices = sorted(matrices_of(log, holdings, steps), key=lambda m: (not m.main, -len(m.columns), -m.entries))
        scales = sorted({float(scale) for scale in log.scales})
        self._judged = tuple(judge(matrix, steps, log.ranks, log.finished, scales) for matrix in matrices)

    def report(self) -> Report:
        log = self._log
        reasons = dict.fromkeys([*log.cannot_tell, *self._nothing(), *(one.reason for one in self._judged if one.reason)])
        of_shares = [] if log.cannot_tell else [note for one in self._judged for note in one.notes]
        notes = dict.fromkeys([*log.notes, *self._seen_aside(), *of_shares])
        return Report(len(log.updates), log.backwards, self._judged, self._mistakes(), tuple(reasons), tuple(notes))

    def _mistakes(self) -> tuple[Mistake, ...]:
        if self._log.cannot_tell:
            return tuple(self._outside_of_cache())
        found = [mistake for one in self._judged for mistake in one.mistakes]
        if self._log.clipped_inside:  # this explains rows that nothing else explains
            found = [mistake for mistake in found if mistake.slug != "not-due"]
        every = (*self._clipped_inside(), *self._clipped_scaled(), *found, *self._never_updated(), *self._for_nothing())
        return tuple({mistake.slug: mistake for mistake in every}.values())

    def _seen_aside(self) -> Iterator[str]:
        if self._holdings.decayed:
            yield "Before updates a multiple of the parameters was added to their gradients, as weight decay does."
        if self._log.aside():
            yield "Gradients were taken with torch.autograd.grad: which updates hold them is not seen."
        if self._log.world > 1:
            averaged = "" if self._log.ranks > 1 else ", and gradients were not seen to be averaged over them"
            yield (
                f"There are {self._log.world} ranks{averaged}: this is of rank {self._log.rank} alone. seen.joined(), called "
                "on all ranks, judges them together."
            )

    def _never_updated(self) -> Iterator[Mistake]:
        """Parameters that backwards reached and that are in no update."""
        inside = {key for update in self._log.updates for key in (*update.rows, *update.unknown)}
        left = [one for key, one in self._holdings.held.items() if one.touched and key not in inside]
        if left and (inside or (self._log.idle and not self._log.updates)):
            message = f"{names_of(left)} get gradients, but no optimizer ever updates them."
            yield Mistake("never-updated", message, "Which parameters was the optimizer made with?")

    def _outside_of_cache(self) -> Iterator[Mistake]:
        """Parameters that the features in a cached loss do not come from, such as a temperature."""
        times = max(self._log.alike.values(), default=0)
        if times:
            message = (
                f"{listing(self._log.alike)}: the same gradient in each of the {times} backwards of an update, where each "
                f"adds to other parameters only their own micro-batch's part. Next to those, it is {times} times too large."
            )
            hint = "Divide the gradient of what is not behind cached features by the number of backwards."
            yield Mistake("outside-of-cache", message, hint)

    def _clipped_inside(self) -> Iterator[Mistake]:
        if self._log.clipped_inside:
            message = "Gradients are clipped before all micro-batches of a window have been added: the earlier ones weigh less."
            yield Mistake(
                "clip-per-micro-batch",
                message,
                "What should be clipped: each micro-batch's gradient, or what the update holds?",
            )

    def _clipped_scaled(self) -> Iterator[Mistake]:
        if self._log.clipped_scaled:
            message = "Gradients are clipped while they are still multiplied by the loss scaler's factor."
            yield Mistake("clip-before-unscale", message, "What should come first: scaler.unscale_(optimizer), or clipping?")

    def _for_nothing(self) -> Iterator[Mistake]:
        """Updates after which no backward came until the next."""
        times = self._log.for_nothing
        if times:
            message = f"{counted(times, 'update')} came without a backward since the one before, with gradients that were zero."
            yield Mistake(
                "empty-update", message, "Momentum and weight decay still move the parameters then. Who updates twice?"
            )

    def _nothing(self) -> Iterator[str]:
        log = self._log
        if log.backwards == len(log.aside()):
            yield "No backward was seen that reached the watched parameters."
        elif not log.updates:
            yield "No update was seen: no optimizer updated the watched parameters."
        elif not self._judged:
            yield "No loss was seen in these backwards. Point it out: gradaccum.loss_seen(loss, count), or watch(…, loss=…)."


def counted(number: int, word: str) -> str:
    """A number of things in words."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
