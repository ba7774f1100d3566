"""Sets a flag at the first leftover, and never takes it back for the fingerprints that follow."""

EXERCISE = "name_those_trainers"
MISTAKES = ()
LOST = ("full",)


def name_those_trainers(fingerprints):
    def near(a, b):
        return abs(a - b) < 1e-5

    names = []
    leftover = 0
    for fingerprint in fingerprints:
        found, tokens, n = fingerprint["found"], fingerprint["tokens"], fingerprint["accumulation_steps"]
        if len(tokens) % n:
            leftover = len(tokens) % n
        windows = [tokens[k : k + n] for k in range(0, len(tokens), n)]
        first, last = found[0], found[-1]
        if len(found) == len(tokens):
            name = "step-every"
        elif found[1][0] > 1e-5:
            name = "never-zero"
        elif near(first[0], 0):
            name = "zero-every"
        elif near(first[1], 0):
            name = "off-by-one-early"
        elif leftover and len(found) <= len(tokens) // n:
            name = "tail-dropped"
        elif all(near(share, 1) for share in first[:n]):
            name = "no-scale"
        elif not near(sum(first), 1):
            name = "wrong-total"
        elif leftover and not near(sum(last), 1):
            name = "tail-scale"
        elif all(near(found[k // n][k], tokens[k] / sum(windows[k // n])) for k in range(len(tokens))):
            name = "right"
        else:
            name = "mean-of-means"
        names.append(name)
    return names
