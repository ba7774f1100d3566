"""Mistakes in summing, clipping and scaling gradients, in words for students."""

from __future__ import annotations

from gradaccum.diagnosis.catalogue import add_mistake

add_mistake(
    "gradients-pile-up",
    "What you add to your sums still holds the micro-batches before it, so the first ones count again and again.",
    "backward() adds. What should .grad hold when you add it to your sums, and what does it hold?",
)
add_mistake(
    "low-precision-sum",
    "The sums are formed in bfloat16: once a sum is a few hundred times its addend, adding changes nothing.",
    "In which dtype are gradients added up, by a + of yours or by autograd?",
)
add_mistake(
    "last-only",
    "What you return is the last micro-batch's gradient alone; those before it are gone.",
    "What becomes of the entry that is already there when the next micro-batch writes its own?",
)
add_mistake(
    "computed-in-float32",
    "The gradients are those of a model in float32, not of the bfloat16 model you were given: they take twice the memory, "
    "and only their sum was to be in float32.",
    "Which of your numbers have to be float32: the parameters, each gradient, or only what you add up in?",
)
add_mistake(
    "one-forward",
    "The samples of 24 micro-batches go through the model in one forward, and its memory grows with their number.",
    "A micro-batch is what fits into memory. How many of them may be in the model at a time?",
)
add_mistake(
    "clip-per-micro-batch",
    "You clip inside the window, after each micro-batch. That cuts parts of the gradient, so its direction changes.",
    "The threshold is for the gradient that an update uses. When is that gradient complete?",
)
add_mistake(
    "not-clipped",
    "In full windows, your updates are those of gradients that nothing shortens, although some of these are longer than "
    "max_norm.",
    "Which line reads .grad? Clipping has to happen before it, and to the length that your function is given.",
)
add_mistake(
    "clip-too-early",
    "You clip before the last backward, so the last micro-batch joins unclipped.",
    "What is in .grad at the moment you clip, and what is added to it afterwards?",
)
add_mistake(
    "clip-by-value",
    "You clip each component on its own, which turns the gradient. The threshold is for the length of the whole.",
    "After clipping by norm a gradient points where it pointed before. Does yours?",
)
add_mistake(
    "clip-per-parameter",
    "You clip the gradient of each parameter on its own, which turns the whole. The threshold is for the length of the whole.",
    "The norm that counts is that of one long vector. Which numbers are in it?",
)
add_mistake(
    "leftover-unclipped",
    "Full windows are clipped, the leftover one is not.",
    "What should clipping ask about a window: how many micro-batches it holds, or how long its gradient is?",
)
add_mistake(
    "clip-always",
    "Every gradient gets the length of the threshold, even those that were shorter: you lengthen what should be left alone.",
    "What should happen to a gradient that is shorter than the threshold?",
)
add_mistake(
    "threshold-too-high",
    "Your threshold is too high for what you clip, by a factor of the number of micro-batches in the window.",
    "Which is as long as one large batch's gradient: the sum or the mean? Which of the two do you clip?",
)
add_mistake(
    "threshold-too-low",
    "Your threshold is too low for what you clip, as when a sum is held against the threshold for a mean, or a mean against "
    "one that was divided.",
    "At the moment you clip, is a sum in .grad or a mean? How long may it be?",
)
add_mistake(
    "clip-before-unscale",
    "The threshold is in effect divided by the scale, as when gradients are clipped while they are still multiplied by it.",
    "In what unit is the threshold, and in what unit are the gradients when you clip?",
)
add_mistake(
    "unscale-missing",
    "The scaler is never asked to unscale the gradients, so they are still multiplied by its scale unless you divide them "
    "yourself, and it has not looked for infinities in them.",
    "Which call divides the gradients by the scale, and where is it in your loop?",
)
add_mistake(
    "unscale-each",
    "You unscale after every micro-batch. Where the scaler lets you, early gradients are divided again and again.",
    "How often may one gradient be unscaled before it is used?",
)
add_mistake(
    "scaler-step-every",
    "Your loop makes an update after every micro-batch; scaling does not change where updates belong.",
    "How many updates does a window make?",
)
add_mistake(
    "scaler-update-every",
    "You update the scaler inside a window. When the scale moves there, its micro-batches are added up in different units.",
    "What must be true of the scale between the first backward of a window and its unscaling?",
)
add_mistake(
    "inf-applied",
    "A window with infinite gradients reaches the parameters.",
    "Who looks for infinities before an update, and do you give it the chance?",
)
add_mistake(
    "inf-not-reported",
    "After a window with infinities the scale is too high: the scaler never hears of it, or cannot lower the scale.",
    "Which calls look for infinities and lower the scale? Do they run for such a window?",
)
add_mistake(
    "inf-left-out",
    "You leave out the micro-batch with the infinity and apply the rest of its window; the scaler never hears of it.",
    "Is what is left still the gradient of the large batch? And who lowers the scale?",
)
add_mistake(
    "steps-twice",
    "Each window moves the parameters twice: the scaler makes an update, and the optimizer another with the same gradient.",
    "Which lines end up in optimizer.step? Look at what each of the scaler's calls does.",
)
add_mistake(
    "model-converted",
    "You convert the model, or a copy of it, so that its parameters and .grad are not in float32.",
    "In mixed precision the parameters stay in float32. What chooses the dtype of single operations instead?",
)
add_mistake(
    "scaler-update-early",
    "The scaler hears that the window is over before it has made the window's update, so it forgets that the gradients are "
    "unscaled already and divides them again.",
    "In which order do unscaling, clipping, the update and the end of the window come?",
)
add_mistake(
    "inf-not-cleared",
    "A window with infinite gradients makes no update, as it should, but it is not cleared either: what is not "
    "finite stays in .grad, and every later window is skipped, too.",
    "Follow .grad through a window that the scaler skips. What is in it when the next one begins?",
)
add_mistake(
    "scaler-update-missing",
    "The scaler is not told that a window is over, so it refuses to work on the next one.",
    "A scaler has three things to do at the end of every window, the last one included: unscale, step, and one more.",
)
add_mistake(
    "rounded-otherwise",
    "Your gradients are not rounded like those of forwards under autocast to the dtype asked for.",
    "Which block makes operations run in another dtype, which lines belong in it, and for which device and dtype? Does "
    "anything else need to be converted?",
)
add_mistake(
    "norm-after-clip",
    "The norms you report are those after clipping: whatever was above the threshold is reported as the threshold.",
    "clip_grad_norm_ returns something. Is it the norm before it clipped, or after?",
)
add_mistake(
    "stream-used-up",
    "Your loop updates for a list of micro-batches, but no gradient reaches an update for a stream that can be walked through "
    "only once.",
    "How often does your function go through micro_batches, and what is left of a generator after the first time?",
)
add_mistake(
    "norm-squared",
    "The numbers you return are the squares of the norms.",
    "What is the norm of (3, 4)?",
)
