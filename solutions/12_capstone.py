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
# # 12 · Capstone
#
# **Can you train a small GPT inside a memory budget, and be sure that it trains like the large batch?**
#
# Since October 2024 the developers of transformers have repaired the accumulation in their trainer [at
# least six times](../docs/trainers.md). It divided by the wrong number or by none, or kept leftovers for the next epoch, and
# never raised an error. Can you get it right the first time, and know that you have?
#
# Here everything comes together, from lines of unequal length to a memory limit and a run that stops and resumes. The loop is
# yours; the rest is given.
#
# *About 45 minutes, and two more for the run at the end; 20 points. You need units
# [02 · Memory limits](02_memory_limits.ipynb), [04 · Training loop](04_training_loop.ipynb),
# [05 · Learning rate](05_learning_rate.ipynb) and
# [06 · Mixed precision and clipping](06_mixed_precision_and_clipping.ipynb); [08](08_unequal_micro_batches.ipynb) and
# [11](11_running_it.ipynb) make it easier.*

# %% [markdown]
# ## Predict
#
# The loss falls. Is the loop right?

# %%
from gradaccum.phenomena import run_drift
from gradaccum.predict import predict


def drift() -> run_drift.Result:
    return run_drift.compute(run_drift.Settings())


predict(
    "A loop with AdamW divides each leftover window by N. After three epochs, "
    "how far is its loss from that of a right loop, when both are about 3.1?",
    choices=("more than 0.5", "between 0.01 and 0.5", "less than 0.01, too little to see"),
    answer="less than 0.01, too little to see",
    because=lambda: (
        f"The losses are {drift().losses[-1]:.3f} and {drift().large_losses[-1]:.3f}. But the weights of the two runs differ "
        f"from the first leftover on, at the end by {drift().distances[-1]:.0%} of the distance covered: compare weights, not "
        "losses."
    ),
)

# %%
import os
from itertools import islice
from tempfile import TemporaryDirectory

import torch
from torch.nn.utils import clip_grad_norm_

from autograder.check import check
from gradaccum.capstone.budget import activation_bytes
from gradaccum.capstone.config import MIB, SMALL
from gradaccum.capstone.live import live_run
from gradaccum.capstone.model import token_loss
from gradaccum.capstone.text import IGNORE, encode, floor, tokens_in
from gradaccum.explore import explore

# %% [markdown]
# ## The text
#
# The text is the log of a small harbour. A few rules generated it, so we know what is usually unknown: the loss of a
# **perfect** model. On new lines, no model does better on average.

# %%
for line in SMALL.text[:6]:
    print(line.text)
perfect = floor(SMALL.text)
print(f"\n{SMALL.lines} lines; the loss of a perfect model is {perfect:.3f} per token")

# %% [markdown]
# A token is one character. The model sees the characters so far (`x`) and predicts the next one (`y`), including the end of
# the line. A micro-batch is **padded** to its longest line. The padding in `y` is marked `IGNORE`; `token_loss(logits, y)`
# averages over the other positions, and `tokens_in(y)` counts them, for a line or a micro-batch.

# %%
x, y = encode(["fog", "wind west, calm"])
print("shape:", tuple(x.shape), "  positions in all:", y.numel(), "  IGNORE is", IGNORE)
print("tokens in each line:", [tokens_in(row) for row in y])

# %% [markdown]
# ## What you are given
#
# A `config` holds all settings of a run and makes what you need:
#
# | name | what it gives |
# |---|---|
# | `config.build_model()` | a fresh model: `model(x)` gives the logits for `token_loss(logits, y)` |
# | `config.build()` | a fresh **run**: `run.model`, `run.optimizer`, `run.scheduler`, `run.history` |
# | `config.micro_batches(epoch)` | a one-shot stream of `(x, y)`, in a new order for every epoch; the first epoch is 0 |
# | `config.micro_batch_size`, `config.accumulation_steps` | B (in lines) and N |
# | `config.effective_batch`, `config.epochs` | lines in a full window, and how many times the text is read |
# | `config.max_norm`, `config.budget` | the clipping threshold, and the bytes a micro-batch may need |
# | `config.with_(micro_batch_size=8)` | a copy with another B, and so another N |
#
# After each update, record it with `run.history.add(loss, norm, rate, tokens)`.

# %% [markdown]
# ## Explore: where a run parts from the large batch
#
# This is a tiny version of this unit's run, in float64, next to the same run with large batches. Windows have three
# micro-batches of 4 lines, and every epoch ends with a leftover. On the left are the losses. On the right, on a logarithmic
# axis, is the distance between the two models after each window; the grey band is rounding.
#
# 1. Where does the line leave the grey band, and what is special about that window?
# 2. Press **Break late**. Which window is it now, and why?

# %%
explore("run_drift")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. At window 3, the first leftover. Until then the models agree up to rounding.
# 2. Window 5, the first after the stop: AdamW came back without its state. The losses differ visibly for two windows; at the
#    end you can hardly tell.
# </details>

# %% [markdown]
# So this is how to check a loop: **run it next to the large batch, in float64, on something tiny, and look at the weights.**
# The model has no dropout and no BatchNorm, so the two have to agree. Marking does the same.

# %% [markdown]
# ## The budget
#
# `activation_bytes(model, x, y)` measures one forward and backward pass: the most bytes alive at once beyond the weights,
# including the pass's own gradients. It leaves the model as it was. A window of the small run has 48 lines, and the budget is
# 10 MiB.

# %%
model, some = SMALL.build_model(), SMALL.with_(micro_batch_size=8)
for name, (x, y) in {
    "48 lines, the longest": SMALL.longest_micro_batch(48),
    " 8 lines, the longest": SMALL.longest_micro_batch(8),
    " 8 lines, the first of an epoch": next(some.micro_batches(0)),
}.items():
    size = activation_bytes(model, x, y) / MIB
    print(f"{name:32} padded to {x.shape[1]}: {size:4.1f} MiB")

# %% [markdown]
# A window does not fit. What a micro-batch needs depends on **its longest line**, so measure the worst case:
# `config.longest_micro_batch(lines)`, used above.

# %% [markdown]
# ## Exercise 1 · `pick_micro_batch_size`
#
# *Difficulty ●●○ · about 5 minutes · 3 points*
#
# Write `pick_micro_batch_size(config)`. It returns the largest number of lines, an integer, that divides
# `config.effective_batch` and whose worst case needs at most `config.budget` bytes, measured with `activation_bytes`. The
# current value of `config.micro_batch_size` does not matter. If not even one line fits, raise a `ValueError` with a reason.
#
# What earns points:
#
# - **1 point · never more than the budget**: budgets that the next larger size exceeds by one byte.
# - **1 point · the largest that fits**: budgets that are used up to the last byte, windows of 18 to 42 lines.
# - **1 point · a ValueError when nothing fits**: and only then.


# %% exercise="pick_micro_batch_size"
def pick_micro_batch_size(config):
    """The largest number of lines that divides the window and fits the budget."""
    ### BEGIN SOLUTION
    model = config.build_model()
    for size in range(config.effective_batch, 0, -1):
        if config.effective_batch % size == 0:
            x, y = config.longest_micro_batch(size)
            if activation_bytes(model, x, y) <= config.budget:
                return size
    raise ValueError(f"not even one line fits into {config.budget} bytes")
    ### END SOLUTION


# %% check="pick_micro_batch_size"
check(pick_micro_batch_size)

# %% [markdown]
# <details><summary>Hint 1: which sizes</summary>
#
# Go from the window's size down to 1, and skip numbers that leave a remainder. The first that fits is the largest.
# </details>
#
# <details><summary>Hint 2: which lines</summary>
#
# Measure the worst micro-batch, not just any. What gives it to you?
# </details>

# %% [markdown]
# ## Exercise 2 · `train_window`
#
# *Difficulty ●●● · about 12 minutes · 8 points*
#
# Write `train_window(run, window, max_norm)`: one update. `window` is a list of micro-batches `(x, y)`. The gradient has to
# be that of the loss averaged over **all tokens of the window**, as if its lines were one large batch. Clip it once, let the
# optimizer make its update, and let the schedule make its step. Then record in `run.history`:
#
# - `loss`: the mean over the window's tokens, at the weights before the update;
# - `norm`: that of the gradient before clipping;
# - `rate`: the one that the update used, `run.optimizer.param_groups[0]["lr"]` or `run.scheduler.get_last_lr()[0]`, read in
#   time;
# - `tokens`: those of the window, padding not counted.
#
# What you return does not matter. Leave the model in training mode. Leave the list and the micro-batches as they are, and
# compute in the model's full precision.
#
# What earns points:
#
# - **2 points · micro-batches of equal lines**: all have the same number of tokens; `.grad` may hold anything before the first
#   window; nothing is clipped.
# - **2 points · padding, ragged micro-batches and leftovers**: the same with lines of any length.
# - **1 point · one clip per update**: the threshold is reached.
# - **1 point · one step of the schedule per update**: a warmup and a cosine.
# - **2 points · honest numbers**: the history of all of these.
#
# The first four compare the weights with those of large batches, up to rounding. If the weights are wrong, the last part looks
# only at the number of updates, the tokens and the first loss.


# %% exercise="train_window"
def train_window(run, window, max_norm):
    """One update for a window of micro-batches, recorded in the run's history."""
    ### BEGIN SOLUTION
    run.optimizer.zero_grad()
    tokens, total = sum(tokens_in(y) for _, y in window), 0.0
    for x, y in window:
        loss = token_loss(run.model(x), y) * tokens_in(y) / tokens
        loss.backward()
        total += loss.item()
    norm = clip_grad_norm_(run.model.parameters(), max_norm)
    rate = run.optimizer.param_groups[0]["lr"]
    run.optimizer.step()
    run.scheduler.step()
    run.history.add(total, norm, rate, tokens)
    ### END SOLUTION


# %% check="train_window"
check(train_window)

# %% [markdown]
# <details><summary>Hint 1: weights</summary>
#
# `token_loss` is a mean over the tokens of a micro-batch. The window's mean is made of these means, each weighted by its
# share of the window's tokens. Count those before you begin.
# </details>
#
# <details><summary>Hint 2: what happens once</summary>
#
# Only forward and backward passes are inside the loop over micro-batches. Everything else comes before or after it.
# </details>
#
# <details><summary>Hint 3: honest numbers</summary>
#
# The weighted losses that you send to `backward` are also what you add up for the report. `clip_grad_norm_` returns the norm
# before clipping. After the schedule's step, the rate is the next update's.
# </details>

# %% [markdown]
# ## Stretch: the weight of a micro-batch on 64 GPUs
#
# Back to Llama 2 on 64 GPUs, with N = 16, and to fine-tuning, where only some tokens count. (Not graded; units 08 and 10
# help.)

# %%
predict(
    "A micro-batch has 3,000 tokens that count, its rank's window has 30,000, and the windows of all 64 ranks together have "
    "2,000,000. DistributedDataParallel averages over the ranks. By what do you multiply the micro-batch's mean loss?",
    choices=("1 / 16", "3,000 / 30,000", "3,000 / 2,000,000", "64 · 3,000 / 2,000,000"),
    answer="64 · 3,000 / 2,000,000",
    because=lambda: (
        f"Its share of all tokens is 3,000 / 2,000,000 = {3000 / 2e6:.4f}. DistributedDataParallel divides by 64, so the "
        f"factor is {64 * 3000 / 2e6:.3f}. 1 / 16 = {1 / 16:.4f} and 3,000 / 30,000 = {3000 / 30000:.1f} are close enough to "
        "train, and wrong."
    ),
)

# %% [markdown]
# ## Stop and resume
#
# This run has no random numbers and no scaler, so it needs only five things to continue as if it had never stopped:
#
# - **Model, optimizer, scheduler and history**: `run.parts()` is a dictionary of these four. They go into a file and come
#   back as in unit 11. (No kill comes during a write, so you need not rename anything.)
# - **The place in the data**. An epoch's order is the same whenever you ask for it, so the number of updates made,
#   `run.history.updates`, says which windows are used up. Skip them, through all epochs.

# %%
stopped, fresh = SMALL.build(), SMALL.build()
with TemporaryDirectory() as folder:
    path = os.path.join(folder, "stopped.pt")
    states = {name: part.state_dict() for name, part in stopped.parts().items()}
    torch.save(states, path)
    for name, state in torch.load(path).items():
        fresh.parts()[name].load_state_dict(state)

# %% [markdown]
# ## Exercise 3 · `train`
#
# *Difficulty ●●● · about 13 minutes · 9 points*
#
# Write `train(config)`: the whole run, from `config.build()` to the `History` it returns. In every epoch, cut the stream of
# micro-batches into windows of `config.accumulation_steps` and train on each, including the leftover at the epoch's end. You
# may call your `train_window`, with `config.max_norm`. Take `config.micro_batch_size` as it is: choosing it is not part of
# `train`. Compute in the model's full precision.
#
# Two more settings are about stopping. Both may be `None`, but `stop_after` is set only if `checkpoint` is set, too.
#
# - `config.checkpoint` is the path of a file. **If it exists** when `train` is called, continue from it. Write the file only
#   at a stop.
# - `config.stop_after`: once the history holds that many updates, counted from the very start, write `config.checkpoint` and
#   return the history. An existing file holds fewer updates than that.
#
# A resumed run obeys the config it is resumed with: `max_norm` may differ, and the file may be elsewhere. The history it
# returns covers all updates, including those before the stop.
#
# What earns points:
#
# - **1 point · full windows, clipped, at the schedule's rates**: lines of one length, two epochs.
# - **2 points · padding, ragged micro-batches and leftovers**: the whole thing, with AdamW.
# - **2 points · memory within the budget**: the bytes of all tensors that your run makes are counted. The budget of this
#   part, not `config.budget`, has room for weights, gradients, optimizer state, two more copies of the weights, and the
#   activations of two micro-batches (a window has six). The window's micro-batches may be in a list, but go through the model
#   one at a time.
# - **3 points · stopping and resuming**: a run that stops within the second epoch, goes on from the moved file, stops once
#   more and goes on to its end, each time in a new process. Once leftovers are right, also a stop at a leftover, and one in
#   the third epoch.
# - **1 point · an honest history**: the four numbers of every update, in each run above whose weights are right.
#
# The first four compare weights, as in exercise 2, so a number that `train_window` reports wrongly costs only the last point.


# %% exercise="train"
def train(config):
    """Train, stop and resume as the config says; return the run's history."""
    ### BEGIN SOLUTION
    run, seen = config.build(), 0
    if config.checkpoint and os.path.exists(config.checkpoint):
        for name, state in torch.load(config.checkpoint).items():
            run.parts()[name].load_state_dict(state)
    for epoch in range(config.epochs):
        stream = iter(config.micro_batches(epoch))
        while window := list(islice(stream, config.accumulation_steps)):
            seen += 1
            if seen > run.history.updates:
                train_window(run, window, config.max_norm)
                if seen == config.stop_after:
                    torch.save({name: part.state_dict() for name, part in run.parts().items()}, config.checkpoint)
                    return run.history
    return run.history
    ### END SOLUTION


# %% check="train"
check(train)

# %% [markdown]
# <details><summary>Hint 1: begin without stopping</summary>
#
# You need two loops: over epochs, and over the windows of an epoch's stream. Unit 04 has the line that cuts it.
# </details>
#
# <details><summary>Hint 2: skipping windows</summary>
#
# Count windows through all epochs, including those that you do not train on. The first `run.history.updates` are used up.
# </details>
#
# <details><summary>Hint 3: the resumed run ends somewhere else</summary>
#
# Which of the four parts did not come back? A run still trains when AdamW has lost its state, and also when its
# schedule warms up again.
# </details>

# %% [markdown]
# ## The run
#
# Now train for real, with your functions: the whole text, four times, within the budget. (The picture adds to it what the
# weights, their gradients and AdamW's state need.) Press **Train**. It takes less than 90 seconds on two idle CPU cores.
# With a GPU you can choose a larger run, too.

# %%
live_run(train, pick_micro_batch_size)

# %% [markdown]
# <details><summary>What to look at</summary>
#
# - The loss falls fast while the model learns letters and words, and slowly while it learns which ship comes from where. It
#   gets below the dashed line, the loss of a perfect model, only by luck or by memorizing lines.
# - **The loss on new lines is the number that counts**, and it is a little higher.
# - The activations are those of one micro-batch, from first update to last, whatever the window's size.
# - In the lines that the model makes up, ships should be of the right kind and from the right port.
# </details>

# %% [markdown]
# ## What to remember
#
# - **A loss curve does not show that a loop is right.** Compare weights with the large batch's. The window where they part
#   tells you where to look.
# - **Count tokens, not lines or positions.**
# - **Measure the worst micro-batch.** B comes from the budget, N from the window.
# - **The state of this run is five things**: model, optimizer, schedule, history, and the place in the data.
#
# <details><summary>References</summary>
#
# - Karpathy, [nanoGPT](https://github.com/karpathy/nanoGPT), a small GPT whose training loop accumulates
# - Loshchilov and Hutter 2017, [Decoupled Weight Decay Regularization](https://arxiv.org/abs/1711.05101): AdamW
# - What the updates of widely used trainers hold: [the table of trainers](../docs/trainers.md). The claims of all units are in
#   [the claims ledger](../docs/claims.md).
# </details>
#
# Next: **[13 · In the wild](13_in_the_wild.ipynb)**
