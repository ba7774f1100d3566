"""Compares only the last row."""

EXERCISE = "name_those_trainers"
MISTAKES = ()
LOST = ("leftovers", "windows")


EPS = 1e-3


def close(a, b):
    return len(a) == len(b) and all(abs(p - q) < EPS for p, q in zip(a, b))


def rows_of(name, tokens, n):
    count = len(tokens)
    windows = [list(range(i, min(i + n, count))) for i in range(0, count, n)]
    if name == "tail-dropped":
        windows = [w for w in windows if len(w) == n]
    if name == "step-every":
        windows = [[k] for k in range(count)]
    if name == "off-by-one-early":
        windows = [[0]] + [list(range(i, min(i + n, count))) for i in range(1, count, n)]
    rows, held = [], [0.0] * count
    for w in windows:
        total = sum(tokens[k] for k in w)
        row = [0.0] * count
        for k in w:
            row[k] = tokens[k] / total
            if name == "no-scale":
                row[k] = 1.0
            if name == "mean-of-means":
                row[k] = 1 / len(w)
            if name == "wrong-total":
                row[k] = tokens[k] / (total + len(w))
            if name == "tail-scale":
                row[k] = 1 / n
        if name == "zero-every":
            row = [v if k == w[-1] else 0.0 for k, v in enumerate(row)]
        if name == "never-zero":
            held = [a + b for a, b in zip(held, row)]
            row = list(held)
        rows.append(row)
    return rows


NAMES = (
    "right no-scale mean-of-means wrong-total tail-scale tail-dropped zero-every never-zero step-every off-by-one-early".split()
)


def name_those_trainers(fingerprints):
    names = []
    for f in fingerprints:
        found, tokens, n = f["found"], f["tokens"], f["accumulation_steps"]
        for name in NAMES:
            rows = rows_of(name, tokens, n)
            if len(rows) == len(found) and close(rows[-1], found[-1]):
                break
        else:
            name = "right"
        names.append(name)
    return names
