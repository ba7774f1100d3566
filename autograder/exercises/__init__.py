"""The exercises of the course, one file per unit; importing this package registers them all."""

import gc

import torch  # noqa: F401

gc.freeze()  # what torch has brought stays; to look through it takes 0.1 s, whenever Python collects, be it in a check

from autograder.exercises import (  # noqa: E402
    unit_00,
    unit_01,
    unit_02,
    unit_03,
    unit_04,
    unit_05,
    unit_06,
    unit_07,
    unit_08,
    unit_09,
    unit_10,
    unit_11,
    unit_12,
)

__all__ = [
    "unit_00",
    "unit_01",
    "unit_02",
    "unit_03",
    "unit_04",
    "unit_05",
    "unit_06",
    "unit_07",
    "unit_08",
    "unit_09",
    "unit_10",
    "unit_11",
    "unit_12",
]
