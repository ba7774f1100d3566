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
# # 04 · Training loop
#
# **Where do `step` and `zero_grad` go?**
#
# In May 2025 a user of `torchtune` saw [an accuracy above 100%](https://github.com/meta-pytorch/torchtune/pull/2745) whenever
# a new epoch began. With, say, 63 micro-batches in an epoch and N = 8, the last 7 stayed in `.grad` and in the running
# sums. So the next epoch's first update held 15 micro-batches instead of 8, and the accuracy reported with it was a sum
# over 15, divided by 8.
#
# Once per window, `optimizer.step()` applies what is in `.grad` and `optimizer.zero_grad()` throws it away. One line too
# high or one indent too deep, and the loss still falls, but the loop trains something else.
#
# *About 45 minutes, 10 points. You need unit [03 · Accumulate](03_accumulate.ipynb).*

# %% [markdown]
# ## Predict

# %%
from gradaccum.predict import predict

predict(
    "A loop calls `optimizer.zero_grad()` before every `backward()` and `optimizer.step()` after every fourth. "
    "Which micro-batches reach the parameters?",
    choices=(
        "all of them, a quarter of each",
        "the first of every four",
        "the last of every four",
        "none",
    ),
    answer="the last of every four",
    because="Clearing before a backward throws away what earlier ones have gathered. "
    "When the update comes, `.grad` holds one micro-batch, and the work done for the other three is lost.",
)

# %%
from itertools import islice

from autograder.check import check
from autograder.puzzle import show_puzzle
from gradaccum.explore import explore
from gradaccum.loops import GALLERY
from gradaccum.problems import Problem
from gradaccum.showing import show_fingerprint

# %% [markdown]
# ## Explore: loop timeline
#
# Time runs to the right: a block for every forward, backward, update (*step*) and clear of a `.grad` that holds something.
# Below is the memory; on the right, what `.grad` holds at the **moment** you choose and the loop's **fingerprint**.
#
# 1. You begin with the loop of the question. Move the slider to 1 and step through its first window. Which blocks empty
#    `.grad`?
# 2. Press **Fix**. When does the first update come, and what comes right after it? Does any parameter move before it?
# 3. When is the memory highest? Does it grow from one micro-batch of a window to the next? And after **Fill the memory**?

# %%
explore("timeline")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. The clears, after each of the first three backwards. Only a quarter of micro-batch 4 is left for the update.
# 2. After the last backward of the window. Then comes a clear; without it, the next window would be added on top. Nothing
#    moves before the update.
# 3. Early in a backward: most of one micro-batch's graph is still there, and gradients join it. The first micro-batch of a
#    window needs a little less, since `.grad` is empty before it. From the second on memory does not grow, because `backward()`
#    frees what the graph holds. **Fill the memory** shows a loop that asks it not to, with `retain_graph=True`: there memory
#    grows with every micro-batch of a window.
# </details>

# %% [markdown]
# ## Clearing too early
#
# This is the loop of your prediction.

# %%
two_windows = Problem(seed=4, accumulation_steps=4, epochs=((2,) * 8,), width=8)


def early_clear(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    # WRONG: clears before every backward
    for i, (x, y) in enumerate(micro_batches):
        optimizer.zero_grad()
        loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()


show_fingerprint(early_clear, two_windows)

# %% [markdown]
# The loop trains on a quarter of the data, at a quarter of the rate.

# %% [markdown]
# ## Exercise 1 · `repaired_early_clear`
#
# *Difficulty ●○○ · about 2 minutes · 1 point*
#
# Write `early_clear` again, with the smallest change that makes it right.
#
# What earns points:
#
# - **1 point · a loop that trains like large batches**: after each of two epochs the parameters are those of training with
#   one large batch per window. Full windows of equal micro-batches, N = 1 included, SGD with momentum, `.grad` empty before
#   the first epoch.
#
# Update by `optimizer.step()`, send micro-batches through the model one by one, and leave the model in training mode and the
# micro-batches as they are. What you return is ignored.


# %% exercise="repaired_early_clear"
def repaired_early_clear(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    """early_clear, repaired: every micro-batch of a window reaches its update."""
    ### BEGIN SOLUTION
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
    ### END SOLUTION


# %% check="repaired_early_clear"
check(repaired_early_clear)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which line is the last to need the accumulated gradient?
# </details>

# %% [markdown]
# ## Updating too early
#
# This is the ordinary training loop, with a division by N.


# %%
def eager_step(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    # WRONG: updates after every micro-batch
    for x, y in micro_batches:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
        optimizer.step()


show_fingerprint(eager_step, two_windows)

# %% [markdown]
# Nothing is accumulated. Each update holds a quarter of one micro-batch's gradient, and all but the first gradient of a
# window are computed at parameters that the same window has moved.

# %% [markdown]
# ## Exercise 2 · `repaired_eager_step`
#
# *Difficulty ●○○ · about 2 minutes · 1 point*
#
# Write `eager_step` again so that it accumulates.
#
# What earns points:
#
# - **1 point · a loop that trains like large batches**: exactly as in exercise 1.


# %% exercise="repaired_eager_step"
def repaired_eager_step(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    """eager_step, repaired: one update for every window."""
    ### BEGIN SOLUTION
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches, 1):
        loss = loss_fn(model(x), y) / accumulation_steps
        loss.backward()
        if i % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
    ### END SOLUTION


# %% check="repaired_eager_step"
check(repaired_eager_step)

# %% [markdown]
# <details><summary>Hint</summary>
#
# How many micro-batches have been through `backward()`? `enumerate(micro_batches, 1)` counts from 1.
# </details>

# %% [markdown]
# ## A loop that looks mended
#
# Tutorials often print this as the correction, with `step` and `zero_grad` where they belong.


# %%
def looks_mended(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    # WRONG: nothing divides by N
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        loss_fn(model(x), y).backward()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()


show_fingerprint(looks_mended, two_windows)

# %% [markdown]
# The blocks are right, but filled with 1: the update is N times too long, as with N times the rate. With plain SGD it is
# right only if all losses are *sums*, including the large batch's, or the rate was divided by N.

# %% [markdown]
# ## Explore: missing 1/N
#
# A model of two parameters is trained with the division (green) and without it. On the left are both paths. On the right is
# the length of each update, relative to the update with the division, from the same point.
#
# 1. With **SGD**, change N. Does the mistake always do harm?
# 2. Press **Hide it**. Where did the mistake go?
# 3. Choose **SGD, gradient clipped**, which cuts long gradients to a length of 1. Which updates show the mistake?

# %%
explore("missing_scale")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. No. With N = 2 this problem is even learned faster, because its rate was low. The loss alone will not tell you.
# 2. AdamW divides each component by its own typical size, which is N times as large as well, so the factor practically
#    cancels. Go back to SGD, and the mistake is there.
# 3. Those near the goal. Clipping cuts every long gradient to the same length; near the goal gradients are short, and the
#    mistake shows.
# </details>

# %% [markdown]
# ## Cutting a stream into windows
#
# Data sets rarely come in multiples of N. Divide by what a window *has*: two micro-batches left over weigh 1/2 each. So you
# must know their number before the first `backward()`, or scale `.grad` just before the update. It is often simplest to fetch
# one window at a time: `islice` takes the next few items from any stream.

# %%
stream = iter("abcdefghij")  # ten micro-batches
while window := list(islice(stream, 4)):
    print(window)

# %% [markdown]
# Without `iter`, `islice` would return the front of a list again and again.
#
# Never fetch a whole epoch: it may not fit, and a stream may never end.

# %% [markdown]
# ## A leftover that is lost
#
# This loop divides by what the window has. Count the rows.

# %%
with_leftover = Problem(seed=4, accumulation_steps=4, epochs=((2,) * 10,), width=8)


def lost_tail(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    # WRONG: leftovers are thrown away
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        for x, y in window:
            loss = loss_fn(model(x), y) / len(window)
            loss.backward()
        if len(window) == accumulation_steps:
            optimizer.step()


show_fingerprint(lost_tail, with_leftover)

# %% [markdown]
# Loops that test `(i + 1) % N == 0` lose their leftover too, unless they apply it after the loop. Some leave it in `.grad`
# for the next epoch, like the one at the top of this unit:

# %%
two_epochs = Problem(seed=4, accumulation_steps=4, epochs=((2,) * 7, (2,) * 7), width=10)
show_fingerprint(GALLERY["tail-stale"], two_epochs)

# %% [markdown]
# Others apply it but divide by N, as [Lightning](https://github.com/Lightning-AI/pytorch-lightning/issues/19987) (reported
# in June 2024) and [accelerate](../docs/trainers.md) do.
#
# <details><summary>How many are left over in a real run</summary>
#
# [Stanford Alpaca](https://github.com/tatsu-lab/stanford_alpaca) fine-tuned 7 billion parameters on 52,002 examples, with 4
# GPUs, micro-batches of 4 and N = 8. In an epoch each GPU saw 3,251 micro-batches: 406 full windows, and 3 left over. Divided
# by N, that last gradient would be 3/8 as long as it should be.
# </details>

# %% [markdown]
# ## Exercise 3 · `repaired_lost_tail`
#
# *Difficulty ●○○ · about 1 minute · 1 point*
#
# Write `lost_tail` again so that the leftover window is applied, averaged over the micro-batches it has.
#
# What earns points:
#
# - **1 point · a loop that trains like large batches**: as in exercise 1, but epochs may end with a leftover window. Some
#   do not.


# %% exercise="repaired_lost_tail"
def repaired_lost_tail(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    """lost_tail, repaired: the leftover window makes an update, too."""
    ### BEGIN SOLUTION
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        for x, y in window:
            loss = loss_fn(model(x), y) / len(window)
            loss.backward()
        optimizer.step()
    ### END SOLUTION


# %% check="repaired_lost_tail"
check(repaired_lost_tail)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which line keeps this loop from applying its leftover?
# </details>

# %% [markdown]
# ## Exercise 4 · `train_epoch`
#
# *Difficulty ●●● · about 13 minutes · 6 points*
#
# Now the whole thing. Write `train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps)`: one epoch, **one
# update for each window**, each with the gradient of the mean loss over **all samples of its window**. Return a list with the
# mean loss of each window over its samples.
#
# You are given
#
# - `model`, in training mode; leave it there. Some of its parameters may be frozen or unused; leave them so. Their `.grad`
#   may stay `None`.
# - `loss_fn(prediction, target)`, a mean over the samples of its batch.
# - `optimizer`, SGD, perhaps with several parameter groups. It has momentum only where all windows are full and all
#   micro-batches equal. Update by `optimizer.step()`.
# - `micro_batches`, pairs `(x, y)` with `len(x)` samples; leave them as they are. It may be a list, or a stream that can be
#   read only once and whose length is not known. When you make an update, you may have fetched its window and the next one,
#   but no more.
# - `accumulation_steps`, N, at least 1.

# %% [markdown]
# What earns points, each on its own:
#
# - **1 point · full windows, one micro-batch's graph at a time**: equal micro-batches, and N divides their number. The model is
#   left in training mode, and in a window of 24 your peak memory stays below nine times that of a loop with one graph
#   alive.
# - **1 point · leftover windows**: the last window has fewer micro-batches. It is applied, and averaged over the samples it
#   has, even when the whole epoch is shorter than one window.
# - **1 point · ragged micro-batches**: sizes differ, and all samples of a window count equally. The model has a frozen and
#   an unused parameter.
# - **1 point · a one-shot stream of micro-batches**: an iterator without a length. A loop that gets all of its updates right
#   is also tried on a stream with all these difficulties at once.
# - **1 point · clean gradients at both ends of an epoch**: `.grad` of a parameter that is not frozen may hold anything when you
#   are called, infinity included. None of it joins an update, and nothing of one epoch joins an update of the next.
# - **1 point · the returned losses**: for each window one number, its mean loss as your forwards computed it before the
#   update. There are leftovers and ragged sizes.
#
# The first four compare the parameters after each epoch with those of training on one large batch per window.


# %% exercise="train_epoch"
def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    """Train for one epoch, one update per window; return each window's mean loss."""
    ### BEGIN SOLUTION
    stream, losses = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        window_loss = 0.0
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
            window_loss += loss.item()
        optimizer.step()
        losses.append(window_loss)
    optimizer.zero_grad()
    return losses
    ### END SOLUTION


# %% check="train_epoch"
check(train_epoch)

# %% [markdown]
# <details><summary>Hint 1: a plan</summary>
#
# For each window: clear, count samples, run each micro-batch forward and backward with its weight, update.
# </details>
#
# <details><summary>Hint 2: the weight</summary>
#
# As in unit 03, a micro-batch is weighted by its share of the samples. Of those in the epoch or in the window?
# </details>
#
# <details><summary>Hint 3: the losses</summary>
#
# If the weighted gradients add up to the gradient of a mean, what do the weighted losses add up to? Collect plain numbers
# (`loss.item()`): a loss that has not been through `backward()` keeps its whole graph alive.
# </details>
#
# <details><summary>Hint 4: the fingerprint in the verdict is hard to read</summary>
#
# Its data have every difficulty at once. Read the row of the first framed cell as a sentence. The column *before* is what
# `.grad` held when you were called.
# </details>

# %% [markdown]
# ## Explore: the gallery
#
# Here are the right loop and many wrong ones. Find
#
# 1. the one whose first window is one micro-batch wide, as if it updated when `i % N == 0`, which is true of 0;
# 2. the one that divides the leftover by N;
# 3. the one whose numbers fall from left to right within each window, like stairs: early micro-batches count again with every
#    later one.

# %%
explore("gallery", loop="zero-every")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. **off-by-one-early**
# 2. **tail-scale**
# 3. **retained-graph**
# </details>

# %% [markdown]
# ## Exercise 5 · `name_that_loop`
#
# *Difficulty ●●○ · about 4 minutes · 1 point*
#
# Six loops have lost their names. Below their fingerprints are the mistakes to choose from. Some are not in the picture, and
# none is there twice. Return a dictionary from letters to names, like `{"A": "step-every", "B": …}`. `b` counts as `B`, and
# `step_every` as `step-every`.
#
# What earns points:
#
# - **0.5 points · A, B and C**: all three right.
# - **0.5 points · D, E and F**: all three right.
#
# The data: ten micro-batches of two samples each, N = 4, one epoch.

# %%
show_puzzle()


# %% exercise="name_that_loop"
def name_that_loop():
    """For each letter from "A" to "F" the name of its mistake."""
    ### BEGIN SOLUTION
    return {
        "A": "never-zero",
        "B": "off-by-one-early",
        "C": "no-scale",
        "D": "retained-graph",
        "E": "zero-every",
        "F": "tail-dropped",
    }
    ### END SOLUTION


# %% check="name_that_loop"
check(name_that_loop)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Three questions are enough: how many rows are there, how wide is each, and what do its numbers add up to?
# </details>


# %% [markdown]
# ## What to remember
#
# - Once per window: **clear, accumulate, update.**
# - Clear too early, and only the last micro-batch counts. Update too early, and nothing accumulates.
# - **Without the 1/N every update is N times too long**, and Adam or clipping can hide that.
# - A leftover window is a window: **apply it, and average over what it has.**
# - Do not trust a falling loss. **Read the fingerprint**: in a right loop every row is one block and adds up to 1.
#
# <details><summary>References</summary>
#
# - [Fabric's documentation](https://lightning.ai/docs/fabric/stable/advanced/gradient_accumulation.html) printed a loop that
#   updates when `i % N == 0` and does not divide, when we [recorded it](../docs/trainers.md)
# - PyTorch: [clearing with `zero_grad`](https://pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html),
#   [`backward` with `retain_graph`](https://pytorch.org/docs/stable/generated/torch.Tensor.backward.html)
# - [The claims ledger](../docs/claims.md): rows 4 to 7 and 37
# </details>
#
# Next: **[05 · Learning rate](05_learning_rate.ipynb)**
