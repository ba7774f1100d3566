"""The tables of two fingerprints show where they differ, cell by cell."""

from __future__ import annotations

import math
import re

import pytest

from gradaccum import loops
from gradaccum.fingerprint import expected, fingerprint
from gradaccum.fingerprint_tables import fingerprint_tables
from gradaccum.problems import Problem

TWO_EPOCHS = Problem(seed=1, accumulation_steps=4, epochs=((2,) * 6, (2,) * 4), width=8)


def tables_of(loop, problem: Problem = TWO_EPOCHS) -> tuple[str, str]:
    return fingerprint_tables(expected(problem), fingerprint(loop, problem))


def rows(table: str) -> list[list[str]]:
    """The texts in a table's rows below the heads, without gaps."""
    shown = re.sub(r'<td aria-hidden="true".*?</td>', "", table)
    texts = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for row in re.findall("<tr.*?</tr>", shown)]
    return texts[next(k for k, row in enumerate(texts) if row[0] == "update") + 1 :]


def framed(table: str) -> int:
    return table.count("outline:2px solid")


def test_a_right_loop_has_two_equal_tables_and_no_frames():
    due, found = tables_of(loops.right)
    assert rows(due) == rows(found)
    assert rows(due)[0] == ["1", *["1/4"] * 4, *["·"] * 6]
    assert "outline" not in found


def test_every_coefficient_that_differs_from_the_expected_one_is_framed():
    due, found = tables_of(loops.no_scale)
    assert "outline" not in due
    assert framed(found) == 10


def test_a_missing_update_has_its_own_row_and_later_updates_are_not_framed():
    _, found = tables_of(loops.tail_dropped)
    assert [row[0] for row in rows(found)] == ["1", "missing", "2"]
    assert framed(found) == 0
    assert found.count("outline:2px dashed") == 2


def test_a_loop_without_updates_says_so():
    _, found = tables_of(lambda model, loss_fn, optimizer, micro_batches, accumulation_steps: None)
    assert "no update at all" in found
    assert [row[0] for row in rows(found)] == ["missing"] * 3


def test_a_changed_learning_rate_is_noted_next_to_its_update():
    _, found = tables_of(loops.lr_scaled_too)
    assert rows(found)[0][-1] == "rate × 1/4"


def test_a_rest_that_no_combination_explains_is_noted_next_to_its_update():
    def clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        for x, y in micro_batches:
            optimizer.zero_grad()
            loss_fn(model(x).tanh(), y).backward()
            optimizer.step()

    _, found = tables_of(clipped)
    assert re.fullmatch(r"\+ rest \d+%", rows(found)[0][-1])


def test_a_gradient_from_before_the_run_has_a_column_in_both_tables():
    due, found = tables_of(loops.stale_start, TWO_EPOCHS.with_(stale=True))
    assert rows(due)[0][:2] == ["1", "·"]
    assert rows(found)[0][:2] == ["1", "1"]


@pytest.mark.parametrize("loop", [loops.right, loops.never_zero, loops.sum_reduction])
def test_columns_have_the_same_width_in_both_tables(loop):
    due, found = (re.findall(r"min-width:(\d+)px", table) for table in tables_of(loop))
    assert due == found


def test_cells_set_their_own_colours():
    due, _ = tables_of(loops.right)
    cells = [cell for cell in re.findall(r"<t[rdh]\b[^>]*>", due) if "aria-hidden" not in cell]
    assert all("background:" in cell for cell in cells)
    assert all("color:" in cell for cell in cells if cell.startswith("<th"))


@pytest.mark.parametrize("value", [1 / 4, 1 / 8, 1 / 40, 0.0125])
def test_rounding_noise_does_not_change_the_html(value):
    from gradaccum.fingerprint_tables import _cell

    near = (value, math.nextafter(value, 0), math.nextafter(value, 1), value * (1 + 1e-13))
    assert len({_cell(one, one, False, False) for one in near}) == 1
