"""Mistakes with batch sizes, learning rates, the noise scale and schedules, in words for students."""

from __future__ import annotations

from gradaccum.diagnosis.catalogue import add_mistake

add_mistake(
    "fixed-number",
    "One of the arguments makes no difference to your result, as if a fixed number stood in its place.",
    "Change one argument at a time. Which of them leaves your result as it was?",
)
add_mistake(
    "rounded",
    "You round the result to so few digits that it becomes another number.",
    "Does anything in the task ask you to round? What is left of 0.00003?",
)
add_mistake(
    "forgets-world-size",
    "You multiply B and N but leave out the number of ranks.",
    "Each rank works on its own micro-batch. How many samples reach one update?",
)
add_mistake(
    "adds-sizes",
    "You add where you should multiply. How many samples are in N micro-batches of B, and how many on all ranks?",
    "Draw N boxes with B dots each and count the dots.",
)
add_mistake(
    "ratio-inverted",
    "Your rate goes down when the batch goes up: the ratio of the two batches is upside down.",
    "A larger batch is less noisy. Does it allow a longer or a shorter step?",
)
add_mistake(
    "rate-not-scaled",
    "You return the rate as it was, whatever the rule says.",
    "By what does the linear rule multiply the rate when the batch doubles? And the square-root rule?",
)
add_mistake(
    "rules-swapped",
    "The linear rule and the square-root rule have changed places.",
    "When the batch doubles, by how much does the rate grow under each rule?",
)
add_mistake(
    "whole-ratios",
    "Your ratio of the two batches is a whole number: what comes after the decimal point is lost.",
    "What does your ratio become for half the reference batch?",
)
add_mistake(
    "negative-hidden",
    "Your number is right except where the estimate of |G|² is negative: there it is not what the equations say.",
    "Does your code treat a negative estimate differently? What would the equations return?",
)
add_mistake(
    "noise-not-divided",
    "Your number is the noise alone. The noise scale compares it with the squared length of the true gradient.",
    "Which of the two unknowns goes below the fraction bar?",
)
add_mistake(
    "forgets-micro-batch-size",
    "Your number is that of micro-batches with one sample each; a gradient here is a mean over B samples and less noisy.",
    "By how much does averaging B samples shrink the variance?",
)
add_mistake(
    "biased-signal",
    "You use the squared length of the mean gradient as that of the true one, but it still holds noise and is too large.",
    "What would that length be if the true gradient were zero?",
)
add_mistake(
    "noise-inverted",
    "Your number is the reciprocal: signal over noise.",
    "Should a noisier gradient give a larger or a smaller noise scale?",
)
add_mistake(
    "biased-noise",
    "Your estimate of the noise comes from S − L alone, which is too small: part of L is noise as well.",
    "Subtract the two equations term by term. What becomes of the noise in the second?",
)
add_mistake(
    "lengths-added-up",
    "S or L is a sum in your formula where the equations have a mean.",
    "Both S and L have a 1/N. What does it divide in each, and is it inside the square or outside?",
)
add_mistake(
    "lengths-not-squared",
    "You put lengths into the equations, which are about squared lengths.",
    "The vector (3, 4) has the length 5. What stands in the equations for it?",
)
add_mistake(
    "schedule-per-micro-batch",
    "The schedule advances with every micro-batch, N times too fast: warmup ends early, and the rate falls too soon.",
    "What does a schedule count: micro-batches or updates?",
)
add_mistake(
    "schedule-before-step",
    "The schedule advances before the update, so every update uses the rate of the next one and the first rate is never used.",
    "Which rate should the very first update use?",
)
add_mistake(
    "schedule-per-epoch",
    "The schedule advances once per epoch, although it counts updates.",
    "How many updates does an epoch make, and how often did your schedule move?",
)
add_mistake(
    "schedule-never",
    "Every update uses the first rate, as if the schedule never advanced.",
    "Who moves the schedule forward?",
)
add_mistake(
    "schedule-restarts",
    "Every epoch starts the schedule again at its first rate.",
    "Which rate should the first update of the second epoch use?",
)
add_mistake(
    "rate-of-next",
    "The rate that you report for an update is that of the next one, as if it were read after the schedule has moved on.",
    "At which moment does the optimizer hold the rate that an update uses?",
)
add_mistake(
    "schedule-skips-leftover",
    "The schedule does not advance after a leftover window, although that is an update like any other.",
    "How many updates does an epoch with a leftover make, and how often did your schedule move in it?",
)
add_mistake(
    "lr-multiplied",
    "Some of your updates, or all, use N times the rate that the schedule gives.",
    "What decides the rate of an update here? Does your loop have a say in it?",
)
