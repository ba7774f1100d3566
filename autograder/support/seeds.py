"""Seeds: numbers that choose the hidden problems of a marking."""

from __future__ import annotations

import hmac
import json
from hashlib import sha256

MAX_SEED = 2**64 - 1

SHORT_SEEDS = 2**32
"""Seeds below this one are people's own choice, or those of classes that were made when seeds had 32 bits."""

TRIAL_BITS = 60
"""Bits of a trial's seed. Trials add small numbers to it, or multiply it by ten, and 64 bits have to hold what comes of it."""

SHORT_TRIAL_BITS = 31
"""The same for short seeds, whose problems stay as they always were."""


def student_seed(secret: str, student: str, unit: str) -> int:
    """The seed for one student's submission to a unit. It tells nothing of the class's secret, nor of any other seed."""
    digest = hmac.digest(secret.encode(), json.dumps([student, unit]).encode(), "sha256")
    return int.from_bytes(digest[:8], "big") | (MAX_SEED + 1) >> 1


def trial_seed(exercise_id: str, seed: int) -> int:
    """The seed that an exercise's trials are made from: a one-way function of the exercise and the seed of the marking.

    Trials hold the seeds of their problems, and the process that runs a submission holds the trials. If those were made from
    the seed itself, student code could read it and so know the hidden problems of every other exercise.
    """
    digest = sha256(f"{exercise_id}/{seed}".encode()).digest()
    bits = SHORT_TRIAL_BITS if seed < SHORT_SEEDS else TRIAL_BITS
    return int.from_bytes(digest[:8], "big") >> (64 - bits)
