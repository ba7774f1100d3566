"""A report on a long run is short: it shows the first updates, or those around the first that is not due."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import gradaccum

pytestmark = pytest.mark.slow

N = 4
UPDATES = 30


def run(divisors):
    """One update for each divisor."""
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    with gradaccum.watch(model, N) as seen:
        for divisor in divisors:
            for _ in range(N):
                (F.mse_loss(model(torch.ones(2, 3)), torch.ones(2, 2)) / divisor).backward()
            optimizer.step()
            optimizer.zero_grad()
    return seen


def test_run_that_fits_is_shown_whole():
    seen = run([N] * 10)
    assert "This shows" not in str(seen)
    assert "update 10 " in str(seen)


def test_long_run_that_is_due_shows_its_first_updates():
    seen = run([N] * UPDATES)
    assert "This shows updates 1 to 10 of 30 and micro-batches 1 to 40 of 120." in str(seen)
    assert "update 10 " in str(seen)
    assert "update 11 " not in str(seen)
    assert len(str(seen)) < 4000
    assert len(seen._repr_html_()) < 200_000


def test_long_run_shows_the_first_update_that_is_not_due_with_its_own_number():
    seen = run([N] * 20 + [1] + [N] * 9)
    said = str(seen)
    assert seen.outcome == "not due"
    assert "This shows updates 20 to 29 of 30 and micro-batches 77 to 116 of 120." in said
    lines = [line for line in said.splitlines() if line.startswith("update 21")]
    assert [line.split()[2:10] for line in lines] == [[*"····", *"1111"], [*"····", *["1/4"] * 4]]
    page = seen._repr_html_()
    assert ">21</th>" in page
    assert ">77</th>" in page
    assert "This shows updates 20 to 29" in page


def test_whole_matrices_can_still_be_had():
    seen = run([N] * UPDATES)
    assert seen.fingerprint.coefficients.shape == (UPDATES, N * UPDATES)
    assert len(seen.as_json()["matrices"][0]["found"]) == UPDATES


@pytest.mark.parametrize("width", [50, 100])
def test_window_wider_than_the_picture_shows_its_beginning(width):
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), 1e-2)
    with gradaccum.watch(model, width) as seen:
        for _ in range(2):
            for _ in range(width):
                (F.mse_loss(model(torch.ones(2, 3)), torch.ones(2, 2)) / width).backward()
            optimizer.step()
            optimizer.zero_grad()
    assert f"This shows update 1 of 2 and micro-batches 1 to 40 of {2 * width}." in str(seen)
