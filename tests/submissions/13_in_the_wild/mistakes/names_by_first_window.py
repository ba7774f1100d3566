"""Compares the shares of the first window alone with those due."""

EXERCISE = "name_those_trainers"
MISTAKES = ()
LOST = ("full",)


def close(one, other):
    return abs(one - other) < 1e-3


def name_of(one):
    rows, tokens, n = one["found"], one["tokens"], one["accumulation_steps"]
    held = [[k for k, share in enumerate(row) if share > 1e-3] for row in rows]
    windows = [list(range(start, min(start + n, len(tokens)))) for start in range(0, len(tokens), n)]
    if held == [[k] for k in range(len(tokens))]:
        return "step-every"
    if held == [window[-1:] for window in windows]:
        return "zero-every"
    if 0 in held[1]:
        return "never-zero"
    if held[0] == [0]:
        return "off-by-one-early"
    if len(held) < len(windows):
        return "tail-dropped"
    sums = [sum(row) for row in rows]
    if all(map(close, sums, map(len, windows))):
        return "no-scale"
    if all(close(total, 1) for total in sums):
        total = sum(tokens[:n])
        return "right" if all(close(rows[0][k], tokens[k] / total) for k in range(n)) else "mean-of-means"
    return "tail-scale" if close(sums[0], 1) else "wrong-total"


def name_those_trainers(fingerprints):
    return [name_of(one) for one in fingerprints]
