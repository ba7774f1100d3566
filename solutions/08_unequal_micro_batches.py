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
# So far a loss was a mean over samples, and you weighed each micro-batch by the samples it has. A language model's loss is a
# mean over **tokens**, and texts are long or short. Four texts per micro-batch may be 40 tokens here and 4,000 there. What is
# the share of a micro-batch now?
#
# Widely used training libraries had the wrong answer until October 2024, although it had been reported in 2021: runs with
# accumulation trained worse than the same runs without.
#
# *About 40 minutes, 10 points. You need unit [04 · Training loop](04_training_loop.ipynb).*

# %%
from itertools import islice

import torch
from torch.nn import functional as F

from autograder.check import check
from gradaccum.explore import explore
from gradaccum.predict import predict
from gradaccum.showing import show_fingerprint
from gradaccum.token_problems import TokenProblem

# %% [markdown]
# ## Predict

# %%
predict(
    "A window has two micro-batches, of 2 and of 18 tokens. Each loss is the mean over its own tokens, and the window's loss "
    "is the mean of the two. How much more does a token of the first count than one of the second?",
    choices=("both count alike", "3 times as much", "9 times as much", "that depends on the model"),
    answer="9 times as much",
    because="Each micro-batch has half of the weight. In the first two tokens share it, 1/4 each; in the second eighteen do, "
    "1/36 each. As one large batch, all twenty would count 1/20.",
)

# %% [markdown]
# ## Explore: token-weighted loss
#
# One window of four micro-batches. On the left every square is a token, **as large as it counts**, and every dot is padding. On
# the right is the fingerprint, a bar for each micro-batch; the dashed outline is what is due.
#
# 1. You begin with the mean of means. Which tokens count too much? Choose **one nearly empty**.
# 2. Choose **weighted by sequences**, which is what you did with samples in unit 04. Is it better?
# 3. And **over all positions**, padding included? Compare the squares with each other and with those of **Fix**.
# 4. Press **Hide it**. What do tests say of such a loop if all their micro-batches hold equally many tokens?

# %%
explore("token_weighted_loss")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. Those that have few others beside them. A single token can weigh as much as a whole micro-batch.
# 2. Here it is better, but not right: a micro-batch now counts by its sequences, and these are unequal, too. With *a little
#    unequal* it is even worse than the mean of means.
# 3. All squares are of one size, but a smaller one. Padding adds nothing to the sum and something to the denominator, so the
#    update is too short, by as much as there happens to be padding.
# 4. Nothing. That is why the mistake could live so long.
# </details>

# %% [markdown]
# ## The loop you already have
#
# `train_epoch` of unit 04, right for samples. Given tokens, its `loss_fn` averages over tokens, while `len(x)` counts
# sequences. Micro-batches of 2, 6, 9 and 15 tokens:

# %%
window_of_texts = TokenProblem(seed=8, accumulation_steps=4, width=8, lengths=(((2,), (2, 4), (1, 2, 6), (7, 8)),))


def by_samples(model, loss_fn, optimizer, micro_batches, accumulation_steps):  # WRONG: counts sequences
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
# The rule of unit 03 has not changed: **weigh by what the loss averages over.** Here that is tokens.

# %% [markdown]
# ## Does it matter?
#
# It decides what is learnt. Take a model with nothing but the logits of two tokens, `a` and `b`. Short texts are all `a`, long
# ones all `b`, and a window has one text of each: of all tokens, a tenth is `a`.

# %%
texts = torch.zeros(2, dtype=torch.long), torch.ones(18, dtype=torch.long)  # 2 times a, 18 times b


def learnt_share_of_a(weights):
    logits = torch.zeros(2, requires_grad=True)
    optimizer = torch.optim.SGD([logits], lr=1.0)
    for _ in range(200):
        optimizer.zero_grad()
        for targets, share in zip(texts, weights, strict=True):
            loss = F.cross_entropy(logits.expand(len(targets), 2), targets)
            (loss * share).backward()
        optimizer.step()
    return f"{logits.softmax(0)[0].item():.0%}"


print("learnt from the mean of means:", learnt_share_of_a([1 / 2, 1 / 2]))
print("learnt from the token mean:   ", learnt_share_of_a([2 / 20, 18 / 20]))

# %% [markdown]
# ## Targets that do not count
#
# The targets say which positions are to be predicted: where they hold `ignore_index`, usually −100, there is nothing to
# predict. Padding is marked so, and in fine-tuning the question too, where only the answer is to be learnt. So count the
# **targets** that are left, not positions; and a micro-batch may well have none at all.

# %%
nothing = torch.full((5,), -100)
for reduction in ("mean", "sum"):
    logits = torch.zeros(5, 7, requires_grad=True)
    loss = F.cross_entropy(logits, nothing, reduction=reduction)
    loss.backward()
    gradient = logits.grad.sum()
    print(f"{reduction}: loss {loss.item()}, times 0 {0 * loss.item()}; gradient {gradient}, over 0 tokens {gradient / 0}")

# %% [markdown]
# The mean over nothing is 0/0, and a weight of 0 does not make NaN go away: every sum that this loss joins is NaN, your log
# first of all. The gradient is 0 either way: torch sees to that. But divide it by a count of 0 yourself, and a single
# micro-batch turns every parameter into NaN, for good.

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
#   parameters may be frozen or unused.
# - `optimizer`. Update by `optimizer.step()`. The marks use plain SGD.
# - `micro_batches`, a list or a one-shot stream of pairs `(x, targets)`, whole numbers of shape (sequences, positions). Both
#   numbers differ from one micro-batch to the next. The logits of a position predict the target at the same position: do not
#   shift them.
# - `accumulation_steps`, N. The last window may have fewer micro-batches; it is applied as well.
# - `ignore_index`. Targets equal to it are no tokens. It may be another number than −100, for instance 0.
#
# `F.cross_entropy` takes logits of shape (n, vocabulary) and n targets: the positions of all sequences in one row.

# %% [markdown]
# What earns points, each on its own:
#
# - **1.5 points · micro-batches with unequal numbers of tokens, one graph at a time**: full windows, three epochs, and N = 1.
#   The model stays in training mode, and in a window of 24 your peak memory stays below twelve times that of a loop with one
#   graph alive.
# - **1 point · leftover windows of a one-shot stream, gradients not clean at the start**: nothing that `.grad` held before
#   joins an update.
# - **1 point · micro-batches without a single token**: no NaN, and such a micro-batch is one of the N of its window.
# - **0.5 points · a whole window without a single token**: it changes nothing, and its loss in your list is 0.
# - **1 point · another ignore index**: targets that equal 0, or 7, do not count.
# - **1 point · the returned losses**: for each window one number, its mean over tokens, as your forwards computed it before
#   the update.
#
# The first four compare the parameters after each epoch with those of training with the token mean, the fifth compares single
# updates. In all of them micro-batches hold unequal numbers of tokens.


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
# `F.cross_entropy` wants one row of logits and one target for each position: `logits.flatten(0, 1)` and `targets.flatten()`.
# </details>
#
# <details><summary>Hint 2: the share of a micro-batch</summary>
#
# Two ways lead there: the mean of the micro-batch times its share of the window's tokens, or its sum over the window's tokens.
# Look at the cell before the exercise: which of them survives a micro-batch without tokens?
# </details>
#
# <details><summary>Hint 3: a window without tokens</summary>
#
# Its sum of losses is 0, and so is its number of tokens. You may divide 0 by any other number.
# </details>

# %% [markdown]
# ## Predict: class weights
#
# When classes are rare, `cross_entropy` takes a `weight` for each class and multiplies the loss of each target by the weight of
# its class.

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
    because="It is a weighted mean: weights that all double change nothing. So the denominator depends on which classes happen "
    "to be in the micro-batch.",
)

# %% [markdown]
# ## Equal sizes, and still unequal
#
# Two micro-batches of four targets each, with a rare class that weighs 10. As many targets, and yet the mean of means is off.

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
# The pattern is always the same. A mean is a numerator over a denominator. **Numerators of micro-batches add up, and so do
# denominators; their quotients do not.** Find out what a loss divides by, add that up over the window, and divide once.

# %% [markdown]
# ## Exercise 2 · `window_denominator`
#
# *Difficulty ●●○ · about 8 minutes · 4 points*
#
# Write `window_denominator(targets, weight=None, ignore_index=-100)`. `targets` is a list with the targets of each micro-batch
# of a window, tensors of whole numbers of any shape; `weight`, if given, holds a weight for each class. Return the number by
# which the sum of the micro-batches' summed losses has to be divided, to be what
# `F.cross_entropy(…, weight=weight, ignore_index=ignore_index)` gives for the window as one large batch. A number or a tensor
# with one element will do.
#
# What earns points:
#
# - **1 point · without weights**: with and without ignored targets; also a single target.
# - **1.5 points · with a weight for each class**: no target is ignored.
# - **1.5 points · with weights, where some targets are ignored**: `ignore_index` is −100, −1, 0 or 2, which then is no class;
#   also a window in which every target is ignored, whose denominator is 0.


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
# `part[part != ignore_index]` are the targets that count, in one row.
# </details>

# %% [markdown]
# ## What to remember
#
# - **Weigh a micro-batch by what its loss averages over**: samples, tokens, weights. Not by what is easy to count.
# - The mean of means is right only where all denominators are equal. **Test with unequal ones.**
# - **Add up sums and denominators over the window, divide once.** That also survives micro-batches with nothing in them.
# - Several ranks have one more denominator to share; that is for unit 10.
#
# Next: **[09 · Contrastive losses](09_contrastive_losses.ipynb)**
