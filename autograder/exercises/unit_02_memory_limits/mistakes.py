"""Mistakes in counting bytes, in drawing a line through them and in planning with it, in words for students."""

from __future__ import annotations

from gradaccum.diagnosis.catalogue import add_mistake

add_mistake(
    "nothing-saved",
    "You count nothing, as if autograd kept no tensor.",
    "Whatever autograd keeps goes through pack while the forward pass runs. Is that when and where you count?",
)
add_mistake(
    "counts-twice",
    "Memory that two saved tensors share is in your count twice, although it is there only once.",
    "When do two tensors share their memory? What tells their storages apart?",
)
add_mistake(
    "counts-parameters",
    "You count parameters. Autograd keeps weights for the backward pass, but they are in memory anyway, whatever the batch.",
    "Do you leave out frozen parameters, too? And a weight that is kept as a transposed view of itself?",
)
add_mistake(
    "parameters-subtracted",
    "You count everything and subtract all parameters. Autograd does not keep all of them: no bias, for example.",
    "Look at the output of the watching cell. Which of the model's parameters are among the tensors that are kept?",
)
add_mistake(
    "parameters-by-shape",
    "You leave out every tensor that has the shape of a parameter. An activation may have the same shape.",
    "Apart from its shape, what does a kept weight share with the parameter?",
)
add_mistake(
    "sizes-merged",
    "You count storages of equal size only once, although they are different storages.",
    "What tells two storages of equal size apart?",
)
add_mistake(
    "tensors-let-go",
    "Tensors that autograd would keep are freed while the forward pass is still running, as if your pack did not return them. "
    "Their addresses may be given to others, which then look like the same storage.",
    "What autograd keeps is what pack returns. What does yours return?",
)
add_mistake(
    "views-cut-short",
    "You count the elements of a view, although its whole storage is held: as long as one slice is kept, none of it is freed.",
    "Ask the storage, not the tensor, for its size.",
)
add_mistake(
    "inputs-left-out",
    "You leave out x and y, although autograd keeps them for the backward pass as it keeps any other tensor.",
    "Which tensors are you asked to leave out? Only those.",
)
add_mistake(
    "graph-left-out",
    "You leave out every tensor that requires a gradient. Parameters do, but so does whatever the model computes from them.",
    "Which tensors are you asked to leave out, and what do they share with the model's parameters?",
)
add_mistake(
    "model-not-watched",
    "You count only what the loss keeps. What the layers of the model keep is missing.",
    "Which of your lines run while your hooks are active?",
)
add_mistake(
    "buffers-left-out",
    "A buffer of the model, which scales its output, is not in your count. Autograd keeps it for the backward pass, and it is "
    "no parameter.",
    "Do you call the model itself? And which of its tensors are you asked to leave out?",
)
add_mistake(
    "loss-not-watched",
    "What the loss keeps is not in your count. It keeps tensors of its own.",
    "Which lines build the graph? All of them belong inside the hooks, and nothing between them may cut it.",
)
add_mistake(
    "elements-not-bytes",
    "You count elements, or assume that every element has four bytes. How many it has depends on the dtype.",
    "How many bytes is a float64, and who knows that?",
)
add_mistake(
    "line-turned-round",
    "You return the two numbers in the wrong order.",
    "What does the line below def say: which one comes first?",
)
add_mistake(
    "line-through-zero",
    "Your line goes through zero. Weights, gradients and optimizer state are there even without a single sample.",
    "How many unknowns does the line have?",
)
add_mistake(
    "line-through-two-points",
    "Your line goes through two of the points and ignores the others.",
    "Which of the points does the sum of squares run over?",
)
add_mistake(
    "line-of-sizes",
    "Your line makes distances in samples small, or distances at right angles to itself, but not distances in bytes.",
    "In which direction do you measure how far a point is from the line? Look at the order of the arguments where you fit.",
)
add_mistake(
    "line-through-first-point",
    "Your slope is right, but your line goes through the first point, which need not lie on the best line.",
    "Through which point does every least-squares line go?",
)
add_mistake(
    "line-pairs-broken",
    "Bytes are no longer next to the size they were measured at, as if you had sorted sizes or bytes on their own.",
    "Which two numbers belong together, and do they still after your first line?",
)
add_mistake(
    "line-point-left-out",
    "One of the points is left out of your line.",
    "How many points does the sum of squares run over?",
)
add_mistake(
    "line-of-mean-slope",
    "Your slope is the mean of the slopes between points, in which near points count as much as distant ones.",
    "Which sum should be as small as possible? Work out the slope that makes it so.",
)
add_mistake(
    "line-squares-weighted",
    "Your squares are weighted: some points count more than others.",
    "Which sum should be as small as possible? Every point has one square in it.",
)
add_mistake(
    "line-divisors-differ",
    "Your slope is off by a factor made of n and n - 1 for n points: one of its two sums is divided by n, the other by n - 1.",
    "By which numbers are your covariance and your variance divided?",
)
add_mistake(
    "line-of-correlation",
    "Your slope is the correlation of sizes and bytes, a number between -1 and 1 that has no unit.",
    "In which unit is a slope? It says how many bytes another sample needs.",
)
add_mistake(
    "power-of-two-sizes-only",
    "You try only powers of two and miss all other sizes.",
    "Which numbers divide 12? Not only 1, 2 and 4.",
)
add_mistake(
    "single-sample-not-tried",
    "You never plan a micro-batch of a single sample, although sometimes nothing else fits.",
    "What is the smallest size that your loop tries? What is the smallest possible size?",
)
add_mistake(
    "common-divisor-of-room",
    "You take the greatest common divisor of the effective batch and the number of samples that fit. A larger size may divide.",
    "With room for 14 samples and a batch of 60, what do you get, and does 12 fit?",
)
add_mistake(
    "divisors-up-to-root",
    "You look for divisors only up to the square root of the effective batch.",
    "Every divisor below the root has a partner above it. Do you try that, too?",
)
add_mistake(
    "fixed-for-each-sample",
    "You pay the fixed part once for each sample of a micro-batch. All of them share it.",
    "Look at the table of the four kinds of bytes. Which of them grow with B?",
)
add_mistake(
    "budget-of-zero-refused",
    "You refuse a budget of zero or less, although something fits if the fixed part is lower still.",
    "Which comparison decides whether B samples fit? Is there a second one in your code?",
)
add_mistake(
    "plan-turned-round",
    "You return N first and B second.",
    "What is the order of the two numbers that were asked for?",
)
add_mistake(
    "budget-ignored",
    "You take the whole effective batch at once, although it is too much for the budget.",
    "What does a micro-batch of B samples cost? Compare it with the budget.",
)
add_mistake(
    "not-the-largest",
    "Micro-batches of one sample fit, but so do larger ones, which are faster.",
    "Of all sizes that fit, which one do you want?",
)
add_mistake(
    "halves-only",
    "Your sizes are those one finds by making the batch smaller step by step, for instance by half each time. You miss those "
    "in between.",
    "Which numbers divide 12? Not only 12, 6 and 3.",
)
add_mistake(
    "does-not-divide",
    "Your micro-batch is the largest that fits, but the samples that have to be cut are no multiple of its size.",
    "B times N must be exactly the samples that have to be cut. Which sizes B allow that?",
)
add_mistake(
    "fixed-for-each",
    "You pay the fixed part once for each of the N micro-batches. They come one after the other and share it.",
    "Look at the table of the four kinds of bytes. Which of them grow with N?",
)
add_mistake(
    "whole-batch-or-nothing",
    "You plan as if the whole effective batch had to fit at once, and refuse what could be cut. Micro-batches come one after "
    "the other: only one of them has to fit.",
    "How many micro-batches are in memory at the same time, and what does that many need?",
)
add_mistake(
    "smaller-sizes-not-tried",
    "You try only the largest micro-batch that fits, and refuse the call if it does not divide the effective batch. A smaller "
    "one may divide it.",
    "What do you try next when the largest size that fits does not divide?",
)
add_mistake(
    "whole-batch-not-tried",
    "You never take the whole effective batch at once, although it may fit.",
    "What is the largest size that your loop tries? What is the largest possible size?",
)
add_mistake(
    "not-whole",
    "At least one of B and N is a whole number but not an int, such as 4.0. A loop over range(N) needs an int.",
    "Python has two divisions. Which one gives an int?",
)
add_mistake(
    "fixed-forgotten",
    "You spend the whole budget on samples. Weights, gradients and optimizer state need their share first.",
    "What is left of the budget once the fixed part is paid?",
)
add_mistake(
    "budget-not-used-up",
    "You refuse a micro-batch that needs exactly the budget. What fits, fits.",
    "Is a budget of 100 bytes enough for 100 bytes?",
)
add_mistake(
    "misfit-not-refused",
    "Not even a single sample fits, and your function raises no ValueError.",
    "What should a caller learn when no plan exists? Raise what says it.",
)
