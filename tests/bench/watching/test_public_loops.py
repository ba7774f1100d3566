"""Watching says of loops in the style of public trainers what their fingerprint says, which is read with frozen parameters."""

from __future__ import annotations

import copy
import importlib.util
import itertools
import sys
from pathlib import Path

import pytest
import torch
from torch.utils.data import DataLoader

import gradaccum
from gradaccum.capstone.config import Config
from gradaccum.capstone.variants import train_window
from gradaccum.diagnosis.naming import name_mistakes
from gradaccum.fingerprint import fingerprint
from gradaccum.loops.tokens import as_loop
from gradaccum.problems import Problem
from gradaccum.problems.contrastive import ContrastiveProblem
from gradaccum.ranks import single_rank
from gradaccum.token_problems import TokenProblem

pytestmark = pytest.mark.slow

SUBMISSIONS = Path(__file__).parents[2] / "submissions"
N = 4
EPOCHS = ((2, 3, 1, 4, 2, 5, 2, 1, 3, 4), (3, 2, 1, 4, 2, 2, 1), (2, 3))
PROBLEM = Problem(seed=3, accumulation_steps=N, epochs=EPOCHS, width=8)
LENGTHS = (
    ((2, 3), (4, 1), (5, 2), (1,), (3, 3), (6, 2), (4,), (2, 5), (3, 1), (5,)),
    ((3,), (2, 6), (1, 4), (5, 5), (2,), (4, 3)),
)
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

PUBLIC = load(SUBMISSIONS / "public_loops.py").public_loops()
LOOPS = [one for one in PUBLIC if one.exercise in AS_LOOP]


def named(public) -> str:
    return f"{public.unit[:2]} {public.path.stem}"


def watched(loop, problem) -> gradaccum.watching.Seen:
    model = problem.build_model()
    optimizer = problem.build_optimizer(model)
    with gradaccum.watch(model, accumulation_steps=N) as seen:
        data: list = []
        loader = DataLoader(data, batch_size=None)  # it shows where epochs begin
        for epoch in range(len(problem.epochs)):
            data[:] = problem.micro_batches(epoch)
            loop(model, problem.loss_fn, optimizer, loader, N)
    return seen


SEEN_AS = {
    # A trainer may count its windows through all epochs; the exercise forbids it, and watching knows no exercise.
    "public_deepspeed_boundary": ("mean-of-means",),
    # Watching sees the order of clipping and unscaling as well; without a threshold it makes no difference to a fingerprint.
    "public_unet_clips_scaled": ("clip-before-unscale", "mean-of-means", "tail-stale"),
    # Loops that do nothing known: no name, but what is wrong in them is said.
    "public_gpt_divides_by_position": ("not-due",),
    "public_yolo_warmup": ("window-width",),
}
"""What watching says of a loop where that is not what its fingerprint says."""

NO_LOOPS = {
    "RunMeter": "it reports numbers",
    "load_checkpoint": "it reads a file",
    "global_token_scale": "it computes a factor",
    "accumulate_contrastive": "it fills .grad once, from features of all micro-batches; below",
    "train_window": "it trains the capstone's model; below",
}


def test_every_public_loop_is_watched_or_is_no_loop_over_micro_batches():
    assert {one.exercise for one in PUBLIC} == {*AS_LOOP, *NO_LOOPS}


@pytest.mark.filterwarnings("ignore:In CPU autocast", "ignore:Detected call of", "ignore:Converting a tensor")
@pytest.mark.parametrize("public", LOOPS, ids=named)
def test_public_loop_is_named_as_by_its_fingerprint(public):
    problem = TOKENS if public.exercise == "train_epoch_tokens" else PROBLEM
    loop = AS_LOOP[public.exercise](getattr(load(public.path), public.exercise))
    with single_rank():
        due = SEEN_AS.get(public.path.stem) or name_mistakes(fingerprint(loop, problem), problem)
        seen = watched(loop, problem)
    assert seen.outcome == ("not due" if due else "due"), str(seen)
    assert sorted(mistake.slug.removeprefix("token-") for mistake in seen.mistakes) == sorted(due), str(seen)


CONTRASTIVE = {
    "public_open_clip": "outside-of-cache",
    "public_open_clip_divided": "outside-of-cache",
    "public_grad_cache": "cannot tell",
    "public_sentence_plain_accumulation": "due",
}
"""Losses over features of other micro-batches say nothing of shares. Plain accumulation is right for its own small losses."""


@pytest.mark.parametrize("name", CONTRASTIVE)
def test_public_contrastive_loop_is_named_or_cannot_be_told(name):
    [public] = [one for one in PUBLIC if one.path.stem == name]
    problem = ContrastiveProblem(seed=1, sizes=(4, 4, 4, 4))
    images, texts, scale = problem.build()
    parameters = torch.nn.ParameterList([*images.parameters(), *texts.parameters(), scale])
    optimizer = torch.optim.SGD(parameters, 1e-3)
    model = torch.nn.ModuleList([images, texts, parameters])
    with gradaccum.watch(model, accumulation_steps=4) as seen:
        for _ in range(2):
            load(public.path).accumulate_contrastive(images, texts, scale, problem.micro_batches())
            optimizer.step()
    named = [mistake.slug for mistake in seen.mistakes] or [seen.outcome]
    assert named == [CONTRASTIVE[name]], str(seen)


def capstone(train_window, **changes):
    """The capstone's run with this loop, and what it ends with."""
    config = Config(seed=1, lines=42, epochs=2, **changes)
    torch.manual_seed(5)
    run = config.build()

    def train():
        for epoch in range(config.epochs):
            stream = config.micro_batches(epoch)
            while window := list(itertools.islice(stream, config.accumulation_steps)):
                train_window(run, window, config.max_norm)

    def end():
        states = [part.state_dict() for part in (run.model, run.optimizer, run.scheduler)]
        return copy.deepcopy([*states, torch.get_rng_state()])

    return run.model, config.accumulation_steps, train, end


def test_public_capstone_loop_is_named_by_how_it_weights_tokens():
    [public] = [one for one in PUBLIC if one.exercise == "train_window"]
    model, steps, train, _ = capstone(load(public.path).train_window)
    with gradaccum.watch(model, accumulation_steps=steps) as seen:
        train()
    assert [mistake.slug for mistake in seen.mistakes] == ["token-mean-of-means"], str(seen)


@pytest.mark.parametrize("changes", [{}, {"recompute": True}, {"optimizer": "sgd"}])
def test_capstone_s_own_loop_is_due_and_ends_bit_for_bit_where_an_unwatched_one_ends(changes):
    _, _, train, end = capstone(train_window, **changes)
    train()
    alone = end()
    model, steps, train, end = capstone(train_window, **changes)
    with gradaccum.watch(model, accumulation_steps=steps) as seen:
        train()
    assert seen.outcome == "due", str(seen)
    torch.testing.assert_close(end(), alone, rtol=0, atol=0)
