"""The catalogue of mistakes: what each computes, in a sentence, and a hint that does not give the line away.

How a mistake is recognised is not in its text: see :mod:`gradaccum.diagnosis.naming`, which reads it off what the loop did.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mistake:
    """One catalogued wrong way to write a loop.

    Attributes:
        slug: its name, stable, used in reports.
        message: what the student's code computes instead, in plain words.
        hint: the next step, without the line.
    """

    slug: str
    message: str
    hint: str


CATALOGUE: dict[str, Mistake] = {}
"""All mistakes by slug."""


def mistake(slug: str) -> Mistake:
    """The catalogue's entry.

    Raises:
        KeyError: nothing in the catalogue has this slug.
    """
    return CATALOGUE[slug]


def add_mistake(slug: str, message: str, hint: str) -> None:
    """Enter a mistake. Those of loops are below; one that belongs to a single exercise stands in that exercise's file.

    Raises:
        ValueError: the slug is taken.
    """
    if slug in CATALOGUE:
        raise ValueError(f"two mistakes are called {slug!r}")
    CATALOGUE[slug] = Mistake(slug, message, hint)


# Stepping
add_mistake(
    "step-every",
    "Your loop updates the parameters after every micro-batch, although an update is due only after N of them.",
    "How many micro-batches belong to one update? Count them before you call the optimizer.",
)
add_mistake(
    "off-by-one-early",
    "Your updates come too early: the first window closes before it holds N micro-batches.",
    "Put the first value of your counter into your condition for an update, then the next. How many micro-batches have been "
    "through backward when it holds for the first time?",
)
add_mistake(
    "off-by-one-late",
    "Your updates come one micro-batch too late: the first window holds N + 1 of them.",
    "Count aloud: when the first update comes, how many micro-batches have been through backward?",
)
add_mistake(
    "same-batch-repeated",
    "Your loop runs the same micro-batch several times in one window, where each time the next one is due.",
    "Where in your loop is the next micro-batch fetched, and how often does that line run per window?",
)
add_mistake(
    "zero-before-step",
    ".grad is empty when its gradient is due: it was cleared after the last backward, or never filled.",
    "What is in .grad at the moment the optimizer reads it?",
)

# Clearing
add_mistake(
    "zero-every",
    "Gradients are cleared inside the window, before its last backward: only the last micro-batch of each window reaches the "
    "update.",
    "When may an accumulated gradient be thrown away? Only once it has been used.",
)
add_mistake(
    "never-zero",
    "Gradients are not cleared between windows: an update contains earlier windows again.",
    "After an update its gradient has done its work. What must happen before the next window begins?",
)
add_mistake(
    "stale-start",
    "What .grad held before your function was called is part of what you compute.",
    "You do not know what ran before you. In which state do you want .grad to be when you start?",
)

# Leftovers
add_mistake(
    "tail-stale",
    "The gradient of the leftover window stays in .grad and joins the first update of the next epoch.",
    "When the micro-batches run out in mid-window, what should happen to what you have gathered?",
)
add_mistake(
    "tail-dropped",
    "The leftover window at the end of the epoch makes no update: its samples never reach the parameters.",
    "When the micro-batches run out in mid-window, is there anything left to apply?",
)
add_mistake(
    "short-epoch-no-step",
    "An epoch with fewer micro-batches than one window makes no update at all.",
    "Try your loop in your head on an epoch with a single micro-batch.",
)
add_mistake(
    "tail-scale",
    "The leftover window weighs its micro-batches as if there were N of them: its update is too small.",
    "How many micro-batches are in the last window? Is that the number by which its gradient is divided?",
)

# Scaling
add_mistake(
    "no-scale",
    "Nothing divides by the number of micro-batches: each of them counts in full, where only its share of the mean is due.",
    "One large batch would average over all its samples. What is missing between a sum and an average?",
)
add_mistake(
    "double-scale",
    "The gradient is divided by the number of micro-batches twice, so each update is N times too short.",
    "Follow one micro-batch's gradient to the parameters and count the divisions on its way.",
)
add_mistake(
    "lr-scaled-too",
    "The gradient is averaged as it should be, but the learning rate is divided as well, so each update is too short.",
    "Averaging the loss and lowering the rate are two ways to the same end. How many do you need?",
)
add_mistake(
    "sum-reduction",
    "Samples are summed, not averaged: each micro-batch weighs as many times as it has samples.",
    "What does loss_fn average over, and what is one large batch's loss an average of?",
)
add_mistake(
    "mean-of-means",
    "All micro-batches of a window weigh alike, although some hold fewer samples: you compute a mean of means, and the "
    "samples of small micro-batches count too much.",
    "By which share of the window's samples should a micro-batch weigh?",
)

# Graph and modes
add_mistake(
    "retained-graph",
    "A running sum of losses goes through backward every time, so early micro-batches are counted again and again: the "
    "fingerprint is a triangle.",
    "How often does the first micro-batch's loss go through backward? It should be once.",
)
add_mistake(
    "one-big-batch",
    "The whole window's graph is in memory at once: this costs what the large batch would have cost.",
    "When is the graph of the first micro-batch freed? Could it be freed earlier?",
)
add_mistake(
    "grad-disabled",
    "Some forwards ran with gradients switched off, so their micro-batches are missing from the update.",
    "Which part of your loop is inside a no_grad block, and does it have to be?",
)
add_mistake(
    "detached",
    "Some micro-batches or parameters receive no gradient: their loss was cut from its graph, or had no backward.",
    "Where does a value lose its history: detach, item, or a new tensor made from numbers?",
)
add_mistake(
    "eval-mode",
    "The model was in evaluation mode, in which layers such as dropout and BatchNorm act differently from training.",
    "Which mode is the model in when you are called, and who changes it?",
)

# Bookkeeping
add_mistake(
    "epoch-prefetched",
    "The whole epoch is fetched before the first update; a stream may be longer than memory.",
    "How many micro-batches do you need to have seen before you can make the first update?",
)
add_mistake(
    "loss-scaled-in-log",
    "The reported losses are those already scaled for backward: they are too small.",
    "What is the mean loss over the samples of a window? Is that the number you collect?",
)
add_mistake(
    "loss-of-last",
    "The reported loss of a window is that of its last micro-batch only.",
    "A window has several losses. Which number speaks for all of its samples?",
)
add_mistake(
    "loss-mean-of-means",
    "The reported loss of a window weighs all its micro-batches alike, although some hold fewer samples.",
    "By which share of the window's samples should a micro-batch's loss count?",
)
add_mistake(
    "loss-summed",
    "The reported loss of a window is a sum over its micro-batches, not a mean over its samples.",
    "Would your number change if the same samples came in more, smaller micro-batches?",
)
