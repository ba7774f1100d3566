"""Trainers built as variously as real ones are judged as they should be, and end where they would have ended unwatched."""

from __future__ import annotations

import contextlib
import importlib
from pathlib import Path

import pytest
import torch
from zoo_entries import NOT_DUE, ZOO

import gradaccum

for _file in sorted(Path(__file__).with_name("zoo").glob("zoo_*.py")):
    importlib.import_module(_file.stem)


def run(entry, watch):
    """The values that a model ends with, and the state of the random numbers."""
    torch.manual_seed(0)
    model = entry.run(watch)
    return [*model.state_dict().values(), torch.get_rng_state()]


def ignoring(*args, **kwargs):
    return contextlib.nullcontext()


@pytest.mark.slow
@pytest.mark.parametrize("name", ZOO)
def test_trainer_of_the_zoo_is_judged_as_it_should_be_and_ends_bit_for_bit_where_an_unwatched_one_ends(name):
    entry = ZOO[name]
    reports = []

    @contextlib.contextmanager
    def watching(*args, **kwargs):
        with gradaccum.watch(*args, **kwargs) as seen:
            reports.append(seen)
            yield

    watched = run(entry, watching)
    [seen] = reports
    assert seen.outcome == entry.want, str(seen)
    assert (seen.outcome == NOT_DUE) == bool(seen.mistakes)
    assert entry.words in " ".join(seen.notes)
    for alone, value in zip(run(entry, ignoring), watched, strict=True):
        assert torch.equal(alone.nan_to_num(), value.nan_to_num())


def test_zoo_has_trainers_of_many_builds_and_mistakes_of_many_kinds():
    assert sum(not entry.kind for entry in ZOO.values()) >= 80
    assert len({entry.kind for entry in ZOO.values() if entry.kind}) >= 25
