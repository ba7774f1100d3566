"""Remembers the name of each fingerprint by its tokens and N, although another trainer may have had the same data."""

EXERCISE = "name_those_trainers"
MISTAKES = ()
LOST = ("full", "leftovers", "windows")


SEEN = {}


def name(found, tokens, accumulation_steps):
    n, held = accumulation_steps, [[k for k, share in enumerate(row) if share > 1e-3] for row in found]
    sums = [sum(row) for row in found]
    due = [tokens[k] / sum(tokens[j] for j in held[0]) for k in held[0]]
    if len(held) == len(tokens):
        return "step-every"
    if held[0] == [n - 1]:
        return "zero-every"
    if len(held[0]) == 1:
        return "off-by-one-early"
    if 0 in held[1]:
        return "never-zero"
    if len(tokens) - 1 not in held[-1]:
        return "tail-dropped"
    if abs(sums[0] - n) < 1e-3:
        return "no-scale"
    if sums[0] < 0.999:
        return "wrong-total"
    if sums[-1] < 0.999:
        return "tail-scale"
    return "right" if all(abs(found[0][k] - d) < 1e-3 for k, d in zip(held[0], due)) else "mean-of-means"


def name_those_trainers(fingerprints):
    names = []
    for one in fingerprints:
        key = (tuple(one["tokens"]), one["accumulation_steps"])
        names.append(SEEN.setdefault(key, name(**one)))
    return names
