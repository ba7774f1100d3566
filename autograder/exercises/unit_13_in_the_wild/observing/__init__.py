"""Running a repaired trainer and a regression test, and asking for the names of fingerprints."""

from __future__ import annotations

from autograder.exercises.unit_13_in_the_wild.observing.trainers import observe_repaired, observe_test
from autograder.observing.calls import observe_call

OBSERVERS = {
    "name_those_trainers": observe_call,
    "RepairedTrainer": observe_repaired,
    "accumulates_right": observe_test,
}
