"""The mistakes that only exercises of unit 12 show, and what students are told about them."""

from __future__ import annotations

from gradaccum.diagnosis.catalogue import add_mistake

add_mistake(
    "weights-unmoved",
    "Your weights do not move: at the end of training they are where they began.",
    "What moves the weights after the backward passes, and what is in .grad at that moment?",
)
add_mistake(
    "tail-filled",
    "You fill up the leftover window of an epoch with micro-batches of the next one: your windows do not end with the epoch.",
    "How many streams does a run of two epochs read? Where does each of them end?",
)
add_mistake(
    "epoch-order-repeated",
    "Every epoch goes through the lines in the order of the first one.",
    "What argument does config.micro_batches take, and what do you pass it in the second epoch?",
)
add_mistake(
    "epochs-from-one",
    "Your epochs are one ahead: the first goes through the lines in the order of the second, and so on.",
    "What number has the first epoch?",
)
add_mistake(
    "resume-without-model",
    "A resumed run begins with fresh weights.",
    "Which of the run's four parts have you put back?",
)
add_mistake(
    "resume-without-optimizer",
    "A resumed run has lost what its optimizer remembers: momentum, or AdamW's averages.",
    "The weights are back. What else did the run gather in its earlier updates?",
)
add_mistake(
    "resume-without-schedule",
    "A resumed run begins its schedule again: it warms up a second time.",
    "Which update does the schedule think comes next?",
)
add_mistake(
    "resume-without-history",
    "A resumed run has forgotten the history of what came before.",
    "How many updates should the returned history cover?",
)
add_mistake(
    "resume-replays-data",
    "A resumed run begins again with the first line of the first epoch and sees lines that it has trained on.",
    "How many windows were used up before the stop? Skip those.",
)
add_mistake(
    "resume-repeats-the-epoch",
    "A resumed run starts again at the beginning of the epoch in which it was stopped, and repeats its first windows.",
    "The stop came within an epoch. Which of its windows were used up?",
)
add_mistake(
    "resume-one-window-off",
    "A resumed run is off by one window: it trains on the last one again, or leaves out the next one.",
    "With 5 updates in the history, which is the first window to train on? Count both from 1.",
)
add_mistake(
    "resume-skips-in-every-epoch",
    "A resumed run skips windows in every epoch, not once: your count of windows begins again with each epoch.",
    "Updates are counted over the whole run. Where does your count of windows begin?",
)
add_mistake(
    "resume-with-old-config",
    "A resumed run clips at the threshold of the call that was stopped.",
    "Which config does the second call bring, and which parts of it do you use?",
)
add_mistake(
    "resume-stops-late",
    "A resumed run that should stop again goes past that update.",
    "config.stop_after counts from the very start, in a resumed run as well. When does your run stop, and how often can it?",
)
add_mistake(
    "resume-in-the-wrong-epoch",
    "A resumed run knows how far it was within an epoch, but not in which epoch.",
    "Updates are counted over the whole run. In which epoch is the next window?",
)
add_mistake(
    "resume-schedule-ahead",
    "In a resumed run the schedule is ahead: it comes back with the steps it has made, and makes them again.",
    "The schedule's state says how many steps it has made. What else steps it before the first window?",
)
add_mistake(
    "resume-starts-over",
    "A run that should resume makes its updates again, from the very first one on.",
    "Is there a file at config.checkpoint whenever a call is to go on? Does your function look for it, and take the weights "
    "from it?",
)
add_mistake(
    "resume-counts-leftover-as-full",
    "A resumed run skips N micro-batches for every update made. A leftover had fewer, so it leaves lines out.",
    "How many micro-batches did the last window of the first epoch have? Is there a unit that counts it as one, as the history "
    "does?",
)
add_mistake(
    "resume-epoch-without-leftover",
    "A resumed run counts only the full windows of an epoch. The leftover is an update, too, so you lose your place.",
    "How many updates does one epoch make when its lines do not fill the last window?",
)
add_mistake(
    "resume-second-stop-not-saved",
    "After a second stop the file still holds the first, so the next run does not know what came in between.",
    "Your function is called with a file that exists, and has to stop. Does it write at that stop, and to which path?",
)
add_mistake(
    "budget-spent-before-training",
    "What your run holds before the first micro-batch goes through its model takes too much of its budget.",
    "What does your function do before it trains, and does train need that? config says which micro-batches to take.",
)
add_mistake(
    "memory-grows-with-updates",
    "Your run is within its budget at the first update and above it later: more is in memory at once than at the beginning.",
    "What is there at a later update that was not there at the first? Does your function collect something, or hold gradients "
    "twice? Numbers take next to nothing, tensors and graphs a lot.",
)
add_mistake(
    "loss-share-of-last",
    "The loss you report is the last micro-batch's share of the window's loss. The shares of the others are missing.",
    "Each micro-batch contributes its share. What happens to a share when the next one arrives?",
)
add_mistake(
    "entries-in-another-order",
    "The numbers of each update are right, but they are not all under their own names.",
    "In which order does run.history.add take them?",
)
add_mistake(
    "tokens-with-padding",
    "Padding is counted in the tokens you report, so tokens per second look better than without it.",
    "Which targets are not tokens of the text?",
)
add_mistake(
    "tokens-of-last",
    "The tokens you report are counted in a single micro-batch of the window.",
    "A window has several micro-batches. How many tokens do they have together?",
)
add_mistake(
    "micro-batch-over-budget",
    "Your size needs more than the budget. A micro-batch of the longest lines will not fit, and sooner or later one comes.",
    "Which lines are in the micro-batch that you measure, and how many of them? What do you do to its bytes, and to the "
    "budget, before you compare them?",
)
add_mistake(
    "micro-batch-no-divisor",
    "The size fits, but it does not divide the window: the effective batch would not be the one asked for.",
    "How many micro-batches of this size make one window?",
)
add_mistake(
    "only-halves",
    "You try the window, half of it, a quarter and so on. A size that you do not try may fit.",
    "Which sizes divide the window? Powers of two are not the only ones.",
)
add_mistake(
    "own-size-as-limit",
    "You return no size above config.micro_batch_size, which is only what the config happens to say.",
    "What is the largest size that could divide the window?",
)
add_mistake(
    "steps-for-lines",
    "You return how many micro-batches make a window, not how many lines a micro-batch has.",
    "Is what you return B or N?",
)
add_mistake(
    "micro-batch-smallest",
    "In the configurations tried you return a single line where more fit. Most of the budget, and of the device, is unused.",
    "What is the largest size that fits?",
)
add_mistake(
    "micro-batch-whole-window",
    "You take the whole window as one micro-batch where it does not fit, as if there were no budget, or a larger one.",
    "How many bytes does such a micro-batch need, and how many are allowed?",
)
