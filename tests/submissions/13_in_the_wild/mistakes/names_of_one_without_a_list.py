"""Returns the name alone if there is one fingerprint only."""

import math

EXERCISE = "name_those_trainers"
MISTAKES = ()
LOST = ("full",)


class Reading:
    def __init__(self, fingerprint):
        self.n, self.tokens = fingerprint["accumulation_steps"], fingerprint["tokens"]
        self.rows = [{k: v for k, v in enumerate(row) if abs(v) > 1e-4} for row in fingerprint["found"]]
        self.sums = [math.fsum(row.values()) for row in self.rows]

    def is_even(self):
        return all(len({round(v, 4) for v in row.values()}) == 1 for row in self.rows)

    def equal_tokens(self):
        windows = [self.tokens[k : k + self.n] for k in range(0, len(self.tokens), self.n)]
        return all(len(set(window)) == 1 for window in windows)


QUESTIONS = [
    ("tail-dropped", lambda r: not r.rows or max(r.rows[-1]) + 1 < len(r.tokens)),
    ("step-every", lambda r: len(r.rows) == len(r.tokens)),
    ("never-zero", lambda r: 0 in r.rows[-1]),
    ("zero-every", lambda r: 0 not in r.rows[0]),
    ("off-by-one-early", lambda r: list(r.rows[0]) == [0]),
    ("no-scale", lambda r: math.isclose(r.sums[0], r.n, rel_tol=1e-3)),
    ("wrong-total", lambda r: r.sums[0] < 0.9999),
    ("tail-scale", lambda r: r.sums[-1] < 0.9999),
    ("mean-of-means", lambda r: r.is_even() and not r.equal_tokens()),
    ("right", lambda r: True),
]


def name_those_trainers(fingerprints):
    readings = map(Reading, fingerprints)
    names = [next(name for name, holds in QUESTIONS if holds(reading)) for reading in readings]
    return names[0] if len(names) == 1 else names
