"""What was seen of a watched run: matrices, mistakes and notes, as text, as HTML and as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradaccum.diagnosis.catalogue import Mistake
from gradaccum.fingerprint import Fingerprint
from gradaccum.watching.excerpt import excerpt
from gradaccum.watching.joining import SECONDS, joined_report
from gradaccum.watching.matrices import Matrix
from gradaccum.watching.report import Report, counted, report_of

if TYPE_CHECKING:
    from gradaccum.watching.holdings import Holdings
    from gradaccum.watching.log import Log

DUE, NOT_DUE, CANNOT_TELL = "due", "not due", "cannot tell"


class NotDueError(AssertionError):
    """The updates of a trainer do not hold what is due."""


class CannotTellError(RuntimeError):
    """What the updates of a trainer hold could not be judged; this is not a pass."""


class Seen:
    """What was seen of a run, or on all ranks of a run. It is looked at once the run is over."""

    def __init__(self, log: Log, holdings: Holdings, accumulation_steps: int | None, report: Report | None = None):
        self._log, self._holdings, self._steps, self._made = log, holdings, accumulation_steps, report
        self._made_of: tuple = ()

    @property
    def _report(self) -> Report:
        """The report on what was seen until now."""
        now = (len(self._log.losses), self._log.backwards, len(self._log.updates), self._log.finished, self._log.fault)
        if self._made is None or (self._made_of and self._made_of != now):
            self._made, self._made_of = report_of(self._log, self._holdings, self._steps), now
        return self._made

    def joined(self, seconds: float = SECONDS) -> Seen:
        """What all ranks saw, judged together; the same on each. Every rank has to call this, in the same order.

        Raises:
            TimeoutError: another rank did not call it in so many seconds.
            RuntimeError: there is only one rank.
        """
        if self._made is not None and not self._made_of:
            return self
        return Seen(self._log, self._holdings, self._steps, joined_report(self._report, self._log, self._steps, seconds))

    @property
    def outcome(self) -> str:
        """``"due"``, ``"not due"`` or ``"cannot tell"``."""
        if self.mistakes:
            return NOT_DUE
        return CANNOT_TELL if self._report.reasons else DUE

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
        return tuple(one.matrix.fingerprint(one.matrix.rows) for one in self._report.judged)

    @property
    def mistakes(self) -> tuple[Mistake, ...]:
        """What explains that something is not due; empty if all is, or if it cannot be told."""
        return self._report.mistakes

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences: what could not be judged and why, constant factors, clipping, skipped updates."""
        return tuple(dict.fromkeys([*self._report.reasons, *self._report.notes]))

    @property
    def fault(self) -> str:
        """The traceback of an error in gradaccum that ended the watching, or empty. The run went on without it."""
        return self._report.fault

    @property
    def _main(self) -> Matrix | None:
        judged = self._report.judged
        return judged[0].matrix if judged else None

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
            found, due, shown = excerpt(self.fingerprint, self.due)
            lines += ["Found:", found.as_text()]
            lines += ["Due:", due.as_text()] if self.outcome == NOT_DUE else []
            lines += [shown] if shown else []
        return "\n".join([*lines, *(f"Note: {note}" for note in self.notes)])

    __repr__ = __str__

    def _headline(self) -> str:
        updates, backwards = self._report.updates, self._report.backwards
        said = {DUE: "The updates hold what is due", NOT_DUE: "The updates do not hold what is due"}
        head = said.get(self.outcome, "It cannot be told whether the updates hold what is due")
        return f"{head}: {counted(updates, 'update')}, {backwards} backward {'pass' if backwards == 1 else 'passes'}."

    def _repr_html_(self) -> str:
        from gradaccum.watching.page import as_html

        return as_html(self)

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "outcome": self.outcome,
            "updates": self._report.updates,
            "backwards": self._report.backwards,
            "mistakes": [{"slug": mistake.slug, "message": mistake.message} for mistake in self.mistakes],
            "notes": list(self.notes),
            **({"fault": self.fault} if self.fault else {}),
            "matrices": [
                {
                    "loss": one.matrix.loss,
                    "parameters": one.matrix.parameters,
                    "outcome": {True: DUE, False: NOT_DUE, None: CANNOT_TELL}[one.due],
                    "counts": [column.count for column in one.matrix.columns],
                    "found": one.matrix.rows.tolist(),
                    "due": one.matrix.due.tolist(),
                }
                for one in self._report.judged
            ],
        }
