"""Which update of a loop over tokens goes wrong first, in words for students."""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.contract.observation import Observation
from autograder.judging.token_loops import first_wrong_update, has_other_rates, reference
from autograder.judging.tolerances import close
from autograder.observing.token_loops import TokenLoopTrial
from gradaccum.fingerprint import as_fraction, batch_gradient


def first_update_message(trial: TokenLoopTrial, seen: Observation) -> str:
    """What the first wrong update of a loop is, or that there are too many, as a sentence to append; empty if not clear."""
    moves = has_other_rates(trial, seen)  # what is in .grad alone says nothing then
    wrong = first_wrong_update(trial, seen, "movements" if moves else "gradients")
    if wrong is None:
        return _too_many_updates(trial, seen)
    u, found, due, tokens = wrong
    if not tokens:
        return f" Update {u + 1}, of a window without tokens, moves them." if found.any() else ""
    factor = float(found @ due / (due @ due))
    if close(found, factor * due, trial.problem.dtype):
        ratio = f"{factor:.3g}" if f"{factor:.3g}" != "1" else f"{factor:.7g}"
        if moves:
            return f" Update {u + 1} moves the parameters {ratio} times as far as is due."
        return f" The gradient of update {u + 1} is {ratio} times the one due."
    if moves:
        return f" The first update that does not move the parameters as is due is number {u + 1}."
    held = "" if u else _first_window_in_words(trial, found, due)
    return held or f" The first update whose gradient is not the one due is number {u + 1}."


def _too_many_updates(trial: TokenLoopTrial, seen: Observation) -> str:
    made, due = len(seen.tensors.get("gradients", ())), len(reference(trial).tensors["gradients"])
    return f" Your loop makes {made} updates where {due} are due." if made > due else ""


def _first_window_in_words(trial: TokenLoopTrial, found: Tensor, due: Tensor) -> str:
    """The shares of the first window's micro-batches in a gradient, and those due, in words; empty if others are in it."""
    problem = trial.problem.with_(device="cpu")
    model, batches = problem.build_model(), problem.batches()[: problem.accumulation_steps]
    basis = torch.stack([batch_gradient(model, problem.loss_fn, batch).to(due) for batch in batches])
    shares = [torch.linalg.lstsq(basis.T, gradient[:, None], driver="gelsd").solution[:, 0] for gradient in (found, due)]
    if not close(shares[0] @ basis, found, problem.dtype):
        return ""
    held, wanted = (
        ", ".join(f"{words} of micro-batch {k}" for k, words in enumerate(map(as_fraction, row.tolist()), 1) if words)
        for row in shares
    )
    return f" Update 1 holds {held}; due were {wanted}."
