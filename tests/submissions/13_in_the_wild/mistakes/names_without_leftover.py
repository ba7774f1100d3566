"""Reads the full windows only."""

EXERCISE = "name_those_trainers"
MISTAKES = ("leftover-not-read",)
LOST = ("leftovers",)


def name(found, tokens, accumulation_steps):
    if not found:
        return "right"
    n, held = accumulation_steps, [[k for k, share in enumerate(row) if share > 1e-3] for row in found]
    sums = [sum(row) for row in found]
    full = len(tokens) // n
    right = all(
        abs(row[k] - tokens[k] / sum(tokens[j] for j in inside)) < 1e-3
        for row, inside in zip(found[:full], held)
        for k in inside
    )
    if len(held) == len(tokens):
        return "step-every"
    if held[0] == [n - 1]:
        return "zero-every"
    if len(held[0]) == 1:
        return "off-by-one-early"
    if 0 in held[1]:
        return "never-zero"
    if abs(sums[0] - n) < 1e-3:
        return "no-scale"
    if sums[0] < 0.999:
        return "wrong-total"
    return "right" if right else "mean-of-means"


def name_those_trainers(fingerprints):
    return [name(**one) for one in fingerprints]
