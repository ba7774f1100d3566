"""What was seen of a watched run: matrices, mistakes and notes, as text, as HTML and as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gradaccum.diagnosis.catalogue import Mistake
from gradaccum.fingerprint import Fingerprint
from gradaccum.fingerprint_words import listing
from gradaccum.watching.held import names_of
from gradaccum.watching.matrices import Matrix, matrices_of
from gradaccum.watching.verdict import Judged, judge

if TYPE_CHECKING:
    from gradaccum.watching.holdings import Holdings
    from gradaccum.watching.watcher import Log

DUE, NOT_DUE, CANNOT_TELL = "due", "not due", "cannot tell"


class NotDueError(AssertionError):
    """The updates of a trainer do not hold what is due."""


class CannotTellError(RuntimeError):
    """What the updates of a trainer hold could not be judged; this is no pass."""


class Seen:
    """What was seen of a run. It can be looked at once the run is over."""

    def __init__(self, log: Log, holdings: Holdings, accumulation_steps: int | None):
        self._log, self._holdings, self._steps = log, holdings, accumulation_steps

    @property
    def outcome(self) -> str:
        """``"due"``, ``"not due"`` or ``"cannot tell"``."""
        if self.mistakes:
            return NOT_DUE
        return CANNOT_TELL if self.reasons else DUE

    @property
    def fingerprint(self) -> Fingerprint | None:
        """Found, of the main loss: the one with most micro-batches in the updates of most parameters."""
        return self._main.fingerprint(self._main.rows) if self._main else None

    @property
    def due(self) -> Fingerprint | None:
        """What is due in its place."""
        return self._main.fingerprint(self._main.due) if self._main else None

    @property
    def fingerprints(self) -> tuple[Fingerprint, ...]:
        """All of them: one per loss and optimizer, and per group of parameters where these differ."""
        return tuple(one.matrix.fingerprint(one.matrix.rows) for one in self.judged)

    @property
    def mistakes(self) -> tuple[Mistake, ...]:
        """What explains that something is not due; empty if all is, or if it cannot be told."""
        if self._log.cannot_tell:
            return tuple(self._outside_of_cache())
        found = [mistake for one in self.judged for mistake in one.mistakes]
        if self._log.clipped_inside:  # this explains rows that nothing else explains
            found = [mistake for mistake in found if mistake.slug != "not-due"]
        return tuple(
            {
                mistake.slug: mistake
                for mistake in (*self._clipped_inside(), *found, *self._never_updated(), *self._for_nothing())
            }.values()
        )

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the run, or a part of it, cannot be judged."""
        return tuple(
            dict.fromkeys([*self._log.cannot_tell, *self._nothing(), *(one.reason for one in self.judged if one.reason)])
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences: what could not be judged and why, constant factors, clipping, skipped updates."""
        of_shares = [] if self._log.cannot_tell else [note for one in self.judged for note in one.notes]
        return tuple(dict.fromkeys([*self.reasons, *self._log.notes, *self._seen_aside(), *of_shares]))

    def _seen_aside(self) -> Iterator[str]:
        if self._holdings.decayed:
            yield "Before updates a multiple of the parameters was added to their gradients, as weight decay does."
        if self._log.aside():
            yield "Gradients were taken with torch.autograd.grad: which updates hold them is not seen."
        if self._log.world > 1 and self._log.ranks == 1:
            yield f"There are {self._log.world} ranks, but not seen to average gradients: this is of one rank alone."

    @cached_property
    def judged(self) -> tuple[Judged, ...]:
        """The verdict on each matrix, the main one first."""
        log = self._log
        matrices = sorted(
            matrices_of(log, self._holdings, self._steps), key=lambda m: (not m.main, -len(m.columns), -m.entries)
        )
        scales = sorted({float(scale) for scale in log.scales})
        return tuple(judge(matrix, self._steps, log.ranks, log.finished, scales) for matrix in matrices)

    @property
    def _main(self) -> Matrix | None:
        return self.judged[0].matrix if self.judged else None

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
                f"{listing(self._log.alike)}: the same gradient in each of the {times} backwards of an update, and so {times} "
                "times that of the large batch; each backward adds to the others only their own micro-batch's part."
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

    def _for_nothing(self) -> Iterator[Mistake]:
        """Updates after which no backward came until the next."""
        times = self._log.for_nothing
        if times:
            message = (
                f"{_counted(times, 'update')} came without a backward since the one before, with gradients that were zero."
            )
            yield Mistake(
                "empty-update", message, "Momentum and weight decay still move the parameters then. Who updates twice?"
            )

    def _nothing(self) -> Iterator[str]:
        log = self._log
        if log.backwards == len(log.aside()):
            yield "No backward was seen that reached the watched parameters."
        elif not log.updates:
            yield "No update was seen: no optimizer updated the watched parameters."
        elif not self.judged:
            yield "No loss was seen in these backwards. Point it out: gradaccum.loss_seen(loss, count), or watch(…, loss=…)."

    def check(self) -> None:
        """Return if found is due.

        Raises:
            NotDueError: it is not; the message is the report. An ``AssertionError``.
            CannotTellError: it cannot be told; the message says why.
        """
        if self.outcome == NOT_DUE:
            raise NotDueError(str(self))
        if self.outcome == CANNOT_TELL:
            raise CannotTellError(str(self))

    def __str__(self) -> str:
        lines = [self._headline()]
        lines += [f"{mistake.slug}: {mistake.message}" for mistake in self.mistakes]
        if self.fingerprint is not None and self.due is not None:
            lines += ["Found:", self.fingerprint.as_text()]
            lines += ["Due:", self.due.as_text()] if self.outcome == NOT_DUE else []
        return "\n".join([*lines, *(f"Note: {note}" for note in self.notes)])

    __repr__ = __str__

    def _headline(self) -> str:
        updates, backwards = len(self._log.updates), self._log.backwards
        said = {DUE: "What the updates hold is due", NOT_DUE: "What the updates hold is not due"}
        head = said.get(self.outcome, "It cannot be told whether what the updates hold is due")
        return f"{head}: {_counted(updates, 'update')}, {_counted(backwards, 'backward')}."

    def _repr_html_(self) -> str:
        from gradaccum.watching.page import as_html

        return as_html(self)

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "outcome": self.outcome,
            "updates": len(self._log.updates),
            "backwards": self._log.backwards,
            "mistakes": [{"slug": mistake.slug, "message": mistake.message} for mistake in self.mistakes],
            "notes": list(self.notes),
            "matrices": [
                {
                    "loss": one.matrix.loss,
                    "parameters": one.matrix.parameters,
                    "outcome": {True: DUE, False: NOT_DUE, None: CANNOT_TELL}[one.due],
                    "counts": [column.count for column in one.matrix.columns],
                    "found": one.matrix.rows.tolist(),
                    "due": one.matrix.due.tolist(),
                }
                for one in self.judged
            ],
        }


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
