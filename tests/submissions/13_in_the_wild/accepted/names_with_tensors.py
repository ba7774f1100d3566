"""Reads sums, places and shares with tensors, and returns a generator turned into a tuple."""

import torch

EXERCISE = "name_those_trainers"


def name(found, tokens, accumulation_steps):
    if not found:
        return "tail-dropped"
    rows, tokens = torch.tensor(found), torch.tensor(tokens, dtype=torch.get_default_dtype())
    inside = rows > 1e-3
    if inside.sum(0).max() > 1:
        return "never-zero"
    if bool((inside.sum(1) == 1).all()) and len(rows) == len(tokens):
        return "step-every"
    if not bool(inside[0, 0]):
        return "zero-every"
    if not bool(inside[0, 1]):
        return "off-by-one-early"
    if not bool(inside[-1, -1]):
        return "tail-dropped"
    sums = rows.sum(1)
    if bool((sums > 1.5).any()):
        return "no-scale"
    if sums[0] < 0.9999:
        return "wrong-total"
    if sums[-1] < 0.9999:
        return "tail-scale"
    shares = inside * tokens
    shares = shares / shares.sum(1, keepdim=True)
    return "right" if bool(((shares - rows).abs() < 1e-3).all()) else "mean-of-means"


def name_those_trainers(fingerprints):
    return tuple(name(**one) for one in fingerprints)
