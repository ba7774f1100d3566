"""Compares shares with a tolerance of 0.006, which a total that is too large by a few tokens stays below."""

EXERCISE = "name_those_trainers"
MISTAKES = ()
LOST = ("full", "leftovers")


def windows(count, starts):
    return [range(a, b) for a, b in zip(starts, [*starts[1:], count], strict=True)]


def rows_of(name, tokens, n):
    count, rows = len(tokens), []
    starts = {"step-every": range(count), "off-by-one-early": [0, *range(1, count, n)]}.get(name, range(0, count, n))
    for window in windows(count, list(starts)):
        if name == "tail-dropped" and len(window) < n:
            continue
        total, row = sum(tokens[k] for k in window), [0.0] * count
        for k in window:
            others = {"no-scale": 1.0, "mean-of-means": 1 / len(window), "tail-scale": 1 / n}
            others["wrong-total"] = tokens[k] / (total + len(window))
            row[k] = others.get(name, tokens[k] / total) if name != "zero-every" or k == window[-1] else 0.0
        if name == "never-zero" and rows:
            row = [a + b for a, b in zip(row, rows[-1], strict=True)]
        rows.append(row)
    return rows


NAMES = ("right", "no-scale", "mean-of-means", "wrong-total", "tail-scale", "tail-dropped")
NAMES += ("zero-every", "never-zero", "step-every", "off-by-one-early")


def distance(one, name):
    rows = rows_of(name, one["tokens"], one["accumulation_steps"])
    if len(rows) != len(one["found"]):
        return 9.0
    pairs = (pair for row, other in zip(rows, one["found"], strict=True) for pair in zip(row, other, strict=True))
    return max((abs(a - b) for a, b in pairs), default=0.0)


def name_those_trainers(fingerprints):
    return [next(name for name in NAMES if distance(one, name) < 0.006) for one in fingerprints]
