"""The mistakes that only exercises of unit 12 show, and what students are told about them."""

from __future__ import annotations

from gradaccum.diagnosis.catalogue import add_mistake

add_mistake(
    "weights-unmoved",
    "Your weights do not move: at the end of training they are where they were.",
    "What moves the weights after the backward passes, and what is in .grad at that moment?",
)
add_mistake(
    "tail-filled",
    "The leftover window of an epoch is filled up with micro-batches of the next one: your windows do not end with the epoch.",
    "How many streams does a run of two epochs read? Where does each of them end?",
)
add_mistake(
    "epoch-order-repeated",
    "Every epoch goes through the lines in the order of the first one.",
    "What does config.micro_batches want to be told, and what do you tell it in the second epoch?",
)
add_mistake(
    "resume-without-model",
    "A run that goes on begins with fresh weights.",
    "Which of the run's four parts have you put back?",
)
add_mistake(
    "resume-without-optimizer",
    "A run that goes on has lost what its optimizer remembers: momentum, or AdamW's averages.",
    "The weights are back. What else has the run gathered in its earlier updates?",
)
add_mistake(
    "resume-without-schedule",
    "A run that goes on begins its schedule again: it warms up a second time.",
    "Which update does the schedule think comes next?",
)
add_mistake(
    "resume-without-history",
    "A run that goes on has forgotten the history of what came before.",
    "Of how many updates should the returned history tell?",
)
add_mistake(
    "resume-replays-data",
    "A run that goes on begins with the first line of the first epoch again and sees lines it has trained on.",
    "How many windows were used up before the stop? They have to be passed over.",
)
add_mistake(
    "resume-repeats-the-epoch",
    "A run that goes on begins the epoch again in which it was stopped, and trains on its first windows a second time.",
    "The stop came within an epoch. Which of its windows were used up?",
)
add_mistake(
    "resume-one-window-off",
    "A run that goes on is a window off: it trains on the last one again, or leaves the next one out.",
    "With 5 updates in the history, which is the first window to train on? Count both from 1.",
)
add_mistake(
    "resume-skips-in-every-epoch",
    "A run that goes on passes over windows in every epoch, not once: your count of windows begins again with each.",
    "Updates are counted over the whole run. Where does your count of windows begin?",
)
add_mistake(
    "resume-with-old-config",
    "A run that goes on clips at the threshold of the call that was stopped.",
    "Which config does the second call bring, and what of it do you use?",
)
add_mistake(
    "resume-stops-late",
    "A run that goes on, and is told to stop again, goes past that update.",
    "config.stop_after counts from the very start. From where do you count?",
)
add_mistake(
    "resume-in-the-wrong-epoch",
    "A run that goes on knows how far it was within an epoch, but not in which epoch.",
    "Updates are counted over the whole run. In which epoch is the next window?",
)
add_mistake(
    "resume-starts-over",
    "A run that should go on begins from nothing.",
    "There is a file at config.checkpoint. Does your function look for it, and take the weights from it?",
)
add_mistake(
    "resume-counts-leftover-as-full",
    "A run that goes on passes over N micro-batches for every update made. A leftover had fewer, so lines are left out.",
    "How many micro-batches did the last window of the first epoch have? Is there a unit that counts it as one, as the history "
    "does?",
)
add_mistake(
    "resume-epoch-without-leftover",
    "A run that goes on takes an epoch for its full windows only. The leftover is an update, too, and you lose your place.",
    "How many updates does one epoch make when its lines do not fill the last window?",
)
add_mistake(
    "resume-second-stop-not-saved",
    "After a second stop the file still holds the first: the next run does not know what came between.",
    "Your function is called with a file that exists, and is to stop. Does it write at that stop, and whose path does it take?",
)
add_mistake(
    "budget-spent-before-training",
    "Your run is above its budget before the first micro-batch goes through its model. The loop is not what costs.",
    "What does your function do before it trains, and does train need it? config says which micro-batches to take.",
)
add_mistake(
    "loss-share-of-last",
    "The loss you report is the last micro-batch's share of the window's loss. The shares of the others are missing.",
    "Each micro-batch brings its share. What becomes of the one before when the next arrives?",
)
add_mistake(
    "entries-in-another-order",
    "The four numbers of each update are right, but each stands under another name.",
    "In which order does run.history.add take them?",
)
add_mistake(
    "tokens-with-padding",
    "The tokens you report include padding, so tokens per second look better than they are.",
    "Which targets are not tokens of the text?",
)
add_mistake(
    "tokens-of-last",
    "The tokens you report are those of the window's last micro-batch only.",
    "A window has several micro-batches. How many tokens have they together?",
)
add_mistake(
    "measured-on-the-first",
    "You measured a micro-batch of ordinary lines. One with the longest lines needs more, and it will come.",
    "How long is a micro-batch after padding? Which lines decide that, and how many bytes does it need in the worst case?",
)
add_mistake(
    "micro-batch-no-divisor",
    "The size fits, but it does not divide the window: the effective batch would not be the one asked for.",
    "How many micro-batches of this size make one window?",
)
add_mistake(
    "only-halves",
    "You try the window, its half, a quarter and so on; between them there may be a larger one that fits.",
    "Which sizes divide the window? Powers of two are not the only ones.",
)
add_mistake(
    "own-size-as-limit",
    "You look no further than config.micro_batch_size, which is only what the config happens to say.",
    "Which is the largest size that could divide the window?",
)
add_mistake(
    "steps-for-lines",
    "You return how many micro-batches make a window, not how many lines a micro-batch has.",
    "Is what you return B or N?",
)
add_mistake(
    "micro-batch-smallest",
    "One line at a time always fits, and leaves most of the budget, and of the device, unused.",
    "Which is the largest size that fits?",
)
add_mistake(
    "micro-batch-whole-window",
    "The whole window is one micro-batch: it was not measured against the budget.",
    "How many bytes does such a micro-batch need, and how many are allowed?",
)
