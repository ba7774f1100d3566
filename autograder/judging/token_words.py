"""Mistakes of loops over tokens, and what is said among tokens of mistakes that any loop can make."""

from __future__ import annotations

from dataclasses import replace

from gradaccum.diagnosis.catalogue import Mistake, add_mistake, mistake

RENAMED = {"mean-of-means": "token-mean-of-means"}
"""By mistake of loops over samples, what it is called among tokens."""

TOKEN_WORDS = {
    "sum-reduction": {
        "message": "The gradient of a window grows with its tokens, as that of a sum of their losses does: it is not divided "
        "by how many there are.",
        "hint": "What does cross_entropy average over? What does the loss of one large batch average over?",
    },
    "no-scale": {
        "message": "The shares of a window's micro-batches add up to their number, as they do where means are summed and never "
        "divided. They have to add up to 1, so updates are too long where a window has several.",
        "hint": "How many tokens are there in a micro-batch, and how many in its window? Which do you divide by?",
    },
    "double-scale": {
        "message": "The gradient of a window comes out as if a mean over its tokens were divided once more, by N or by the "
        "number of its micro-batches, so updates are too short.",
    },
    "loss-mean-of-means": {
        "message": "The loss reported for a window gives every micro-batch the same weight, although some hold fewer tokens.",
        "hint": "What share of the window's tokens does each micro-batch hold?",
    },
    "loss-summed": {
        "message": "The loss reported for a window is a sum, not a mean over its tokens.",
        "hint": "A mean stays about the same when a window is twice as long. Does your number?",
    },
    "loss-scaled-in-log": {"hint": "What is the mean loss over the tokens of a window? Is that the number you collect?"},
    "loss-of-last": {"hint": "A window has several losses. Which single number represents all of its tokens?"},
}
"""By mistake of any loop, the texts that differ among tokens; elsewhere they speak of samples."""


def in_tokens(slug: str) -> Mistake:
    """The catalogue's entry, in words about tokens."""
    return replace(mistake(slug), **TOKEN_WORDS.get(slug, {}))


add_mistake(
    "token-mean-of-means",
    "Every micro-batch of a window gets the same weight, although some hold fewer tokens. This is a mean of means, in which a "
    "token counts for more the fewer others its micro-batch holds.",
    "How many tokens share the weight of their micro-batch? How many should share the weight of the window?",
)
add_mistake(
    "sequences-for-tokens",
    "You count sequences where tokens are due, so what a token counts, or how long an update is, depends on the sequences.",
    "What does the loss of one micro-batch already average over? Count the same thing in the window.",
)
add_mistake(
    "padding-counted",
    "You count positions at which there is no token to predict, such as padding: what has more of them weighs too much, or the "
    "update is too short.",
    "Which of the targets take part in the loss?",
)
add_mistake(
    "ignore-index-fixed",
    "Your code, or a part of it, ignores -100 whatever ignore_index is, so other padding counts like any target.",
    "Where does your code need to know which targets do not count? In the loss? In the number of tokens?",
)
add_mistake(
    "empty-is-nan",
    "Where there are no tokens, your code produces NaN, as 0 divided by 0 does, and every sum that includes it is NaN, too.",
    "What does cross_entropy return when every target is ignored, with reduction='mean' and with reduction='sum'?",
)
add_mistake(
    "empty-window-is-nan",
    "Where a whole window has no tokens, your code produces NaN, which is what 0 divided by 0 gives.",
    "What do the losses of such a window add up to, and what do you divide that by?",
)
add_mistake(
    "empty-skipped",
    "Micro-batches without tokens are left out before you count N of them, so all later windows begin too late.",
    "Does a micro-batch without tokens belong to its window?",
)
add_mistake(
    "tokens-not-reset",
    "Your number of tokens keeps growing from window to window, so later updates are also divided by the tokens of "
    "earlier windows.",
    "What has to start from 0 again with each window?",
)
add_mistake(
    "targets-shifted",
    "Your code, or its count of tokens, uses the inputs instead of the targets, or targets that are shifted against the "
    "logits. The targets fit as they are: the logits of a position predict its target.",
    "Which target belongs to the logits of position 0?",
)
