"""Mistakes of functions on one batch: what they make of its samples and of the model, in words for students."""

from gradaccum.diagnosis.catalogue import add_mistake

add_mistake(
    "sums-samples",
    "Your gradient is the sum of the samples' gradients where their average is due: it is as many times too long as there "
    "are samples.",
    "How does the mean of a list of numbers differ from their sum?",
)
add_mistake(
    "batch-not-samples",
    "Yours is what you would get from the gradient of the whole batch. With a loss_fn that averages, that gradient is the mean "
    "of the sample gradients; with one that adds, it is their sum.",
    "What is x[i : i + 1]? Average the gradients of these batches of one, for every i, whatever loss_fn does.",
)
add_mistake(
    "samples-divided-twice",
    "Each sample's gradient is divided by the number of samples twice, so the result is too short.",
    "Follow one sample's gradient to the result and count the divisions along the way.",
)
add_mistake(
    "single-sample",
    "Only one sample of the batch is in your gradient; the others are computed and lost, or never looked at.",
    "What happens to the gradient of the first sample when the second one arrives?",
)
add_mistake(
    "sample-missing",
    "Not every sample of the batch reaches your gradient.",
    "Which samples does your code look at, and which one is the last?",
)
add_mistake(
    "halved-again-and-again",
    "You average the running result with each new sample, so early samples are halved again and again. Late ones count most.",
    "Work out by hand how much of the first of three samples is left in your result.",
)
add_mistake(
    "divided-again-and-again",
    "You divide the running result at every sample, so early samples are divided again and again. Late ones count most.",
    "Work out by hand how much of the first of three samples is left in your result. How often should it be divided?",
)
add_mistake(
    "other-divisor",
    "You divide the sum of the samples' gradients by something other than the number of samples.",
    "Which number do you divide by, and is it the number of samples?",
)
add_mistake(
    "frozen-returned",
    "You return an entry for a frozen parameter. It takes no part in training, and has no gradient.",
    "How does a parameter tell you whether it is trained?",
)
add_mistake(
    "frozen-thawed",
    "You change requires_grad of a parameter, which your function should leave alone: it says what is trained.",
    "Which parameters can you ask a gradient for without changing any of them?",
)
add_mistake(
    "grad-touched",
    "You change .grad, where other code may be gathering a gradient: leave it exactly as it was, None included.",
    "Is there a way to ask autograd for gradients that returns them instead of storing them?",
)
add_mistake(
    "parameters-moved",
    "You change the parameters, although you were only asked to measure.",
    "Which of your lines writes into a parameter?",
)
add_mistake(
    "mode-changed",
    "You leave the model, or a part of it, in a different mode from the one you found it in, so that layers such as dropout "
    "act differently afterwards.",
    "Do you need to call train() or eval() at all?",
)
add_mistake(
    "parameters-unmoved",
    "The parameters are the same before and after your function.",
    "Does your line write into the parameter itself, or make a new tensor and forget it? And what is in .grad when it runs?",
)
add_mistake(
    "update-uphill",
    "You move along the gradient, which raises the loss.",
    "In which direction does a gradient point: up or down?",
)
add_mistake(
    "moves-between-samples",
    "You update after every sample, so the gradients of later samples are taken at parameters that have already moved. That is "
    "several small updates, not the one of the batch.",
    "Where do the parameters have to be while the gradient of the last sample is taken?",
)
add_mistake(
    "training-mode",
    "The model was given to you in evaluation mode, but you compute in training mode, in which layers such as dropout and "
    "BatchNorm behave differently.",
    "Which mode is the model in when your function is called, and what changes it?",
)
add_mistake(
    "rate-unused",
    "The learning rate is not used: your update is just as long with each rate that was tried.",
    "How far would your update go with lr = 0?",
)
add_mistake(
    "parameters-replaced",
    "You put new parameters in the place of the model's own. An optimizer, or other code that holds the old ones, does not see "
    "them.",
    "Which line makes a new Parameter? If values have to change, write them into the one that is there.",
)
add_mistake(
    "moved-twice",
    "Every parameter moves twice as far as one update moves it.",
    "How often does your code come to each parameter, and is its gradient that of the batch?",
)
add_mistake(
    "batches-grow",
    "The gradient that you add for each sample still holds those of the samples before it, so early samples are counted again "
    "and again.",
    "Which samples are in x[: i + 1], and which are in x[i : i + 1]? And what does .grad hold before each backward?",
)
add_mistake(
    "gradient-left-behind",
    "A gradient stays in .grad, and joins the next one that backward() adds to it, unless somebody clears it first.",
    "backward() adds. In what state do you want to leave .grad for the code that comes next?",
)
add_mistake(
    "loss-after-update",
    "You report the loss after the update, which needs a second forward pass and says nothing about the gradient you used.",
    "Which loss did the gradient of your update come from?",
)
add_mistake(
    "loss-of-one-sample",
    "You report the loss of a single sample of the batch.",
    "What do you give to loss_fn where you compute the number that you return?",
)
add_mistake(
    "loss-rounded",
    "You round the loss. Differences between two updates may be smaller than that.",
    "Where does your number lose its digits? Round when you print, not when you measure.",
)
add_mistake(
    "loss-summed-over-samples",
    "You report the sum of the samples' losses, which grows with the batch.",
    "What does loss_fn return for the whole batch?",
)
