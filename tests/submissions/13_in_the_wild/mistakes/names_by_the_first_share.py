"""Tells a mean of means by the first micro-batch alone, which may hold just the mean."""

EXERCISE = "name_those_trainers"
MISTAKES = ()
LOST = ("full", "leftovers")


def name_those_trainers(fingerprints):
    return list(map(name, fingerprints))


def name(one):
    found, tokens, steps = one["found"], one["tokens"], one["accumulation_steps"]
    sums = list(map(sum, found))
    if len(found) == len(tokens):
        return "step-every"
    if sums[-1] > 1.001 * max(1, sums[0]):
        return "never-zero"
    if all(abs(total - 1) < 1e-3 for total in sums):
        if len([share for share in found[0] if share > 1e-9]) == 1:
            return "off-by-one-early"
        if len(found) * steps < len(tokens):
            return "tail-dropped"
        return "right" if abs(found[0][0] - tokens[0] / sum(tokens[:steps])) < 1e-3 else "mean-of-means"
    if abs(sums[0] - steps) < 1e-3:
        return "no-scale"
    if abs(sums[0] - 1) < 1e-3:
        return "tail-scale"
    return "zero-every" if found[0][0] < 1e-9 else "wrong-total"
