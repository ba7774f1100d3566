"""Small, seeded, deterministic training problems, and the vectors of numbers that are read off their models.

Problems whose samples are sequences of tokens or pairs are in modules of their own.
"""

from gradaccum.problems.ingredients import (
    LossFn,
    MicroBatch,
    TrainingGate,
    best_dtype,
    fill_stale_gradient,
    fill_with_infinity,
    joined,
    seeded_generator,
)
from gradaccum.problems.parameters import flat_gradient, flat_gradients, flat_parameters, flat_values, trainable
from gradaccum.problems.problem import FEATURES, OUTPUTS, ProbeModel, Problem, coupling

__all__ = [
    "FEATURES",
    "OUTPUTS",
    "LossFn",
    "MicroBatch",
    "ProbeModel",
    "Problem",
    "TrainingGate",
    "best_dtype",
    "coupling",
    "fill_stale_gradient",
    "fill_with_infinity",
    "flat_gradient",
    "flat_gradients",
    "flat_parameters",
    "flat_values",
    "joined",
    "seeded_generator",
    "trainable",
]
