"""Mistakes with a learning rate and with comparing configurations, in words for students."""

from __future__ import annotations

from gradaccum.diagnosis.catalogue import add_mistake

add_mistake(
    "grad-not-filled",
    "None of your gradient is in .grad when your function returns, as if it had been cleared after the last backward, or "
    "never filled.",
    "What is in .grad at the end of your function, and which line put it there?",
)
add_mistake(
    "micro-batch-left-out",
    "Not every micro-batch is in your gradient.",
    "Which micro-batch has no number in the fingerprint, and which line leaves it out?",
)
add_mistake(
    "divided-by-own-samples",
    "You divide each micro-batch's loss by its number of samples, although it is a mean over them already.",
    "What does loss_fn return, a sum or a mean? By what share should a micro-batch weigh?",
)
add_mistake(
    "divided-by-all-samples",
    "You divide each micro-batch's mean loss by the number of all samples, without having multiplied it by its own.",
    "How do you make the sum over a micro-batch's samples out of their mean?",
)
add_mistake(
    "samples-of-one-counted",
    "You count all samples as if every micro-batch had as many as one of them has.",
    "How many samples are there in all? Ask every micro-batch.",
)
add_mistake(
    "samples-so-far-counted",
    "You weight a micro-batch by its share of the samples so far. Later ones come on top, so early ones weigh too much.",
    "How many samples are there in all, and when do you know that?",
)
add_mistake(
    "rate-multiplied",
    "You multiply the rate by N. A sum is already N times as long as the mean: your updates would be N² times too long.",
    "Is the sum of N gradients longer or shorter than their mean?",
)
add_mistake(
    "rate-unchanged",
    "You return the rate as it was. With summed gradients the update is then N times too long.",
    "By what factor do the sum and the mean of N gradients differ?",
)
add_mistake(
    "rate-by-root",
    "You change the rate by the square root of N. The sum of N gradients is N times their mean, not √N times.",
    "Write down the sum and the mean of two equal gradients. By what factor do they differ?",
)
add_mistake(
    "rate-divided-twice",
    "You divide the rate by N twice, so your updates are N times too short.",
    "How many times as long as their mean is the sum of N gradients?",
)
add_mistake(
    "rate-of-other-n",
    "You divide by another number than N, always or sometimes.",
    "What do you return for N = 1, for 2 and for 40? Only one of the two arguments decides the divisor.",
)
add_mistake(
    "rate-rounded",
    "Your rate has fewer digits than the one that is due, as if you had rounded it.",
    "What is left of 0.00001 / 8 when your code has rounded it?",
)
add_mistake(
    "rate-upside-down",
    "You divide N by the rate.",
    "Should the rate grow or shrink when N grows?",
)
add_mistake(
    "rate-without-lr",
    "You return 1/N, whatever the rate was.",
    "What does your function return for twice the rate?",
)
add_mistake(
    "rate-negative",
    "Your rate is negative: the update goes uphill.",
    "Where does the minus sign stand in the two updates? Both have it already.",
)
add_mistake(
    "compares-in-any-order",
    "You answer as if both configurations had to hold the same two numbers, in any order. Others also make updates of "
    "equally many samples.",
    "Are B=8, N=1 and B=2, N=4 the same update?",
)
add_mistake(
    "compares-ratio",
    "You compare B / N, but what matters is how many samples an update averages over.",
    "With B samples in each of N micro-batches, count the samples.",
)
add_mistake(
    "same-answer-always",
    "In the pairs tried you always give the same answer.",
    "How many samples are in one update of each configuration? When do the two numbers differ?",
)
add_mistake(
    "answer-reversed",
    "You answer the opposite question: whether the updates differ.",
    "What should your function return for two equal configurations?",
)
add_mistake(
    "compares-which-is-larger",
    "You also say yes where one configuration has more samples in an update than the other.",
    "Does your answer change when the two configurations change places?",
)
add_mistake(
    "multiples-accepted",
    "You also say yes where one update has several times as many samples as the other.",
    "Do an update of 8 samples and one of 16 use the same samples?",
)
add_mistake(
    "compares-roughly",
    "You also say yes where the numbers of samples are nearly the same. They are whole numbers, so nothing is rounded.",
    "Do an update of 1000 samples and one of 1001 use the same samples?",
)
add_mistake(
    "compares-objects",
    "Your answer is right for small products and wrong for large equal ones.",
    "Do you ask whether two numbers are equal, or whether they are the same object? Python keeps only small numbers once.",
)
add_mistake(
    "divisible-only",
    "You say yes only where one micro-batch size divides the other.",
    "Are B=4, N=3 and B=6, N=2 the same update?",
)
add_mistake(
    "ones-refused",
    "You say no to pairs in which one side has a micro-batch of a single sample, or to those in which one side has a single "
    "accumulation step.",
    "Are B=8, N=1 and B=1, N=8 the same update?",
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
    "In the pairs tried you say no wherever configurations are written differently. They may average over the same samples.",
    "Are B=8, N=1 and B=2, N=4 the same update?",
)
