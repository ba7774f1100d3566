"""The loop that trains in many ways: the right one is the large batch, update by update; every other one is not."""

from __future__ import annotations

import functools
import warnings

import pytest
import torch

from gradaccum.capstone.config import Config
from gradaccum.capstone.run import History
from gradaccum.capstone.text import tokens_in
from gradaccum.capstone.variants import MISTAKES, RIGHT, joined, large_batches, train
from gradaccum.diagnosis.search import each_alone
from gradaccum.problems import flat_parameters

CONFIG = Config(seed=5, lines=43, dtype="float64", warmup=2, decay=True)
CLIPPED = CONFIG.with_(optimizer="sgd", lr=1.0, max_norm=0.02)


def weights(loop, config: Config) -> tuple[torch.Tensor, History]:
    runs = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        history = loop(config.with_(watch=runs.append))
    return flat_parameters(runs[-1].model), history


@functools.cache
def right_end(config: Config) -> tuple[torch.Tensor, History]:
    """Where the right way ends; several tests compare with it."""
    return weights(train, config)


def apart(one: torch.Tensor, other: torch.Tensor, config: Config) -> float:
    start = flat_parameters(config.build_model())
    return float((one - other).norm() / (other - start).norm())


@pytest.mark.parametrize("config", [CONFIG, CLIPPED])
def test_the_right_way_equals_the_large_batch_update_by_update(config):
    (found, history), (due, large) = right_end(config), weights(large_batches, config)
    assert apart(found, due, config) < 1e-10
    for name in ("losses", "norms", "rates", "tokens"):
        assert getattr(history, name) == pytest.approx(getattr(large, name), rel=1e-9)
    assert history.updates == config.updates


@pytest.mark.parametrize(("variant", "slugs"), [pytest.param(*one, id=one.mistakes[0]) for one in each_alone(MISTAKES)])
@pytest.mark.slow
def test_every_wrong_way_ends_elsewhere_with_at_least_one_config(variant, slugs):
    if slugs == ("stale-start",):
        return  # a fresh run has nothing in .grad
    distances = (
        apart(weights(lambda c: train(c, variant), config)[0], right_end(config)[0], config) for config in (CONFIG, CLIPPED)
    )
    assert any(distance > 1e-3 for distance in distances)


@pytest.mark.parametrize("stop", range(1, 8))
def test_a_run_stopped_after_any_update_and_resumed_ends_where_an_uninterrupted_run_ends(stop, tmp_path):
    path = str(tmp_path / "run.pt")
    stopped = train(CONFIG.with_(checkpoint=path, stop_after=stop))
    found, history = weights(train, CONFIG.with_(checkpoint=path))
    due, whole = right_end(CONFIG)
    assert stopped.updates == stop
    assert torch.equal(found, due)
    assert history.losses == whole.losses


@pytest.mark.parametrize("forgotten", ["model", "optimizer", "scheduler", "place", "epoch"])
def test_a_run_that_forgets_something_ends_elsewhere(forgotten, tmp_path):
    path = str(tmp_path / "run.pt")
    train(CONFIG.with_(checkpoint=path, stop_after=6))
    found, _ = weights(lambda c: train(c, RIGHT._replace(forget=forgotten)), CONFIG.with_(checkpoint=path))
    assert apart(found, right_end(CONFIG)[0], CONFIG) > 1e-3


def test_a_joined_window_has_all_its_lines_and_tokens():
    window = list(Config(lines=7, micro_batch_size=3).micro_batches(0))
    x, y = joined(window)
    assert len(x) == 7
    assert tokens_in(y) == sum(tokens_in(b) for _, b in window)
