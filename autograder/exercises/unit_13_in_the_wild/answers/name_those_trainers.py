"""Asks one question after another, from the coarsest symptom to the finest.

Plays every mistake on the tokens of the trainer and looks for the fingerprint that comes out.
"""


def play(tokens, n, weigh, ends=None, clear="window"):
    count = len(tokens)
    if ends is None:
        ends = [k for k in range(count) if (k + 1) % n == 0 or k == count - 1]
    rows, held = [], [0.0] * count
    starts = [0, *(end + 1 for end in ends)]
    for k in range(count):
        members = next((list(range(a, b + 1)) for a, b in zip(starts, ends, strict=False) if a <= k <= b), [k])
        if clear == "every":
            held = [0.0] * count
        held[k] += weigh(k, members)
        if k in ends:
            rows.append(held)
            held = list(held) if clear == "never" else [0.0] * count
    return rows


def candidates(tokens, n):
    count = len(tokens)

    def share(k, window):
        return tokens[k] / sum(tokens[j] for j in window)

    yield "right", play(tokens, n, share)
    yield "no-scale", play(tokens, n, lambda k, window: 1.0)
    yield "mean-of-means", play(tokens, n, lambda k, window: 1 / len(window))
    yield "wrong-total", play(tokens, n, lambda k, window: tokens[k] / sum(tokens[j] + 1 for j in window))
    yield "tail-scale", play(tokens, n, lambda k, window: 1 / n)
    yield "tail-dropped", play(tokens, n, share, [k for k in range(count) if (k + 1) % n == 0])
    yield "zero-every", play(tokens, n, share, clear="every")
    yield "never-zero", play(tokens, n, share, clear="never")
    yield "step-every", play(tokens, n, share, list(range(count)))
    yield "off-by-one-early", play(tokens, n, share, sorted({*range(0, count, n), count - 1}))


def close(found, played):
    found, played = ([share for row in rows for share in row] for rows in (found, played))
    return len(found) == len(played) and all(abs(a - b) < 1e-3 for a, b in zip(found, played, strict=True))


def name_those_trainers(fingerprints):
    return [
        next(name for name, rows in candidates(one["tokens"], one["accumulation_steps"]) if close(one["found"], rows))
        for one in fingerprints
    ]
