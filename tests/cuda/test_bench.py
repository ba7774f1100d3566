"""The bench on a GPU: what loops are seen to do there is what they do on the CPU."""

from __future__ import annotations

import pytest
import torch

from gradaccum.capstone import variants as capstone
from gradaccum.capstone.config import LARGE
from gradaccum.fingerprint import expected, fingerprint
from gradaccum.loops import GALLERY
from gradaccum.loops.contrastive import cached_features
from gradaccum.loops.tokens import TOKEN_LOOPS, as_loop
from gradaccum.phenomena import load, names
from gradaccum.problems import Problem
from gradaccum.problems.contrastive import ContrastiveProblem, gradients
from gradaccum.problems.tokens import TokenProblem
from gradaccum.recording import record

UNEVEN = Problem(3, 3, ((2, 1, 4, 3, 2), (1, 2)), stale=True, gated=True, width=8)


def close(found: torch.Tensor, due: torch.Tensor, tolerance: float = 1e-9) -> bool:
    """Up to the rounding of float64 on two kinds of processors; a wrong loop is off by more than 1e-2."""
    return found.shape == due.shape and torch.allclose(found.cpu(), due.cpu(), rtol=tolerance, atol=tolerance)


def same_fingerprint(loop, problem: Problem, device: str) -> bool:
    return fingerprint(loop, problem.with_(device=device)).same_as(fingerprint(loop, problem))


@pytest.mark.parametrize("slug", GALLERY)
def test_a_loop_has_the_fingerprint_it_has_on_the_cpu(slug):
    assert same_fingerprint(GALLERY[slug], UNEVEN, "cuda")


def test_the_right_loop_has_the_right_fingerprint():
    assert fingerprint(GALLERY["right"], UNEVEN.with_(device="cuda")).same_as(expected(UNEVEN))


@pytest.mark.parametrize("frozen", [True, False])
def test_a_recording_says_what_it_says_on_the_cpu(frozen):
    here, there = (
        record(GALLERY["right"], UNEVEN.with_(device=device), frozen=frozen, meter=True) for device in ("cpu", "cuda")
    )
    for name in ("gradients", "movements", "parameters"):
        assert close(getattr(there, name), getattr(here, name))
    assert [(e.kind, e.epoch, e.size, e.micro_batch) for e in there.events] == [
        (e.kind, e.epoch, e.size, e.micro_batch) for e in here.events
    ]
    assert there.update_epochs == here.update_epochs
    assert there.peak_bytes > 0


def test_loops_over_tokens_have_the_fingerprint_they_have_on_the_cpu():
    problem = TokenProblem(seed=2, accumulation_steps=2, lengths=(((4, 7), (5, 2), (6, 3)),), width=8)
    for function in TOKEN_LOOPS.values():
        assert same_fingerprint(as_loop(function), problem, "cuda")


def test_contrastive_gradients_are_those_of_the_cpu():
    here, there = (gradients(cached_features, ContrastiveProblem(device=device)) for device in ("cpu", "cuda"))
    assert all(close(a, b) for a, b in zip(there, here, strict=True))


@pytest.mark.parametrize("name", names())
def test_an_explorable_opens_where_there_is_a_gpu(name):
    from matplotlib.figure import Figure

    phenomenon = load(name)
    result = phenomenon.compute(phenomenon.Settings())
    phenomenon.draw(result, Figure(phenomenon.SIZE))
    assert phenomenon.describe(result)


def test_a_short_run_of_the_capstone_s_large_preset_learns(record_property):
    config = LARGE.with_(device="cuda", lines=2048, epochs=2, micro_batch_size=64, warmup=4)
    history = capstone.train(config)
    assert history.updates == config.updates
    assert history.losses[-1] < 0.9 * history.losses[0]
    tokens = sum(history.tokens) / history.seconds[-1]
    record_property("figure", f"unit 12's large preset, micro-batches of 64 lines: {tokens:,.0f} tokens per second")
