"""What the sources say about BatchNorm, optimizers and exactness, tried out. Each function is one row of the ledger."""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
from claim import Claim
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import parameters_to_vector

from gradaccum.components import COMPONENTS, EQUAL, departure
from gradaccum.phenomena import batchnorm_divergence as bn
from gradaccum.phenomena import who_hides

UNIT = "07_when_equivalence_breaks"
STEPS = 8


def row_4() -> Claim:
    """Does a missing 1/N act like an N times larger rate under every optimizer?"""
    settings = who_hides.Settings("none", accumulation_steps=4, updates=1)
    first = who_hides.compute(settings).differences
    later = who_hides.compute(who_hides.Settings("none", accumulation_steps=4, updates=10)).differences
    tripled = abs(first["SGD"] - 3) < 1e-9
    hidden = [name for name in first if max(first[name], later[name]) < who_hides.VISIBLE]
    while_it_acts = first["SGD + clipping"] < who_hides.VISIBLE < later["SGD + clipping"]
    verdict = "false" if not tripled else "conditional" if hidden and while_it_acts else "true"
    figure = (
        f"first update of SGD with N = 4: {1 + first['SGD']:.0f} times as long as due; after 10 updates the end is off by "
        f"{later['SGD']:.0%} of the distance gone under SGD, by {later['AdamW']:.0e} under AdamW; active clipping hides it "
        f"({first['SGD + clipping']:.0e}) until it no longer acts ({later['SGD + clipping']:.0%})"
    )
    return Claim(4, "Forgetting to divide by N acts like an N times larger learning rate", verdict, figure, UNIT)


def row_16() -> Claim:
    """Is weight decay, once per update, that of one large batch?"""
    off = departure(COMPONENTS["weight-decay"])
    per_window, per_micro_batch = decayed(1), decayed(4)
    verdict = "true" if off < EQUAL and per_micro_batch < per_window else "false"
    figure = (
        f"three updates with weight decay end {off:.0e} of the distance gone apart; with an update per micro-batch a weight "
        f"of 1 decays to {per_micro_batch:.4f} in a window of 4, with one update to {per_window:.4f}"
    )
    return Claim(16, "Weight decay acts once per update, as with one large batch", verdict, figure, UNIT)


def row_20() -> Claim:
    """Does BatchNorm see only the micro-batch?"""
    off, exact = gradient_error("BatchNorm"), gradient_error("BatchNorm", training=False)
    windows = counted_batches(STEPS)
    verdict = "true" if off > 0.01 and exact < EQUAL and windows == STEPS else "false"
    figure = (
        f"N = {STEPS}: the accumulated gradient is {off:.0%} off in training mode and {exact:.0e} in evaluation mode; running "
        f"statistics are updated {windows} times per window instead of once"
    )
    return Claim(20, "BatchNorm sees only the micro-batch", verdict, figure, UNIT)


def row_21() -> Claim:
    """Are GroupNorm and LayerNorm exact?"""
    errors = {name: gradient_error(name) for name in ("BatchNorm", "GroupNorm", "LayerNorm")}
    exact = max(errors["GroupNorm"], errors["LayerNorm"]) < EQUAL < errors["BatchNorm"]
    figure = ", ".join(f"{name} {error:.0e}" for name, error in errors.items())
    return Claim(
        21, "Use GroupNorm or LayerNorm instead of BatchNorm", "true" if exact else "false", f"gradient off by: {figure}", UNIT
    )


def row_22() -> Claim:
    """Does SyncBatchNorm join the micro-batches of a window?"""
    plain = bn.build("BatchNorm")
    synced = nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(plain))
    assert isinstance(synced[1], nn.SyncBatchNorm)
    without, with_it = error_of(plain), error_of(synced)
    verdict = "true" if with_it < EQUAL else "false"
    figure = f"N = {STEPS}: gradient off by {without:.0%} with BatchNorm and by {with_it:.0%} with SyncBatchNorm"
    return Claim(22, "SyncBatchNorm normalizes across the micro-batches of a window", verdict, figure, UNIT)


def row_23() -> Claim:
    """Does an optimizer's state differ from a large batch's? From a training with an update per micro-batch?"""
    large = train_adamw(1)
    accumulated, every = (relative(train_adamw(4, each), large) for each in (False, True))
    verdict = "false" if accumulated < EQUAL < every else "true"
    figure = (
        f"50 AdamW updates in float64, parameters and state: accumulation {accumulated:.0e} off the large batch, an update per "
        f"micro-batch {every:.0%} off"
    )
    return Claim(23, "Momentum and optimizer state behave differently", verdict, figure, UNIT)


def row_24() -> Claim:
    """Are the older gradients of a window taken at other parameters, so that their order matters?"""
    moved, moved_by_updates = parameters_seen(update_each=False), parameters_seen(update_each=True)
    model, (x, y) = bn.build("LayerNorm"), bn.window(0)
    order = relative(bn.gradient(model, (x.flip(0), y.flip(0)), STEPS), bn.gradient(model, (x, y), STEPS))
    verdict = "false" if moved == 1 < moved_by_updates and order < EQUAL else "true"
    figure = (
        f"the {STEPS} gradients of a window are taken at {moved} set of parameters ({moved_by_updates} with an update per "
        f"micro-batch); in reverse order their mean changes by {order:.0e}"
    )
    return Claim(24, "Older micro-batch gradients of a window are stale", verdict, figure, UNIT)


def row_25() -> Claim:
    """Is accumulation exactly the large batch?"""
    departures = {key: departure(component) for key, component in COMPONENTS.items()}
    exact = [key for key, value in departures.items() if value < EQUAL]
    broken = [key for key, value in departures.items() if value >= EQUAL]
    verdict = "conditional" if exact and broken else "true" if exact else "false"
    figure = (
        f"{len(exact)} of {len(departures)} components leave it exact (at most {max(departures[k] for k in exact):.0e} apart); "
        f"{', '.join(broken)} do not (at least {min((departures[k] for k in broken), default=0):.0%} apart)"
    )
    return Claim(25, "Accumulation exactly replicates a large batch", verdict, figure, UNIT)


EXPERIMENTS: tuple[Callable[[], Claim], ...] = (row_4, row_16, row_20, row_21, row_22, row_23, row_24, row_25)


def relative(found: Tensor, due: Tensor) -> float:
    return float((found - due).norm() / due.norm())


def error_of(model: nn.Module) -> float:
    """How far an accumulated gradient is from the large batch's."""
    window = bn.window(0)
    return relative(bn.gradient(model, window, STEPS), bn.gradient(model, window, 1))


def gradient_error(normalization: str, training: bool = True) -> float:
    return error_of(bn.build(normalization).train(training))


def counted_batches(steps: int) -> int:
    """How often a window updates BatchNorm's running statistics."""
    model = bn.build("BatchNorm")
    bn.gradient(model, bn.window(0), steps)
    return int(model[1].num_batches_tracked)


def decayed(updates: int) -> float:
    """What is left of a weight of 1 after so many updates without a gradient."""
    weight = torch.ones(1, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.AdamW([weight], lr=0.1, weight_decay=0.1)
    for _ in range(updates):
        weight.grad = torch.zeros_like(weight)
        optimizer.step()
    return weight.item()


def train_adamw(steps: int, update_each: bool = False) -> Tensor:
    """Parameters and optimizer state after 50 windows of 16 samples."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2)).double()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(50):
        x, y = torch.randn(16, 6, dtype=torch.float64), torch.randn(16, 2, dtype=torch.float64)
        for k, (a, b) in enumerate(zip(x.chunk(steps), y.chunk(steps), strict=True), 1):
            (F.mse_loss(model(a), b) / steps).backward()
            if update_each or k == steps:
                optimizer.step()
                optimizer.zero_grad()
    state = [optimizer.state[p][name].flatten() for p in model.parameters() for name in ("exp_avg", "exp_avg_sq")]
    return torch.cat([parameters_to_vector(model.parameters()).detach(), *state])


def parameters_seen(update_each: bool) -> int:
    """At how many different sets of parameters the gradients of a window are taken."""
    model, (x, y) = bn.build("LayerNorm"), bn.window(0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    places = set()
    for a, b in zip(x.chunk(STEPS), y.chunk(STEPS), strict=True):
        places.add(tuple(parameters_to_vector(model.parameters()).tolist()))
        (F.mse_loss(model(a), b) / STEPS).backward()
        if update_each:
            optimizer.step()
            optimizer.zero_grad()
    return len(places)
