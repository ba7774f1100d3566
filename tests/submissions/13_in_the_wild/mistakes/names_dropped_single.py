"""Takes a leftover for dropped only if it is a single micro-batch."""

EXERCISE = "name_those_trainers"
MISTAKES = ()
LOST = ("leftovers",)

SHARES = {
    "no-scale": lambda tokens, window, n: 1,
    "mean-of-means": lambda tokens, window, n: 1 / len(window),
    "wrong-total": lambda tokens, window, n: tokens / (sum(window) + len(window)),
    "tail-scale": lambda tokens, window, n: 1 / n,
}


def name(found, tokens, accumulation_steps):
    n, count = accumulation_steps, len(tokens)
    held = [[k for k, share in enumerate(row) if share > 1e-4] for row in found]
    if len(held) == count:
        return "step-every"
    if held[0] == [0]:
        return "off-by-one-early"
    if held[0] == [n - 1]:
        return "zero-every"
    if 0 in held[1]:
        return "never-zero"
    if len(held) * n == count - 1:
        return "tail-dropped"

    def fits(share):
        windows = [tokens[k - k % n : k - k % n + n] for k in range(count)]
        return all(abs(found[k // n][k] - share(tokens[k], windows[k], n)) < 1e-4 for k in range(count) if k // n < len(found))

    if fits(lambda tokens, window, n: tokens / sum(window)):
        return "right"
    return next((slug for slug, share in SHARES.items() if fits(share)), "right")


def name_those_trainers(fingerprints):
    return [name(**one) for one in fingerprints]
