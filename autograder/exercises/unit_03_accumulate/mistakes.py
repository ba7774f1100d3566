"""Mistakes with a learning rate and with comparing configurations, in words for students."""

from __future__ import annotations

from gradaccum.diagnosis.catalogue import add_mistake

add_mistake(
    "rate-multiplied",
    "You multiply the rate by N. A sum is already N times as long as the mean: your updates would be N² times too long.",
    "Is the sum of N gradients longer or shorter than their mean?",
)
add_mistake(
    "rate-unchanged",
    "You return the rate as it was.",
    "What changes in this task, and by what factor must the rate make up for it?",
)
add_mistake(
    "fixed-number",
    "Your formula has a fixed number in the place of one of the arguments: that argument makes no difference.",
    "Change one argument at a time. Which of them leaves your result as it was?",
)
add_mistake(
    "rounded",
    "You round the result to so few digits that it becomes another number.",
    "Does anything in the task ask you to round? What is left of a rate of 0.00003?",
)
add_mistake(
    "compares-sum",
    "You compare B + N, but what matters is how many samples an update averages over.",
    "With B samples in each of N micro-batches, count the samples.",
)
add_mistake(
    "compares-accumulation-steps",
    "You compare only the accumulation steps, but the number of samples that an update averages over depends on B as well.",
    "With B samples in each of N micro-batches, count the samples.",
)
add_mistake(
    "compares-micro-batch",
    "You compare only the micro-batch sizes, but the number of samples that an update averages over depends on N as well.",
    "With B samples in each of N micro-batches, count the samples.",
)
add_mistake(
    "compares-configurations",
    "You call configurations different that are written differently, although they average over equally many samples.",
    "Are B=8, N=1 and B=2, N=4 the same update?",
)
