"""Watching says of loops in the style of public trainers what their fingerprint says, which is read with frozen parameters."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path

import pytest
import torch

import gradaccum
from gradaccum.diagnosis.naming import name_mistakes
from gradaccum.fingerprint import fingerprint
from gradaccum.loops.tokens import as_loop
from gradaccum.problems import Problem
from gradaccum.ranks import single_rank
from gradaccum.token_problems import TokenProblem

SUBMISSIONS = Path(__file__).parents[2] / "submissions"
N = 4
EPOCHS = ((2, 3, 1, 4, 2, 5, 2, 1, 3, 4), (3, 2, 1, 4, 2, 2, 1), (2, 3))
PROBLEM = Problem(seed=3, accumulation_steps=N, epochs=EPOCHS, width=8)
LENGTHS = (((2, 3), (4, 1), (5, 2), (1,), (3, 3), (6, 2), (4,), (2, 5), (3, 1), (5,)), ((3,), (2, 6), (1, 4), (5, 5), (2,), (4, 3)))
TOKENS = TokenProblem(seed=3, accumulation_steps=N, lengths=LENGTHS)


def load(path: Path):
    spec = importlib.util.spec_from_file_location(f"watched_{path.stem}", path)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def windows_of(function):
    def loop(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        stream = iter(micro_batches)
        while window := list(itertools.islice(stream, accumulation_steps)):
            function(model, loss_fn, window)
            optimizer.step()

    return loop


def scheduled(function):
    def loop(model, loss_fn, optimizer, *rest):
        return function(model, loss_fn, optimizer, torch.optim.lr_scheduler.ConstantLR(optimizer, 1.0), *rest)

    return loop


def scaled(function):
    def loop(model, loss_fn, optimizer, *rest):
        return function(model, loss_fn, optimizer, torch.amp.GradScaler("cpu", init_scale=4.0), *rest, 1e9, torch.float32)

    return loop


def on_one_rank(function):
    def loop(model, *rest):
        return function(torch.nn.parallel.DistributedDataParallel(model), *rest)

    return loop


AS_LOOP = {
    "accumulate_gradient": windows_of,
    "train_epoch": lambda function: function,
    "train_with_schedule": scheduled,
    "train_epoch_clipped": lambda function: lambda *given: function(*given, 1e9),
    "train_epoch_amp": scaled,
    "train_epoch_tokens": as_loop,
    "ddp_train_epoch": on_one_rank,
}
"""How the answer to an exercise becomes a loop over the micro-batches of an epoch; others are no such loops."""

LOOPS = [one for one in load(SUBMISSIONS / "public_loops.py").public_loops() if one.exercise in AS_LOOP]


def watched(loop, problem) -> gradaccum.watching.Seen:
    model = problem.build_model()
    optimizer = problem.build_optimizer(model)
    with gradaccum.watch(model, accumulation_steps=N) as seen:
        for epoch in range(len(problem.epochs)):
            loop(model, problem.loss_fn, optimizer, problem.micro_batches(epoch), N)
    return seen


SEEN_AS = {}


@pytest.mark.filterwarnings("ignore:In CPU autocast")
@pytest.mark.parametrize("public", LOOPS, ids=lambda public: f"{public.unit[:2]} {public.path.stem}")
def test_public_loop_is_named_as_by_its_fingerprint(public):
    problem = TOKENS if public.exercise == "train_epoch_tokens" else PROBLEM
    loop = AS_LOOP[public.exercise](getattr(load(public.path), public.exercise))
    with single_rank():
        named = name_mistakes(fingerprint(loop, problem), problem)
        seen = watched(loop, problem)
    print(public.path.stem, named, [m.slug for m in seen.mistakes] or seen.outcome)
    due = SEEN_AS.get(public.path.stem, named)
    said = tuple(mistake.slug.removeprefix("token-") for mistake in seen.mistakes)
    assert sorted(said) == sorted(due or ()), str(seen)
