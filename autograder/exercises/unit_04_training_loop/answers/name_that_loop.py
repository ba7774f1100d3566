"""The answers.

What gives each loop away in its picture, and the mistake it shows.
"""

SEEN = {
    "every row repeats those above it": "never-zero",
    "the first row is one micro-batch wide": "off-by-one-early",
    "blocks filled with 1": "no-scale",
    "rows that fall like stairs": "retained-graph",
    "one cell in each row, the last of its window": "zero-every",
    "the leftover's row is missing": "tail-dropped",
}


def name_that_loop():
    return dict(zip("ABCDEF", SEEN.values(), strict=True))
