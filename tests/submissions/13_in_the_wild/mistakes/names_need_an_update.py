"""Takes it for granted that there is an update, also where the leftover that is dropped is all there was."""

EXERCISE = "name_those_trainers"
MISTAKES = ()
LOST = ("leftovers",)


def name(rows, tokens, n):
    held = [[k for k, share in enumerate(row) if share > 1e-3] for row in rows]
    if len(rows) == len(tokens):
        return "step-every"
    if held[0] == [n - 1]:
        return "zero-every"
    if len(held[0]) == 1:
        return "off-by-one-early"
    if 0 in held[-1]:
        return "never-zero"
    if len(tokens) - 1 not in held[-1]:
        return "tail-dropped"
    if sum(rows[0]) > 1.001:
        return "no-scale"
    if sum(rows[0]) < 0.999:
        return "wrong-total"
    if sum(rows[-1]) < 0.999:
        return "tail-scale"
    total = sum(tokens[k] for k in held[0])
    return "right" if all(abs(rows[0][k] - tokens[k] / total) < 1e-3 for k in held[0]) else "mean-of-means"


def name_those_trainers(fingerprints):
    return [name(one["found"], one["tokens"], one["accumulation_steps"]) for one in fingerprints]
