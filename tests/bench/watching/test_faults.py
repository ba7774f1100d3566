"""An error of ours while a run is watched stops the watching, not the run; and watching can be left in any order."""

from __future__ import annotations

import copy
import importlib.util
import signal
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

import gradaccum
import gradaccum.watching
from gradaccum.ranks import single_rank
from gradaccum.watching import CannotTellError

_spec = importlib.util.spec_from_file_location("torch_state", Path(__file__).with_name("torch_state.py"))
torch_state = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(torch_state)
as_torch_is = torch_state.as_torch_is

OURS = str(Path(gradaccum.watching.__file__).parent)

PASS_ON = {
    *("Backwards._arrival.<locals>.<lambda>", "Backwards.found.<locals>.arrives", "LossFinder.__torch_function__"),
    *("seen_through.<locals>.look.<locals>.<lambda>", "seen_through.<locals>.add.<locals>.<lambda>"),
    *("Watcher._hook_forwards.<locals>.look", "Watcher.point_out"),
    *(
        "Updates.before_step.<locals>.watched",
        "ModuleHook.__call__",
        "_in_place_of.<locals>.calls",
        "with_lists.<locals>.calls",
    ),
    *("loss_seen", "point_out", "Watcher._guarded"),
}
"""Functions that call nothing but the guard and the trainer's own function."""


class ByHand(nn.Module):
    def forward(self, given, due):
        return ((given - due) ** 2).exp().mean().log()


def halve(parameter):
    parameter.grad.mul_(0.5)


def scaled_and_clipped(model, own):
    """A loader, hooks on parameters, a loss scaler, clipping, and a loss that is pointed out."""
    hooked = [
        model[0].weight.register_hook(lambda gradient: 2 * gradient),
        model[0].bias.register_post_accumulate_grad_hook(halve),
    ]
    optimizer, scaler = torch.optim.AdamW(model.parameters(), 1e-2), torch.amp.GradScaler("cpu", init_scale=8.0)
    loader = DataLoader(torch.linspace(-1, 1, 24).view(8, 3), batch_size=2)
    for _ in range(2):
        for k, x in enumerate(loader):
            loss = F.mse_loss(model(x), torch.ones(2, 2))
            gradaccum.loss_seen(loss * 1, 2)
            scaler.scale((loss + own(model(x), torch.zeros(2, 2))) / 2).backward()
            if k % 2:
                scaler.unscale_(optimizer)
                nn.utils.clip_grad_norm_(model.parameters(), 0.1)
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
    for hook in hooked:
        hook.remove()
    return optimizer


def taken_and_stepped_with_a_closure(model, own):
    """Gradients that the trainer takes itself, and an optimizer that calls back."""
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    for _ in range(2):
        parts = [torch.autograd.grad(own(model(torch.randn(2, 3)), torch.ones(2, 2)), model.parameters()) for _ in range(2)]
        for parameter, *gradients in zip(model.parameters(), *parts, strict=True):
            parameter.grad = sum(gradients) / 2
        optimizer.step()

        def closure():
            optimizer.zero_grad()
            loss = F.mse_loss(model(torch.randn(2, 3)), torch.ones(2, 2))
            loss.backward()
            return loss

        optimizer.step(closure)
    return optimizer


def on_one_rank_and_by_hand(model, own):
    """Gradients averaged over the ranks of DistributedDataParallel, and by hand; updates without an optimizer."""
    with single_rank():
        parallel = nn.parallel.DistributedDataParallel(model)
        for k in range(4):
            model.zero_grad()
            (own(parallel(torch.randn(2, 3)), torch.ones(2, 2)) + k).backward()
            torch.distributed.all_reduce(model[0].weight.grad)
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter -= 0.1 * parameter.grad
        del parallel  # freed after its process group, it has waited for a thread of gloo for ever
    return None


TRAINERS = (scaled_and_clipped, taken_and_stepped_with_a_closure, on_one_rank_and_by_hand)


def run(trainer, *, watching=None, inside=None):
    """What a run ends with; in the block it is also inside of ``inside()``."""
    torch.manual_seed(2)
    model, own = nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.2)), ByHand()
    if watching is None:
        optimizer = trainer(model, own)
    else:
        with watching(model, accumulation_steps=2, loss=own), inside():
            optimizer = trainer(model, own)
    state = optimizer.state_dict()["state"] if optimizer else {}
    return copy.deepcopy([model.state_dict(), state, torch.get_rng_state()])


def alike(one, other) -> bool:
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    return all(map(alike, one, other)) if isinstance(one, list) else one == other


@contextmanager
def listed(called: dict):
    """Note the functions of ours that are called inside the block."""

    def profile(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(OURS) and not code.co_filename.endswith("guard.py"):
            called[code.co_qualname, code.co_filename] = code

    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)


@contextmanager
def failing(code, error, times: list):
    """The first call of a function inside the block raises an error."""

    def trace(frame, event, _):
        if frame.f_code is code and not times:
            times.append(1)
            raise error("planted")

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


def functions_called_by(trainer) -> list:
    called: dict = {}
    run(trainer, watching=gradaccum.watch, inside=lambda: listed(called))
    return [code for (name, _), code in called.items() if name not in PASS_ON and not name.endswith(("<genexpr>", "comp>"))]


@pytest.mark.slow
@pytest.mark.parametrize("trainer", TRAINERS)
def test_error_in_any_function_of_ours_leaves_a_run_as_it_is_and_cannot_be_told(trainer):
    alone, torch_before = run(trainer), as_torch_is()
    codes = functions_called_by(trainer)
    assert len(codes) > 25
    for code in codes:
        reports, times = [], []

        @contextmanager
        def watching(*args, reports=reports, **options):
            with gradaccum.watch(*args, **options) as seen:
                reports.append(seen)
                yield

        ended = run(trainer, watching=watching, inside=lambda code=code, times=times: failing(code, IndexError, times))
        [seen] = reports
        assert times, code.co_qualname
        assert alike(ended, alone), code.co_qualname
        assert seen.outcome == "cannot tell", code.co_qualname
        assert seen.mistakes == ()
        assert "Watching failed after update" in str(seen)
        assert "IndexError: planted" in seen.fault
        assert seen.as_json()["fault"] == seen.fault
        assert as_torch_is() == torch_before, code.co_qualname


# On ranks it would be torch that hangs now and then: it closes a process group while one of its threads waits for Python.
@pytest.mark.slow
@pytest.mark.parametrize("trainer", TRAINERS[:2])
def test_interrupt_in_any_function_of_ours_ends_the_run_and_leaves_nothing_behind(trainer):
    torch_before = as_torch_is()
    for code in functions_called_by(trainer):
        reports, times = [], []

        @contextmanager
        def watching(*args, reports=reports, **options):
            with gradaccum.watch(*args, **options) as seen:
                reports.append(seen)
                yield

        with pytest.raises(KeyboardInterrupt, match="planted"):
            run(trainer, watching=watching, inside=lambda code=code, times=times: failing(code, KeyboardInterrupt, times))
        assert reports[0].outcome == "cannot tell", code.co_qualname
        assert "Watching was interrupted" in str(reports[0])
        assert as_torch_is() == torch_before, code.co_qualname


def test_fault_while_judging_is_no_error_of_whoever_looks(monkeypatch):
    model = nn.Linear(3, 2)
    with gradaccum.watch(model) as seen:
        F.mse_loss(model(torch.ones(1, 3)), torch.ones(1, 2)).backward()
    monkeypatch.setattr("gradaccum.watching.report.matrices_of", lambda *args: [][1])
    assert seen.outcome == "cannot tell"
    assert "That is a mistake in gradaccum, not in the trainer" in str(seen)
    with pytest.raises(CannotTellError):
        seen.check()


def test_error_that_a_handler_of_a_signal_raises_while_we_look_is_not_kept_from_the_run(monkeypatch):
    class OutOfTimeError(Exception):
        pass

    def handler(number, frame):
        raise OutOfTimeError

    monkeypatch.setattr("gradaccum.watching.holdings.Holdings.look", lambda *args, **named: signal.raise_signal(signal.SIGUSR1))
    before = signal.signal(signal.SIGUSR1, handler)
    model = nn.Linear(3, 2)
    try:
        with pytest.raises(OutOfTimeError), gradaccum.watch(model):
            model(torch.ones(1, 3)).sum().backward()
    finally:
        signal.signal(signal.SIGUSR1, before)
