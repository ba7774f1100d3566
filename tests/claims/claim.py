"""What an experiment says about a claim of the sources; ``docs/claims.md`` is a table of these."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """One row of the claims ledger.

    Attributes:
        row: its number.
        claim: what is claimed, in our own words.
        verdict: what the experiment found, chosen by its numbers.
        figure: the measured numbers, as a sentence.
        unit: where the course shows it.
    """

    row: int
    claim: str
    verdict: str
    figure: str
    unit: str
