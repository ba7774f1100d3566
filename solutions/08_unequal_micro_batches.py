# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 08 · Unequal micro-batches
#
# **Why is the mean of means wrong?**
#
# On 4 October 2024 a user of a Hugging Face trainer [reported](https://github.com/huggingface/trl/issues/2175) that
# micro-batches of 1 accumulated over 32 steps trained much worse than one batch of 32. Twelve days later the maintainers
# [explained the mistake](https://huggingface.co/blog/gradient_accumulation), and [repaired
# it](https://github.com/huggingface/transformers/pull/34191). It had been known [since
# 2021](https://unsloth.ai/blog/gradient), and in July 2023 a user had [done the
# sums](https://github.com/huggingface/transformers/issues/24725): a token of an 11-token text pulled **ten times** as hard as
# one of a 101-token text. (That is 10 predictions against 100: the first token of a text is never predicted.)
#
# So far your loss was a mean over samples, and you weighted each micro-batch by its number of samples. A language model's
# loss is a mean over **tokens**, and texts are long or short: four texts may hold 40 tokens in one micro-batch and 4,000 in
# the next. What is the share of a micro-batch now?
#
# *About 40 minutes, 10 points. You need unit [04 · Training loop](04_training_loop.ipynb).*

# %% [markdown]
# ## Predict

# %%
from gradaccum.predict import predict

predict(
    "A window has two micro-batches, one with 2 tokens and one with 18. Each loss is the mean over its own tokens, and the "
    "window's loss is the mean of the two. How much does a token of the first count, compared with one of the second?",
    choices=("both count alike", "3 times as much", "9 times as much", "it depends on the model"),
    answer="9 times as much",
    because="Each micro-batch has half of the weight. In the first, two tokens share it, so each counts 1/4. In the second, "
    "eighteen share it, so each counts 1/36. In one large batch, each of the twenty would count 1/20.",
)

# %%
from itertools import islice

import torch
from torch.nn import functional as F

from autograder.check import check
from gradaccum.explore import explore
from gradaccum.showing import show_fingerprint
from gradaccum.token_problems import TokenProblem

# %% [markdown]
# ## Explore: token-weighted loss
#
# This is one window of four micro-batches. On the left every square is a token, **the larger, the more it counts**, and every
# dot is padding. On the right is the fingerprint, with a bar for each micro-batch; what is due is dashed.
#
# 1. You begin with the mean of means. Which tokens count too much? Choose **one nearly empty**.
# 2. Choose **weighted by sequences**, which is what you did with samples in unit 04. Is it better?
# 3. Choose **over all positions**, padding included. Compare the squares with each other, and with those of **Fix**.
# 4. Press **Hide it**. What would a test of such a loop find if all its micro-batches held the same number of tokens?

# %%
explore("token_weighted_loss")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. Tokens with few others in their micro-batch count too much. A single token can weigh as much as a whole micro-batch.
# 2. With *one nearly empty* it is better, but not right: a micro-batch now counts by its sequences, which differ in length.
#    With *a little unequal* it is even worse than the mean of means.
# 3. All squares have the same size, and all are too small. Padding adds nothing to the sum and something to the denominator,
#    so the update is too short, and how much too short depends on how much padding there happens to be.
# 4. Nothing. Pretraining packs its tokens into sequences of one length, 4,096 in Llama 2, and hides the mistake in the same
#    way. Fine-tuning does not.
# </details>

# %% [markdown]
# ## The loop you already have
#
# The `train_epoch` of unit 04 is right for samples. With tokens, its `loss_fn` averages over tokens, while `len(x)` still
# counts sequences. Here are micro-batches of 2, 6, 9 and 15 tokens:

# %%
lengths = (((2,), (2, 4), (1, 2, 6), (7, 8)),)
window_of_texts = TokenProblem(seed=8, accumulation_steps=4, width=8, lengths=lengths)


def by_samples(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    # WRONG: counts sequences
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
        optimizer.step()


show_fingerprint(by_samples, window_of_texts)

# %% [markdown]
# The rule of unit 03 has not changed: **weight by what the loss averages over.** Here it averages over tokens.
#
# The trainer in the opening story weighted all micro-batches alike. [Its fingerprint](../docs/trainers.md) before the repair,
# in transformers 4.45.2, was 1/4, 1/4, 1/4, 1/4 where 7/26, 7/26, 3/13, 3/13 were due.

# %% [markdown]
# ## Does it matter?
#
# It decides what the model learns. Take a model of two logits, one for the token `a` and one for `b`. Texts of 2 tokens are
# all `a`, texts of 18 all `b`, and every window has one of each, so that a tenth of all tokens are `a`.

# %%
texts = torch.tensor([0] * 2), torch.tensor([1] * 18)  # 2 times a, 18 times b


def learned_share_of_a(weights):
    logits = torch.zeros(2, requires_grad=True)
    optimizer = torch.optim.SGD([logits], lr=1.0)
    for _ in range(200):
        optimizer.zero_grad()
        for targets, share in zip(texts, weights, strict=True):
            loss = F.cross_entropy(logits.expand(len(targets), 2), targets)
            (loss * share).backward()
        optimizer.step()
    return f"{logits.softmax(0)[0].item():.0%}"


print("learned from the mean of means:", learned_share_of_a([1 / 2, 1 / 2]))
print("learned from the token mean:   ", learned_share_of_a([2 / 20, 18 / 20]))

# %% [markdown]
# ## Targets that do not count
#
# The targets say which positions the model has to predict. Where they hold `ignore_index`, usually −100, there is nothing to
# predict. Padding is marked like that, and so is the prompt in fine-tuning, where only the answer is to be learned. So count
# the **targets** that are left, not the positions. A micro-batch may have none:

# %%
nothing = torch.full((5,), -100)
for reduction in ("mean", "sum"):
    logits = torch.zeros(5, 7, requires_grad=True)
    loss = F.cross_entropy(logits, nothing, reduction=reduction)
    loss.backward()
    gradient = logits.grad.sum()
    losses = f"loss: {loss.item()}   0 × loss: {0 * loss.item()}"
    print(f"{reduction:5} {losses}  gradient: {gradient}  gradient / 0: {gradient / 0}")

# %% [markdown]
# The mean over nothing is 0/0, and a weight of 0 does not make NaN go away. Every sum that this loss joins becomes NaN,
# starting with your log. The gradient is 0 in both cases: torch takes care of that. But if you divide it by a count of 0
# yourself, a single micro-batch turns every parameter into NaN, for good.

# %% [markdown]
# ## Exercise 1 · `train_epoch_tokens`
#
# *Difficulty ●●● · about 15 minutes · 6 points*
#
# Write `train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100)`: one epoch, **one update
# for each window**, with the gradient of the cross-entropy averaged over **all tokens of the window**. Return a list with that
# mean loss for each window.
#
# You are given
#
# - `model`, in training mode; leave it there. `model(x)` gives logits of shape (sequences, positions, vocabulary). Some
#   parameters may be frozen or unused; these begin without a `.grad`.
# - `optimizer`, which may have several groups of parameters. Update with `optimizer.step()`. Marking uses plain SGD.
# - `micro_batches`, a list or a one-shot stream of pairs `(x, targets)`, integer tensors of shape (sequences, positions). Both
#   sizes differ from one micro-batch to the next. The logits at a position predict the target at the same position, so do not
#   shift them. Leave these tensors as they are.
# - `accumulation_steps`, N. The last window may have fewer micro-batches; it is applied as well.
# - `ignore_index`. Targets equal to it do not count as tokens. It may be a number other than −100, for instance 0.
#
# `F.cross_entropy` takes logits of shape (n, vocabulary) and n targets, with the positions of all sequences end to end.

# %% [markdown]
# What earns points, each on its own:
#
# - **1.5 points · micro-batches with unequal numbers of tokens, one graph at a time**: full windows, three epochs, and N = 1.
#   The model stays in training mode, and in a window of 24 your peak memory stays below nine times that of a loop with one
#   graph alive.
# - **1 point · leftover windows of a one-shot stream, gradients not clean at the start**: nothing that `.grad` held before,
#   infinity included, joins an update.
# - **1 point · micro-batches without a single token**: no NaN, and such a micro-batch is still one of the N of its window.
# - **0.5 points · a whole window without a single token**: it changes nothing, and its loss in your list is 0.
# - **1 point · another ignore index**: targets that equal 0, or 7, do not count.
# - **1 point · the returned losses**: for each window one number, its mean over tokens, as your forward passes computed it
#   before the update.
#
# The first four compare the parameters after each epoch with those of training with the token mean. The fifth compares single
# updates. In all of them the micro-batches hold unequal numbers of tokens.


# %% exercise="train_epoch_tokens"
def train_epoch_tokens(model, optimizer, micro_batches, accumulation_steps, ignore_index=-100):
    """Train for one epoch on the mean over each window's tokens; return these means."""
    ### BEGIN SOLUTION
    stream, losses = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        tokens = max(1, sum((targets != ignore_index).sum().item() for _, targets in window))
        mean = 0.0
        for x, targets in window:
            logits = model(x).flatten(0, 1)
            loss = F.cross_entropy(logits, targets.flatten(), ignore_index=ignore_index, reduction="sum") / tokens
            loss.backward()
            mean += loss.item()
        optimizer.step()
        losses.append(mean)
    return losses
    ### END SOLUTION


# %% check="train_epoch_tokens"
check(train_epoch_tokens)

# %% [markdown]
# <details><summary>Hint 1: shapes</summary>
#
# `F.cross_entropy` needs one row of logits and one target for each position: `logits.flatten(0, 1)` and `targets.flatten()`.
# </details>
#
# <details><summary>Hint 2: the share of a micro-batch</summary>
#
# There are two ways: the micro-batch's mean times its share of the window's tokens, or its sum divided by the window's tokens.
# Look at the cell before the exercise. Which of the two survives a micro-batch without tokens?
# </details>
#
# <details><summary>Hint 3: a window without tokens</summary>
#
# Its sum of losses is 0, and so is its number of tokens. 0 divided by any number but 0 is 0.
# </details>

# %% [markdown]
# ## Stretch: a window without tokens, under AdamW
#
# Your exercise was marked with plain SGD, where a step on zero gradients does nothing. Most language models use AdamW.
# (Not graded.)


# %%
def weights_around_an_empty_window(weight_decay):
    w = torch.ones(1, requires_grad=True)
    optimizer = torch.optim.AdamW([w], lr=0.1, weight_decay=weight_decay)
    values = []
    for gradient in (1.0, 0.0):
        w.grad = torch.full_like(w, gradient)
        optimizer.step()
        values.append(f"{w.item():.3f}")
    return " to ".join(values)


predict(
    "Not one target of a window counts: all gradients are 0. AdamW's `step()` is called all the same. What do the weights do?",
    choices=(
        "they stay where they are",
        "they move by weight decay only",
        "they move by weight decay and by what earlier gradients left in AdamW's averages",
        "they become NaN",
    ),
    answer="they move by weight decay and by what earlier gradients left in AdamW's averages",
    because=lambda: (
        f"After one window with a gradient, the step on zeros takes a weight from {weights_around_an_empty_window(0.0)}, and "
        f"from {weights_around_an_empty_window(0.1)} with a weight decay of 0.1. SGD with momentum moves as well. "
        "If a window without tokens is to change nothing, do not call step() for it, or leave every .grad at None."
    ),
)

# %% [markdown]
# ## Predict: class weights
#
# For rare classes, `cross_entropy` takes a `weight` for each class. It multiplies the loss of each target by the weight of its
# class.

# %%
predict(
    "With `weight` and `reduction='mean'`, by what does `F.cross_entropy` divide the sum?",
    choices=(
        "the number of targets",
        "the number of classes",
        "the sum of the weights of the classes",
        "the sum of the weights of the targets",
    ),
    answer="the sum of the weights of the targets",
    because="It is a weighted mean: if all weights double, nothing changes. So the denominator depends on which classes happen "
    "to be in the micro-batch.",
)

# %% [markdown]
# ## Equal sizes, and still unequal
#
# Here are two micro-batches of four targets each, and a rare class with weight 10. The mean of means is still off.

# %%
weight = torch.tensor([1.0, 1.0, 10.0])
targets = torch.tensor([0, 1, 0, 1, 0, 1, 2, 2])
logits = torch.randn(8, 3, generator=torch.Generator().manual_seed(0))
halves = list(zip(logits.split(4), targets.split(4), strict=True))
means = [F.cross_entropy(x, t, weight) for x, t in halves]
sums = [F.cross_entropy(x, t, weight, reduction="sum") for x, t in halves]

print(f"one large batch           {F.cross_entropy(logits, targets, weight):.3f}")
print(f"mean of means             {sum(means) / 2:.3f}")
print(f"sums over 8 targets       {sum(sums) / 8:.3f}")
print(f"sums over their weights   {sum(sums) / weight[targets].sum():.3f}")

# %% [markdown]
# The pattern is always the same. A mean is a numerator over a denominator. **The numerators of micro-batches add up, and so
# do the denominators. Their quotients do not.** Find what a loss divides by, add that up over the window, and divide once.

# %% [markdown]
# ## Exercise 2 · `window_denominator`
#
# *Difficulty ●●○ · about 8 minutes · 4 points*
#
# Write `window_denominator(targets, weight=None, ignore_index=-100)`. `targets` is a list with the targets of each micro-batch
# of a window, integer tensors of any shape; `weight`, if given, holds a weight for each class. Return the number by which you
# have to divide the sum of the micro-batches' summed losses to get what
# `F.cross_entropy(…, weight=weight, ignore_index=ignore_index)` gives for the window as one large batch. A number or a tensor
# with one element will do. Leave the targets and weights as they are.
#
# What earns points:
#
# - **1 point · without weights**: with and without ignored targets, and for a single target.
# - **1.5 points · with a weight for each class**: no target is ignored.
# - **1.5 points · with weights, where some targets are ignored**: `ignore_index` is −100, −1, 0 or 2; if it is 0 or 2, that
#   class does not count. In one window every target is ignored, and the denominator is 0.


# %% exercise="window_denominator"
def window_denominator(targets, weight=None, ignore_index=-100):
    """What the summed losses of a window have to be divided by."""
    ### BEGIN SOLUTION
    counted = torch.cat([part[part != ignore_index] for part in targets])
    return len(counted) if weight is None else weight[counted].sum()
    ### END SOLUTION


# %% check="window_denominator"
check(window_denominator)

# %% [markdown]
# <details><summary>Hint 1: indexing</summary>
#
# `weight[targets]` is a tensor with a weight for each target. What is `weight[-1]`, and what is `weight[-100]`?
# </details>
#
# <details><summary>Hint 2: leaving out</summary>
#
# `part[part != ignore_index]` holds the targets that count, in one row.
# </details>

# %% [markdown]
# ## What to remember
#
# - **Weight a micro-batch by what its loss averages over**, be it samples, tokens or weights, and not by what is easy to count.
# - The mean of means is right only where all denominators are equal. **Test with unequal ones.**
# - **Add up sums and denominators over the window, and divide once.** That also survives micro-batches with nothing in them.
# - With several **ranks** (copies of the model on several devices), the denominator spans them all. Unit 10 deals with it.
#
# <details><summary>References</summary>
#
# - Hugging Face 2024, [Fixing Gradient Accumulation](https://huggingface.co/blog/gradient_accumulation), and
#   [transformers PR 34191](https://github.com/huggingface/transformers/pull/34191)
# - torch on [cross_entropy](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.cross_entropy.html): what it
#   divides by, with and without weights
# - The claims of this unit are rows 39 and 40 of [the claims ledger](../docs/claims.md). What released trainers do with tokens
#   is in [the table of trainers](../docs/trainers.md).
# </details>
#
# Next: **[09 · Contrastive losses](09_contrastive_losses.ipynb)**
