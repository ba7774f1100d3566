"""Does not look at when gradients were cleared."""

EXERCISE = "name_those_trainers"
MISTAKES = ()
LOST = ("windows",)


def name(found, tokens, accumulation_steps):
    if not found:
        return "tail-dropped"
    n, held = accumulation_steps, [[k for k, share in enumerate(row) if share > 1e-3] for row in found]
    sums = [sum(row) for row in found]
    right = all(
        abs(row[k] - tokens[k] / sum(tokens[j] for j in inside)) < 1e-3 for row, inside in zip(found, held) for k in inside
    )
    if len(held) == len(tokens):
        return "step-every"
    if len(held[0]) == 1:
        return "off-by-one-early"
    if len(tokens) - 1 not in held[-1]:
        return "tail-dropped"
    if abs(sums[0] - n) < 1e-3:
        return "no-scale"
    if sums[0] < 0.999:
        return "wrong-total"
    if sums[-1] < 0.999:
        return "tail-scale"
    return "right" if right else "mean-of-means"


def name_those_trainers(fingerprints):
    return [name(**one) for one in fingerprints]
