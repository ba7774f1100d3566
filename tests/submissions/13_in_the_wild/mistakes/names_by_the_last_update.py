"""Reads the shares of the last update only: a leftover of one micro-batch looks right."""

EXERCISE = "name_those_trainers"
MISTAKES = ()
LOST = ("leftovers",)

SHARES = {
    "right": lambda tokens, window, n: tokens / sum(window),
    "no-scale": lambda tokens, window, n: 1,
    "mean-of-means": lambda tokens, window, n: 1 / len(window),
    "wrong-total": lambda tokens, window, n: tokens / (sum(window) + len(window)),
    "tail-scale": lambda tokens, window, n: 1 / n,
}


def name(found, tokens, accumulation_steps):
    n, count = accumulation_steps, len(tokens)
    held = [[k for k, share in enumerate(row) if share > 1e-4] for row in found]
    if len(held) == count:
        return "step-every"
    if held[0] == [0]:
        return "off-by-one-early"
    if held[0] == [n - 1]:
        return "zero-every"
    if 0 in held[1]:
        return "never-zero"
    if len(held) * n < count:
        return "tail-dropped"
    first = (count - 1) // n * n
    window = tokens[first:]
    for slug, share in SHARES.items():
        if all(abs(found[-1][k] - share(tokens[k], window, n)) < 1e-4 for k in range(first, count)):
            return slug
    return "tail-dropped"


def name_those_trainers(fingerprints):
    return [name(**one) for one in fingerprints]
