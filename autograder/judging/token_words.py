"""Mistakes of loops over tokens, and what is said among tokens of mistakes that any loop can make."""

from __future__ import annotations

from dataclasses import replace

from gradaccum.diagnosis.catalogue import Mistake, add_mistake, mistake

RENAMED = {"mean-of-means": "token-mean-of-means"}
"""By mistake of loops over samples, what it is called among tokens."""

TOKEN_WORDS = {
    "sum-reduction": {
        "message": "Token losses are added up and never divided by their number: updates are too long, most of all where "
        "there are many tokens.",
        "hint": "What does cross_entropy average over, and what is one large batch's loss an average of?",
    },
    "no-scale": {
        "message": "The means of the micro-batches are added up where one mean over the tokens of the window was due: each "
        "update is several times too long.",
        "hint": "How many tokens does a micro-batch have, and how many its window? Which of the two do you divide by?",
    },
    "double-scale": {
        "message": "The gradient of a window is a mean already, and is divided by the number of micro-batches on top: each "
        "update is N times too short.",
    },
    "loss-mean-of-means": {
        "message": "The reported loss of a window weighs all its micro-batches alike, although some hold fewer tokens.",
        "hint": "By which share of the window's tokens should a micro-batch's loss count?",
    },
    "loss-summed": {
        "message": "The reported loss of a window is a sum, not a mean over its tokens.",
        "hint": "Would your number change if the same tokens came in more, smaller micro-batches?",
    },
    "loss-scaled-in-log": {"hint": "What is the mean loss over the tokens of a window? Is that the number you collect?"},
    "loss-of-last": {"hint": "A window has several losses. Which number speaks for all of its tokens?"},
}
"""By mistake of any loop, the texts that differ among tokens; elsewhere they speak of samples."""


def in_tokens(slug: str) -> Mistake:
    """The catalogue's entry, in words about tokens."""
    return replace(mistake(slug), **TOKEN_WORDS.get(slug, {}))


add_mistake(
    "token-mean-of-means",
    "All micro-batches of a window weigh alike, although they hold different numbers of tokens: you compute a mean of means, "
    "and a token counts for more the fewer there are beside it.",
    "How many tokens share the weight of their micro-batch? How many should share the weight of the window?",
)
add_mistake(
    "sequences-for-tokens",
    "You count sequences where tokens are due: what a token counts, or how long the update is, then depends on the sequences.",
    "Over what is the loss of one micro-batch averaged already? Count the same thing in the window.",
)
add_mistake(
    "padding-counted",
    "You count every position, padding included, as if there were a token to predict: what is padded more weighs too much or "
    "the update is too short.",
    "Which of the targets take part in the loss?",
)
add_mistake(
    "ignore-index-fixed",
    "Your code, or a part of it, ignores -100 whatever ignore_index says: other padding then counts like any target.",
    "In which places does your code need to know which targets do not count: in the loss, in the number of tokens?",
)
add_mistake(
    "empty-is-nan",
    "Where there is no token your code makes a NaN, which is what 0 divided by 0 gives, and so is every sum it joins.",
    "What does cross_entropy return when every target is ignored, with reduction='mean' and with reduction='sum'?",
)
add_mistake(
    "empty-window-is-nan",
    "Where a whole window is without a token your code gives NaN, which is what 0 divided by 0 gives.",
    "What do the losses of such a window add up to, and by what do you divide that?",
)
add_mistake(
    "empty-skipped",
    "Micro-batches without tokens are left out before you count N of them, so all later windows begin too late.",
    "Does a micro-batch without tokens belong to its window?",
)
add_mistake(
    "tokens-never-reset",
    "Your number of tokens keeps growing from window to window: later updates are divided by the tokens of "
    "earlier windows, too.",
    "What has to begin at 0 again when a window begins?",
)
add_mistake(
    "targets-shifted",
    "Your code shifts the targets against the logits. They fit as they are: the logits of a position predict its target.",
    "Which target belongs to the logits of position 0?",
)
