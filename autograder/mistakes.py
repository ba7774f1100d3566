"""The catalogue of mistakes: what each computes, in a sentence, and a hint that does not give the line away.

How a mistake is recognised is not in its text: see :mod:`autograder.diagnosis`, which reads it off what the loop did.
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


def _add(slug: str, message: str, hint: str) -> None:
    CATALOGUE[slug] = Mistake(slug, message, hint)


# Stepping
_add(
    "step-every",
    "Your loop updates the parameters after every micro-batch, so nothing is accumulated: each row of the fingerprint "
    "holds a single micro-batch.",
    "How many micro-batches belong to one update? Count them before you call the optimizer.",
)
_add(
    "off-by-one-early",
    "Your first window is one micro-batch wide; only after it do the windows have the right width.",
    "Put 0 into your condition for an update. Should an update follow the very first micro-batch?",
)
_add(
    "off-by-one-late",
    "Your first window is one micro-batch too wide; only after it do the windows have the right width.",
    "Count aloud: when the first update comes, how many micro-batches have been through backward?",
)
_add(
    "same-batch-repeated",
    "Your loop runs the same micro-batch several times in one window and never looks at the others.",
    "Where in your loop is the next micro-batch fetched, and how often does that line run per window?",
)
_add(
    "zero-before-step",
    "Gradients are cleared between the last backward and the update, so every update is zero and the parameters never move.",
    "What is in .grad at the moment the optimizer reads it?",
)

# Clearing
_add(
    "zero-every",
    "Gradients are cleared before every backward, so only the last micro-batch of each window reaches the update.",
    "When may an accumulated gradient be thrown away? Only once it has been used.",
)
_add(
    "never-zero",
    "Gradients are never cleared: every update contains all earlier windows again.",
    "After an update its gradient has done its work. What must happen before the next window begins?",
)
_add(
    "stale-start",
    "What .grad held before your function was called is part of your first update.",
    "You do not know what ran before you. In which state do you want .grad to be when you start?",
)

# Leftovers
_add(
    "tail-stale",
    "The leftover window is never applied; its gradient stays in .grad and joins the first update of the next epoch.",
    "When the micro-batches run out in mid-window, what should happen to what you have gathered?",
)
_add(
    "tail-dropped",
    "The leftover window at the end of the epoch is thrown away: its samples never reach the parameters.",
    "When the micro-batches run out in mid-window, is there anything left to apply?",
)
_add(
    "short-epoch-no-step",
    "An epoch with fewer micro-batches than one window makes no update at all.",
    "Try your loop in your head on an epoch with a single micro-batch.",
)
_add(
    "tail-scale",
    "The leftover window is divided by the full number of accumulation steps, not by what it holds: its update is too small.",
    "How many micro-batches are in the last window? Is that the number you divide by?",
)

# Scaling
_add(
    "no-scale",
    "Nothing divides by the number of micro-batches: the gradients of a window are added up where their mean was due, "
    "so each update is N times too long.",
    "One large batch would average over all its samples. What is missing between a sum and an average?",
)
_add(
    "double-scale",
    "The gradient is divided by the number of micro-batches twice, so each update is N times too short.",
    "Follow one micro-batch's gradient to the parameters and count the divisions on its way.",
)
_add(
    "lr-scaled-too",
    "The gradient is averaged as it should be, but the learning rate is divided as well, so each update is too short.",
    "Averaging the loss and lowering the rate are two ways to the same end. How many do you need?",
)
_add(
    "sum-reduction",
    "Samples are summed, not averaged: each micro-batch weighs as many times as it has samples.",
    "What does loss_fn average over, and what is one large batch's loss an average of?",
)
_add(
    "mean-of-means",
    "All micro-batches of a window weigh alike, although some hold fewer samples: you compute a mean of means, and the "
    "samples of small micro-batches count too much.",
    "By which share of the window's samples should a micro-batch weigh?",
)

# Graph and modes
_add(
    "retained-graph",
    "A running sum of losses goes through backward every time, so early micro-batches are counted again and again: the "
    "fingerprint is a triangle.",
    "How often does the first micro-batch's loss go through backward? It should be once.",
)
_add(
    "one-big-batch",
    "The numbers are right, but the whole window's graph is in memory at once: this costs what the large batch would have "
    "cost.",
    "When is the graph of the first micro-batch freed? Could it be freed earlier?",
)
_add(
    "grad-disabled",
    "Some forwards ran with gradients switched off, so their micro-batches are missing from the update.",
    "Which part of your loop is inside a no_grad block, and does it have to be?",
)
_add(
    "detached",
    "The loss was cut from its graph before backward, so some micro-batches or parameters receive no gradient.",
    "Where does a value lose its history: detach, item, or a new tensor made from numbers?",
)
_add(
    "eval-mode",
    "The model was in evaluation mode, in which layers such as dropout and BatchNorm act differently from training.",
    "Which mode is the model in when you are called, and who changes it?",
)

# Bookkeeping
_add(
    "epoch-prefetched",
    "The whole epoch is fetched before the first update; a stream may be longer than memory.",
    "How many micro-batches do you need to have seen before you can make the first update?",
)
_add(
    "loss-scaled-in-log",
    "The reported losses are those already scaled for backward: they are too small.",
    "What is the mean loss over the samples of a window? Is that the number you collect?",
)
_add(
    "loss-of-last",
    "The reported loss of a window is that of its last micro-batch only.",
    "A window has several losses. Which number speaks for all of its samples?",
)
_add(
    "loss-mean-of-means",
    "The reported loss of a window weighs all its micro-batches alike, although some hold fewer samples.",
    "By which share of the window's samples should a micro-batch's loss count?",
)
_add(
    "loss-summed",
    "The reported loss of a window is a sum over its micro-batches, not a mean over its samples.",
    "Would your number change if the same samples came in more, smaller micro-batches?",
)

# Numbers
_add(
    "rate-multiplied",
    "You multiply the rate by N. A sum is already N times as long as the mean: your updates would be N² times too long.",
    "Is the sum of N gradients longer or shorter than their mean?",
)
_add(
    "rate-unchanged",
    "You return the rate as it was. With summed gradients the update is then N times too long.",
    "By which factor do the sum and the mean of N gradients differ?",
)
_add(
    "compares-sum",
    "You compare B + N. How many samples does an update average over?",
    "With B samples in each of N micro-batches, count the samples.",
)
_add(
    "compares-accumulation-steps",
    "You compare the accumulation steps only, but how many samples an update averages over depends on B as well.",
    "With B samples in each of N micro-batches, count the samples.",
)
_add(
    "compares-micro-batch",
    "You compare the micro-batch sizes only, but how many samples an update averages over depends on N as well.",
    "With B samples in each of N micro-batches, count the samples.",
)
_add(
    "compares-configurations",
    "You call configurations different as soon as they are written differently, although they may average the same samples.",
    "Are B=8, N=1 and B=2, N=4 the same update?",
)
