"""Trainers nobody has seen, and fingerprints of trainers, made from a seed."""

from __future__ import annotations

import itertools
import random
from typing import Any

from autograder.exercises.unit_13_in_the_wild.judging.names import names
from autograder.exercises.unit_13_in_the_wild.judging.playing import named, names_of, plain, play
from autograder.exercises.unit_13_in_the_wild.observing.trainers import Build

Lengths = tuple[tuple[int, ...], ...]
"""For each micro-batch the number of tokens of each of its sequences."""

NOISE = 1e-6
"""Relative error of the shares in a fingerprint: what gradients in float32 leave."""

FULL, LEFTOVER, WINDOWS = "full", "leftovers", "windows"

ASKED = {
    FULL: ("right", "right", "no-scale", "mean-of-means", *("wrong-total",) * 2, *("mean-of-means",) * 2, "right"),
    LEFTOVER: ("right", "right", "no-scale", "mean-of-means", "wrong-total", *("tail-scale", "tail-dropped") * 2, "right"),
    WINDOWS: ("right", *("zero-every", "never-zero", "off-by-one-early") * 2, "step-every"),
}
"""The names asked for in one call, which shuffles them.

Of the right ones among leftovers the first is even; there and of full windows the last has equally many tokens in all
micro-batches. A name that comes again among leftovers comes with a leftover of one micro-batch and, at last, with a longer
one. Where means are not divided, or alike, a leftover of one looks right, so these have one: only full windows show the name.
Of full windows one right and one wrong total have many tokens, so that one too many for each micro-batch is a small part of
them. In each part one mean of means has nearly equal micro-batches, so that it is nearly right; and in one of each the first
micro-batch holds just the mean of its window, so that the first share is right. The last that never clears begins with a
micro-batch of a single token among hundreds: so small a share shows that it is still there.
"""

FINE = (0.002, 0.005)
"""Bounds of what the mistake changes in a share where a trainer is nearly right: with two decimals, nothing. So at every seed a
function that compares shares less finely, or rounded like this, calls it right; with a tolerance of 1e-3 it does not."""

EVEN, MANY, CLOSE = {(LEFTOVER, 0)}, {(FULL, 1), (FULL, 5)}, {(FULL, 6), (LEFTOVER, 3)}
"""Parts and numbers of those with equally many tokens in each window, and others in the next; of those with many; and of those
with nearly equally many."""

ALIKE, LONE = {(LEFTOVER, 9), (FULL, 8)}, {(WINDOWS, 5)}
"""Parts and numbers of those with equally many tokens in all micro-batches; and of those with a single token in the first."""

LATE = FULL, 7
"""Part and number of the mean of means whose first window has equally many tokens in all micro-batches, and the others not."""

MANY_TOKENS = 20
"""Times as many tokens as usual make the share of a single one as small as ``FINE`` says."""

FIRST_IS_MEAN = {(FULL, 3), (LEFTOVER, 3)}
"""Parts and numbers of the means of means whose windows each begin with a micro-batch of their mean number of tokens. That of
the other holds clearly more or less, so a function that reads the first share alone sees it there."""

TWO = {(LEFTOVER, 2), (WINDOWS, 0)}
"""Parts and numbers of those with N = 2 and a leftover: they make more than one update for two micro-batches, and a row that
adds up to 2 need not hold two windows."""

SAME_DATA = {(FULL, 2): 0, (LEFTOVER, 4): 1, (WINDOWS, 2): 1}
"""Parts and numbers of those with the data of an earlier one: a name that was looked up by tokens and N is then a wrong one."""

LAST_LOOKS_RIGHT = ("no-scale", "mean-of-means")
"""Names that a leftover of one micro-batch does not show."""

WHOLE = {1: 0, 2: 0, 3: 1, 4: 1}
"""How many micro-batches beyond 2 N a trainer of the last part has, by its number, where that is not drawn. The last row shows
the mistake of number 1 and hides that of number 4. The last early one has N, so that only its early update leaves something
over."""


def uneven(chance: random.Random, count: int, steps: int, *sequences: int) -> Lengths:
    """Micro-batches that hold unequal numbers of tokens in each window of two or more, and unequally much padding.

    Those of a window have two ``sequences`` each, or in turn as many as is said. A single one has at least two
    tokens, so that a total that is too small by one for each micro-batch is never 0.
    """
    sequences = sequences or (2,)
    least = 2 if sequences == (1,) else 1
    found: list[tuple[int, ...]] = []
    while len(found) < count:
        width = min(steps, count - len(found))
        window = [tuple(chance.sample(range(least, least + 8), sequences[k % len(sequences)])) for k in range(width)]
        tokens = [sum(lengths) for lengths in window]
        shares = {sum(lengths) / max(lengths) for lengths in window}
        mixed = sequences == (1,) or len(shares) == width
        if len(set(tokens)) == width and mixed and (width == 1 or tokens[-1] * width != sum(tokens)):
            found += window
    return tuple(found)


def fingerprints(chance: random.Random, part: str) -> list[dict[str, Any]]:
    """Fingerprints as a student's function is given them, one for each name that is asked for, shuffled."""
    builds: list[Build] = []
    for k, name in enumerate(ASKED[part]):
        earlier = SAME_DATA.get((part, k))
        builds.append(_with_name(chance, name, part, k) if earlier is None else named(plain(builds[earlier]), name))
    return [_as_given(build, chance) for build in chance.sample(builds, len(builds))]


def _with_name(chance: random.Random, name: str, part: str, number: int) -> Build:
    """A build of which this is the first name, the one with this number in its part."""
    even, many, close, two = ((part, number) in those for those in (EVEN, MANY, CLOSE, TWO))
    while True:
        steps = 2 if two else chance.randint(3, 5)
        left = 0 if part == FULL else chance.randint(1, steps - 1)
        if part == LEFTOVER and ASKED[part].count(name) > 1:
            left = 1 if name in ASKED[part][number + 1 :] else chance.randint(2, steps - 1)
        if part == LEFTOVER and name in LAST_LOOKS_RIGHT:
            left = 1
        if part == WINDOWS:
            left = 1 if two else WHOLE.get(number, steps if name == "off-by-one-early" else left)
        count = 2 * steps + left
        # With so few tokens, one too many for each micro-batch shows even where shares are compared with a coarse tolerance.
        alike = name == "tail-scale" or (part, number) in ALIKE
        lengths = ((chance.randint(2, 6),),) * count if alike else uneven(chance, count, steps, 1)
        if (part, number) in LONE:
            lengths = ((1,), *((MANY_TOKENS * tokens,) for (tokens,) in lengths[1:]))
            if not FINE[0] < 1 / sum(tokens for (tokens,) in lengths[:steps]) < FINE[1]:
                continue
        if even:
            lengths = tuple((tokens,) for tokens in chance.sample(range(2, 10), 3) for _ in range(steps))[:count]
        factor, more = chance.randint(20, 40) if many else 1, chance.randint(150, 400) if close else 0
        if (part, number) == LATE:
            lengths = (lengths[0],) * steps + lengths[steps:]
        lengths = tuple((factor * tokens + more,) for (tokens,) in lengths)
        if name == "mean-of-means":
            off = [abs(first - 1 / size) for first, size in _first_shares(lengths, steps)]
            if max(off) > 0 if (part, number) in FIRST_IS_MEAN else off[0] > 0 if (part, number) == LATE else off[0] < FINE[0]:
                continue
        build = named(Build(0, steps, lengths), name)
        mistake = "wrong-total" if many else "mean-of-means"
        if names_of(build)[0] == name and (not (many or close) or _is_fine(build, mistake)):
            return build


def _first_shares(lengths: Lengths, steps: int) -> list[tuple[float, int]]:
    """For each window the share of its tokens that its first micro-batch holds, and how many micro-batches it has."""
    tokens = [sum(of_sequences) for of_sequences in lengths]
    windows = [tokens[start : start + steps] for start in range(0, len(tokens), steps)]
    return [(window[0] / sum(window), len(window)) for window in windows]


def _is_fine(build: Build, mistake: str) -> bool:
    """Whether a mistake changes the shares of a build as little as ``FINE`` says."""
    rows, others = (play(named(plain(build), name)) for name in ("right", mistake))
    shares = [pair for row, other in zip(rows, others, strict=True) for pair in zip(row, other, strict=True)]
    rounded = all(round(a, 2) == round(b, 2) for a, b in shares)
    return rounded and FINE[0] < max(abs(a - b) for a, b in shares) < FINE[1]


def without_error(given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same fingerprints as they would be without any error of measurement."""
    builds = [Build(0, one["accumulation_steps"], tuple((count,) for count in one["tokens"])) for one in given]
    named_builds = [named(build, name) for build, name in zip(builds, names(given), strict=True)]
    return [one | {"found": play(build)} for one, build in zip(given, named_builds, strict=True)]


def _as_given(build: Build, chance: random.Random) -> dict[str, Any]:
    found = [[share * (1 + NOISE * chance.uniform(-1, 1)) for share in row] for row in play(build)]
    return {"found": found, "tokens": build.counts(), "accumulation_steps": build.steps}


def unseen_trainers(chance: random.Random, seed: int) -> dict[str, list[Build]]:
    """Trainers to test, by part. Every wrong one has a twin that is built alike and is right on its data, if any can be."""
    steps, seeds = chance.choice([3, 4]), iter(range(seed, seed + 100))
    left = chance.randint(2, steps - 1)
    length = chance.randint(3, 8)

    # Two trainers in a row have AdamW, the next two do not. So the right ones of each part are of both kinds.
    adam = itertools.cycle(chance.choice([(True, True, False, False), (False, False, True, True)]))

    def build(lengths: Lengths, n: int = steps, **how: Any) -> Build:
        return Build(next(seeds), n, lengths, adam=next(adam), **how)

    def hard(count: int, n: int = steps) -> Lengths:
        return uneven(chance, count, n)

    two, rest = 2 * steps, 2 * steps + left
    ones = uneven(chance, rest, steps, 1)
    even = ((length,),)
    singles = tuple((1,) * chance.randint(2, 6) for _ in range(rest))
    return {
        "weights": [
            *(build(hard(two), weigh="one", written="mean"), build(hard(steps, 1), 1, weigh="one", written="mean")),
            *(build(hard(rest), weigh="mean", written="mean"), build(even * rest, weigh="mean", written="mean")),
            *(build(hard(rest), weigh="positions"), build(ones, weigh="positions")),
        ],
        "windows": [
            *(build(hard(rest), clear="every"), build(hard(steps, 1), 1, clear="every")),
            *(build(hard(rest), clear="never"), build(hard(steps), clear="never")),
            build(hard(steps), clear="never", epochs=2),
            *(build(hard(two), ends="every"), build(hard(steps, 1), 1, ends="every")),
            *(build(hard(rest), ends="every"), build(hard(rest, 1), 1, ends="every")),
            *(build(hard(two, 1), 1, ends="two"), build(hard(1, 1), 1, ends="two")),
            build(hard(steps, 1), 1, weigh="positions", written="gradients"),
        ],
        "ends": [
            *(build(even * rest, weigh="N", written="mean"), build(even * two, weigh="N", written="mean")),
            *(build(hard(rest), ends="full"), build(hard(two), ends="full")),
            *(build(hard(steps + left), epochs=2, ends="run"), build(hard(two), epochs=2, ends="run")),
            build(hard(steps + left), epochs=2, written="gradients"),
        ],
        "untold": [
            *(build(hard(rest), accented=True), build(singles, accented=True)),
            *(build(hard(steps - 1), ends="full"), build(hard(two), ends="full", written="mean")),
            build(hard(rest), written="by hand"),
            build(hard(rest), evaluating=True),
        ],
    }
