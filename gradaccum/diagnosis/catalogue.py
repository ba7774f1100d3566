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
    "The loop makes an update for every micro-batch, although one is due only for N of them.",
    "How many micro-batches go into one update? Count them before you call the optimizer.",
)
add_mistake(
    "off-by-one-early",
    "Updates come too early: the first window closes before it holds N micro-batches.",
    "Try your condition for an update on the first value of your counter, then on the next. How many micro-batches have "
    "been through backward when it is first true?",
)
add_mistake(
    "off-by-one-late",
    "Updates come one micro-batch too late: the first window holds N + 1 micro-batches.",
    "Count aloud: by the time of the first update, how many micro-batches have been through backward?",
)
add_mistake(
    "same-batch-repeated",
    "Your loop runs the same micro-batch several times in one window, where each time the next one is due.",
    "Where does your loop fetch the next micro-batch, and how often does that line run in a window?",
)
add_mistake(
    "zero-before-step",
    ".grad holds nothing new when the optimizer reads it, as if it had been cleared after the last backward, or never filled.",
    "What is in .grad just before the optimizer reads it, and which line put it there?",
)

# Clearing
add_mistake(
    "zero-every",
    "Only the last micro-batch of each window reaches the update, as if gradients were cleared before its backward.",
    "When is it safe to throw away an accumulated gradient? Only once it has been used.",
)
add_mistake(
    "never-zero",
    "Updates include earlier windows again, as they do if gradients are not cleared in between.",
    "Once an update has been made, its gradient has done its work. What must happen before the next window begins?",
)
add_mistake(
    "stale-start",
    "Your result includes something that .grad held before your function was called.",
    "You cannot know what ran before your function. What should .grad hold when you start?",
)

# Leftovers
add_mistake(
    "tail-stale",
    "What a leftover window holds joins the first update of the next epoch.",
    "If the micro-batches run out in the middle of a window, what should happen to the gradient you have accumulated?",
)
add_mistake(
    "tail-dropped",
    "The leftover window at the end of the epoch gets no update of its own, so its samples do not reach the parameters.",
    "If the micro-batches run out in the middle of a window, is there anything left to apply?",
)
add_mistake(
    "short-epoch-no-step",
    "An epoch with fewer micro-batches than one window makes no update at all.",
    "Step through your loop by hand, for an epoch with a single micro-batch.",
)
add_mistake(
    "tail-scale",
    "The leftover window is divided by the full number of accumulation steps instead of by what it holds, or comes out as if "
    "it were.",
    "How many micro-batches are in the last window? Is that the number you divide by?",
)

# Scaling
add_mistake(
    "no-scale",
    "The micro-batches of an update are added up instead of averaged, as if the division by their number were missing.",
    "One large batch averages over all its samples. What does it take to turn your sum into an average?",
)
add_mistake(
    "double-scale",
    "The gradient comes out as if divided by the number of micro-batches twice, so updates of several are shorter than after "
    "one division.",
    "Follow one micro-batch's gradient to the parameters and count the divisions along the way.",
)
add_mistake(
    "lr-scaled-too",
    "The learning rate is lowered, although the one given is meant for the mean gradient of a whole window, so updates are "
    "shorter than they would be at that rate.",
    "Which of your lines changes the rate, and does the task ask for it? The mean gradient of a window needs no other rate.",
)
add_mistake(
    "sum-reduction",
    "Each micro-batch's gradient is multiplied by its number of samples, as if samples were summed, not averaged.",
    "What does loss_fn average over? What does the loss of one large batch average over?",
)
add_mistake(
    "mean-of-means",
    "Micro-batches of a window are weighted as if all were equally large, although some hold fewer samples. As in a mean of "
    "means, the samples of small micro-batches count too much.",
    "What share of the window's samples does each micro-batch hold?",
)

# Graph and modes
add_mistake(
    "retained-graph",
    "Early micro-batches of a window are counted again and again, as if backward ran on a running sum of losses. Where all "
    "are equally large, each row of the fingerprint descends like stairs.",
    "How many times does the first micro-batch's gradient join the sum? Once is enough.",
)
add_mistake(
    "one-big-batch",
    "As much memory is in use at once as the graph of much or all of a window takes, where that of one micro-batch is enough.",
    "What is in memory at once: several micro-batches, their graphs, a gradient for each of them? How much of it does a single "
    "backward pass need?",
)
add_mistake(
    "grad-disabled",
    "Some forward passes, or all, ran with gradients switched off. A micro-batch that goes through the model only in this way "
    "reaches no update.",
    "Which part of your loop is inside a no_grad block, and does it have to be?",
)
add_mistake(
    "detached",
    "Some micro-batches contribute no gradient, or some parameters receive none, as if a loss had been cut off from its "
    "graph, or had never gone through backward.",
    "Which losses go through backward, and for which parameters? Does a value lose its history, as in detach or item?",
)
add_mistake(
    "eval-mode",
    "The model, or a part of it, was in evaluation mode, some of the time or always. In it, layers such as dropout and "
    "BatchNorm behave differently than in training.",
    "Which mode is the model in when your function is called, and what changes it?",
)

# Bookkeeping
add_mistake(
    "epoch-prefetched",
    "All windows of an epoch are fetched before the first update, or many of them, but a stream may not fit into memory.",
    "How many micro-batches do you need before you can make the first update?",
)
add_mistake(
    "loss-scaled-in-log",
    "Some of the reported losses, or all, are too small, as if they had been scaled for backward.",
    "What is the mean loss over the samples of a window? Is that the number you collect?",
)
add_mistake(
    "loss-of-last",
    "The loss reported for a window is that of its last micro-batch only.",
    "A window has several losses. Which single number represents all of its samples?",
)
add_mistake(
    "loss-mean-of-means",
    "The loss reported for a window gives all its micro-batches the same weight, although some hold fewer samples.",
    "What share of the window's samples does each micro-batch hold?",
)
add_mistake(
    "loss-summed",
    "The loss reported for a window is a sum, not a mean over its samples.",
    "A mean stays about the same when a window is twice as long. Does your number?",
)
