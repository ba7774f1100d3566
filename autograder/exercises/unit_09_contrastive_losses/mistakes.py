"""The mistakes that only exercises of unit 09 show, and what students are told about them."""

from __future__ import annotations

from gradaccum.diagnosis.catalogue import add_mistake

add_mistake(
    "local-negatives",
    "Your gradients are those of losses that compare each micro-batch with its own pairs only. A pair then sees a handful of "
    "negatives instead of the whole window's, and the loss is another, easier one.",
    "Which features does a row of the large batch's similarity matrix need? You can have them without a graph.",
)
add_mistake(
    "negatives-so-far",
    "Your gradients are those of losses that compare each micro-batch with those before it, but not with those after it, so "
    "early ones see too few negatives.",
    "By when must you know all features of the window? So what do you have to do before the first backward?",
)
add_mistake(
    "window-loss-over-n",
    "What each backward brings to the encoders is already a micro-batch's share of the whole window's gradient. You divide it "
    "once more, so the encoders' gradients are too small.",
    "The loss already averages over all pairs of the window. If you add the parts up, what is left to divide?",
)
add_mistake(
    "temperature-times-n",
    "The gradient of logit_scale is N times too large, as if each of N backward passes carried all of it.",
    "A micro-batch's features are in one of your backward passes. In how many is logit_scale?",
)
add_mistake(
    "temperature-again",
    "The gradient of logit_scale is a multiple of the one due, as if it were part of several backward passes, and each "
    "carried all of it.",
    "Go through your backward passes one by one. Which of them reach logit_scale? One is enough.",
)
add_mistake(
    "temperature-over-n",
    "The gradient of logit_scale comes out as if divided by N, although one backward pass can bring all of it.",
    "In how many of your backward passes is logit_scale? One is enough, and nothing is left to divide then.",
)
add_mistake(
    "scale-exponentiated",
    "Your gradients are those of logits that are scaled by the exponential of logit_scale's exponential, which is far too "
    "large. info_nce takes one exponential itself.",
    "How often is the exponential taken on the way? Compare with the call of info_nce at the beginning of the unit.",
)
add_mistake(
    "scale-not-exponentiated",
    "Your gradients are those of similarities times logit_scale itself. What belongs there is its exponential.",
    "What does the formula say of t, and what is logit_scale?",
)
add_mistake(
    "gradient-doubled",
    "The encoders' gradients are twice those due, as if the loss went backward twice.",
    "What do you send backward, and how often? Is it the number that you return?",
)
add_mistake(
    "own-rows-only",
    "Features of a micro-batch get a gradient from their own rows of the matrix only. They are columns, too: "
    "others are compared with them, and that part of the gradient is missing.",
    "Whose loss changes when the features of one pair change?",
)
add_mistake(
    "encoder-not-reached",
    "When your function returns, .grad of an encoder holds no gradient of the loss: as if no backward pass went through "
    "features that it made with gradients on, or as if .grad had been cleared afterwards, or never filled.",
    "Features made under no_grad have no graph. Where is each encoder called a second time, what goes backward from there, and "
    "what puts the result into .grad of the encoder you were given?",
)
add_mistake(
    "features-differ",
    "You take the loss's gradient for features divided by their length, and send it through features that are not.",
    "What happened to the features between the first pass and the loss? Does the second pass do the same?",
)
add_mistake(
    "features-swapped",
    "Each encoder gets the gradient for the other encoder's features.",
    "Which half of the loss's gradient belongs to the images?",
)
add_mistake(
    "rows-from-the-other-end",
    "Micro-batches get the rows of the loss's gradient from the wrong end: the last one gets those of the first, and the first "
    "one those of the last.",
    "In which order are the features kept, and in which order do you encode the micro-batches again?",
)
add_mistake(
    "first-rows-for-all",
    "Every micro-batch gets the top rows of the loss's gradient for all features, as if it were the first one.",
    "In which row of all features does micro-batch k begin? Follow the variable that says so through two micro-batches.",
)
add_mistake(
    "equal-sizes-assumed",
    "The encoders' gradients are right with micro-batches of equal size, but not with ragged ones, one of which holds a "
    "single pair.",
    "In which row of all features does micro-batch k begin, and in which does it end? What shape does a single pair's have?",
)
add_mistake(
    "temperature-forgotten",
    "At the end .grad of logit_scale holds nothing of the loss, although it is a parameter like any other.",
    "Which of your backward passes reaches logit_scale, and what happens to its .grad after that?",
)
add_mistake(
    "directions-added",
    "Your gradients are those of a loss that adds its two directions, image to text and text to image, where their mean is "
    "due.",
    "How many averages does the loss consist of, how are they combined, and how often does the result go backward?",
)
add_mistake(
    "one-direction",
    "Your gradients are those of a loss in one direction only: images look for their texts, or texts for their images.",
    "The similarity matrix has rows and columns. Which of them are in what goes backward?",
)
add_mistake(
    "stream-spent",
    "With a list the encoders get gradients, with a generator they do not. You can go through a generator only once, and it "
    "has neither a length nor an index.",
    "How often does your function go through micro_batches, and what else does it ask of them? Where could they wait for the "
    "second pass?",
)
add_mistake(
    "cost-turned-round",
    "You return the two numbers in the wrong order.",
    "What does the line below def say: which one comes first?",
)
add_mistake(
    "first-pass-forgotten",
    "You count one forward pass per sample. The pass that fills the cache is a forward pass, too.",
    "How often does a sample go through its encoder until its gradient is there?",
)
add_mistake(
    "window-for-each",
    "You count N passes, or N + 1, as if every sample went through its encoder again for each micro-batch.",
    "Follow one sample. In how many micro-batches is it, and what does the cache save?",
)
add_mistake(
    "backward-counted",
    "You count three passes, as if the backward pass, or another one, were a forward pass.",
    "The exercise asks only for calls of the encoder.",
)
add_mistake(
    "encoders-added",
    "You count twice as many passes as a sample makes: as if those of both encoders, or the backward pass, were added.",
    "An image goes through one encoder, a text through the other. How often does each go through its own?",
)
add_mistake(
    "passes-of-all",
    "You count all passes of the window, not those per sample.",
    "Follow one image: how often does it go through its encoder?",
)
add_mistake(
    "one-encoder",
    "You count half of the bytes, as if the cache held the features of one encoder. It holds those of both.",
    "What does the loss need of each pair?",
)
add_mistake(
    "one-micro-batch",
    "You count the features of one micro-batch, but the cache holds the window.",
    "How many micro-batches are compared with each other?",
)
add_mistake(
    "others-only",
    "You leave out one micro-batch. In the first pass it is not yet known which one that could be.",
    "How many micro-batches are in the cache when the first pass is over?",
)
add_mistake(
    "single-cached",
    "With N = 1 you count a cache or a second pass, although the only micro-batch is the whole batch.",
    "What would you need a cache for if all pairs are there at once?",
)
