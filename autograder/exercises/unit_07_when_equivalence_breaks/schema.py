"""What can be observed of a model that a function returned, and of functions that compute plain values."""

from __future__ import annotations

from autograder.contract.schema import (
    MAX_ENTRIES,
    Array,
    DictOf,
    Fact,
    Form,
    ListOf,
    Maybe,
    Number,
    Record,
    Schema,
    Text,
    Truth,
    Whole,
)
from autograder.exercises.unit_07_when_equivalence_breaks.observing import NormTrial
from autograder.judging.schemas import NO_VALUE, call_schema

LAYERS = DictOf(
    Record(
        {
            "kind": Text(),
            "groups": Maybe(Whole()),
            "channels": Maybe(Whole()),
            "eps": Maybe(Number()),
            "affine": Maybe(Truth()),
            "bias": Maybe(Truth()),
            "settings": Maybe(Text()),
        }
    )
)

FACTS: dict[str, Fact] = {
    "layers": LAYERS,
    "given": LAYERS,
    "same": Truth(),
    "shared": ListOf(Text(), (0, MAX_ENTRIES)),
    "shared again": Truth(),
    "grads shared": Truth(),
    "tied": ListOf(ListOf(Text(), (2, MAX_ENTRIES)), (0, MAX_ENTRIES)),
    "modes": ListOf(Truth(), 2),
    "dotted": Truth(),
    "frozen": ListOf(Text(), (0, MAX_ENTRIES)),
    "given frozen": ListOf(Text(), (0, MAX_ENTRIES)),
    "grads kept": Truth(),
    "places": DictOf(ListOf(Text(), 2)),
}


def replacement_schema(trial: NormTrial) -> Schema:
    """Tensors of any name and shape, since the student's function chooses the model; what it computes may be missing."""
    measured = {name: Maybe(Array()) for name in ("outputs", "large", "accumulated")}
    return Schema((Form({"state/*": Array(), "given/*": Array(), **measured}, FACTS), NO_VALUE))


SCHEMAS = {
    "replace_batchnorm": replacement_schema,
    "matched_bn_momentum": call_schema,
    "matched_beta": call_schema,
    "breaks_equivalence": call_schema,
}
