"""Compares shares to within a tenth, and takes more updates than half of the micro-batches for one after each."""

EXERCISE = "name_those_trainers"
MISTAKES = ()
LOST = ("full", "leftovers", "windows")


def name_one(fingerprint):
    rows, tokens, n = fingerprint["found"], fingerprint["tokens"], fingerprint["accumulation_steps"]
    count = len(tokens)
    windows = [list(range(s, min(s + n, count))) for s in range(0, count, n)]
    held = [[k for k, share in enumerate(row) if abs(share) > 1e-4] for row in rows]
    if n > 1 and len(rows) > count / 2:
        return "step-every"
    if n > 1 and held[0] == [0] and count > 1:
        return "off-by-one-early"
    if len(rows) > 1 and 0 in held[1]:
        return "never-zero"
    if n > 1 and held[0] == [n - 1]:
        return "zero-every"
    if len(rows) < len(windows):
        return "tail-dropped"
    sums = [sum(row) for row in rows]
    if abs(sums[0] - len(windows[0])) < 1e-3 and len(windows[0]) > 1:
        return "no-scale"
    if sums[0] < 1 - 1e-4:
        return "wrong-total"
    if sums[-1] < 1 - 1e-4:
        return "tail-scale"
    for row, window in zip(rows, windows, strict=False):
        total = sum(tokens[k] for k in window)
        if any(abs(row[k] - tokens[k] / total) > 0.1 for k in window):
            return "mean-of-means"
    return "right"


def name_those_trainers(fingerprints):
    return [name_one(f) for f in fingerprints]
