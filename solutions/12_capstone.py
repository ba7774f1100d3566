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
# **Can you train a small GPT inside a memory budget, and be sure that it is the large batch?**
#
# Everything at once: a transformer that reads letters, lines of unequal length, leftovers, clipping, a schedule, a memory
# limit, and a run that is stopped and goes on. Model, data and bookkeeping are given. The loop is yours.
#
# *About 45 minutes, and two more for the run at the end; 20 points. You need units
# [02 · Memory limits](02_memory_limits.ipynb), [04 · Training loop](04_training_loop.ipynb),
# [05 · Learning rate](05_learning_rate.ipynb) and
# [06 · Mixed precision and clipping](06_mixed_precision_and_clipping.ipynb); [08](08_unequal_micro_batches.ipynb) and
# [11](11_running_it.ipynb) make it easier.*

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
from gradaccum.phenomena import run_drift
from gradaccum.predict import predict

# %% [markdown]
# ## The text
#
# The log of a small harbour, a line for everything that happens. A few rules wrote it, so we know something that is usually
# unknown: what a **perfect** model would pay per token. On average, no honest loss on new lines is below that.

# %%
for line in SMALL.text[:6]:
    print(line.text)
print(f"\n{SMALL.lines} lines; a perfect model pays {floor(SMALL.text):.3f} nats per token")

# %% [markdown]
# A token is a letter. The model sees the letters so far (`x`) and has to say the next one (`y`), the end of the line included.
# Lines differ in length, so a micro-batch is **padded** to its longest line. Places in `y` that hold no token hold `IGNORE`,
# and `token_loss(logits, y)` averages over the others. `tokens_in(y)` counts them, of a line or of a whole micro-batch.

# %%
x, y = encode(["fog", "wind west, calm"])
print(x.shape, "places in all:", y.numel(), " tokens in each line:", [tokens_in(row) for row in y], " IGNORE is", IGNORE)

# %% [markdown]
# ## What you are given
#
# A `config` holds all settings of a run, and makes what you need:
#
# | | |
# |---|---|
# | `config.build_model()` | a fresh model: `model(x)` gives the logits for `token_loss(logits, y)` |
# | `config.build()` | a fresh **run**: `run.model`, `run.optimizer`, `run.scheduler`, `run.history` |
# | `config.micro_batches(epoch)` | a one-shot stream of micro-batches `(x, y)`, in an order of its own for every epoch |
# | `config.micro_batch_size`, `config.accumulation_steps` | B (in lines) and N |
# | `config.effective_batch`, `config.epochs` | lines in a full window, and how often the text is read |
# | `config.max_norm`, `config.budget` | the clipping threshold, and the bytes a micro-batch may need |
# | `config.with_(micro_batch_size=8)` | a copy with another B, and so another N; a config itself cannot be changed |
#
# After each update you enter it: `run.history.add(loss, norm, rate, tokens)`. The model has no dropout and no BatchNorm, so
# accumulation can equal the large batch exactly.

# %% [markdown]
# ## Predict
#
# The loss falls. Is the loop right?

# %%
predict(
    "A loop with AdamW divides each leftover window by N, not by the micro-batches it has. After three epochs, "
    "how far is its loss from that of a right loop, both about 3.1?",
    choices=("more than 0.5", "between 0.01 and 0.5", "less than 0.01, too little to be seen"),
    answer="less than 0.01, too little to be seen",
    because=lambda: run_drift.describe(run_drift.compute(run_drift.Settings())),
)

# %% [markdown]
# ## Explore: where a run leaves the large batch's
#
# A tiny version of this unit's run, in float64, beside the same run with large batches: windows of 12 lines, as three
# micro-batches of 4, and a leftover at the end of every epoch. On the left the losses, on the right the distance between the
# two models, window by window. Its axis is logarithmic, and the grey ground is rounding.
#
# 1. Where does the line leave the ground, and what is special about that window?
# 2. Press **Break late**. Which window is it now? How large is the jump in the loss?
# 3. Try **schedule per micro-batch**. At which window does it part, and why not at the first?
# 4. Press **Hide it**. Why is nothing to be seen, and which control brings it to light?

# %%
explore("run_drift")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. At window 3, the first leftover. Before it, the two models agree to 15 digits.
# 2. At window 5, the first after the stop: AdamW came back without its memory. The losses hardly tell.
# 3. At the second, since the first update has the same rate. (Wrong weights part at the first window, whatever goes wrong with
#    leftovers at the third.)
# 4. Clipping each micro-batch does nothing as long as no norm reaches the threshold. Clip at 0.1.
# </details>
#
# So this is how you prove a loop right: **run it beside the large batch, in float64, on something tiny, and look at the
# weights.** That is also how you will be marked.

# %% [markdown]
# ## The budget
#
# `activation_bytes(model, x, y)` measures one forward and backward pass: the most bytes alive at once beyond the weights, the
# pass's own gradients included. It leaves the model as it was. The window of the small run is 48 lines, its budget 10 MiB.

# %%
model, some = SMALL.build_model(), SMALL.with_(micro_batch_size=8)
for name, (x, y) in {
    "48 lines, the longest": SMALL.longest_micro_batch(48),
    " 8 lines, the longest": some.longest_micro_batch(8),
    " 8 lines, the first of an epoch": next(some.micro_batches(0)),
}.items():
    print(f"{name:33} padded to {x.shape[1]}: {activation_bytes(model, x, y) / MIB:5.1f} MiB of {SMALL.budget / MIB:.0f}")

# %% [markdown]
# Two things to take from this. A window does not fit, so you have to accumulate. And what a micro-batch needs depends on **its
# longest line**: a size that fits today's lines may fail tomorrow. `config.longest_micro_batch(lines)` is the worst case.

# %% [markdown]
# ## Exercise 1 · `pick_micro_batch_size`
#
# *Difficulty ●●○ · about 7 minutes · 3 points*
#
# Write `pick_micro_batch_size(config)`: the largest number of lines, an integer, that divides `config.effective_batch` and
# whose worst case needs at most `config.budget` bytes, measured with `activation_bytes`. Whatever `config.micro_batch_size` is
# at the time does not matter. If not even one line fits, raise a `ValueError` with a reason.
#
# What earns points:
#
# - **1 point · never more than the budget**: budgets that a larger size misses by a byte.
# - **1 point · the largest that fits**: budgets that are used up to the last byte, windows of 18 to 42 lines.
# - **1 point · a `ValueError` when nothing fits**: and only then.


# %% exercise="pick_micro_batch_size"
def pick_micro_batch_size(config):
    """The largest number of lines that divides the window and stays within the budget."""
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
# Go through the numbers from the window's size down to 1 and skip those that leave a remainder. The first that fits is the
# largest.
# </details>
#
# <details><summary>Hint 2: which lines</summary>
#
# Measure the worst micro-batch, not just any. Who gives it to you?
# </details>

# %% [markdown]
# ## Exercise 2 · `train_window`
#
# *Difficulty ●●● · about 12 minutes · 8 points*
#
# Write `train_window(run, window, max_norm)`: one update. `window` is a list of micro-batches `(x, y)`. The gradient has to be
# that of the loss averaged over **all tokens of the window**, as if its lines were one large batch; it is clipped once; the
# optimizer makes its update; the schedule makes its step. Then enter into `run.history`:
#
# - `loss`: the mean over the window's tokens, at the weights before the update;
# - `norm`: of the gradient before clipping;
# - `rate`: the one the update used, `run.optimizer.param_groups[0]["lr"]` or `run.scheduler.get_last_lr()[0]`, read in time;
# - `tokens`: those of the window, padding not counted.
#
# What you return does not matter. Leave the model in training mode.
#
# What earns points:
#
# - **2 points · micro-batches of equal lines**: all have the same number of tokens; `.grad` may hold anything before the first
#   window; nothing is clipped.
# - **2 points · padding, ragged micro-batches and leftovers**: the same with lines of any length.
# - **1 point · one clip per update**: the threshold is reached.
# - **1 point · one step of the schedule per update**: a warm-up and a cosine.
# - **2 points · honest numbers**: the history of all of these.
#
# The first four compare the weights with those of large batches, up to rounding; for the last, if weights are wrong, only
# updates, tokens and the first loss count.


# %% exercise="train_window"
def train_window(run, window, max_norm):
    """One update for a window of micro-batches, entered into the run's history."""
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
# `token_loss` is a mean over the tokens of a micro-batch. The mean over the window is made of these means; each counts by its
# share of the window's tokens. You have the window as a list, so you can count before you begin.
# </details>
#
# <details><summary>Hint 2: what happens once</summary>
#
# Inside the loop over micro-batches: forward, backward. Everything else stands after it or before it.
# </details>
#
# <details><summary>Hint 3: honest numbers</summary>
#
# What you multiply by its weight for `backward` is just what has to be added up for the report. `clip_grad_norm_` returns the
# norm before clipping. And after the schedule's step the rate is the next update's.
# </details>

# %% [markdown]
# ## Stop and go on
#
# A long run gets stopped: the time is up, the machine is needed. It goes on later, from a file, and must not show that it ever
# stopped. This run draws no random numbers and has no scaler, so what its next update depends on is soon told:
#
# - `run.parts()` gives a dictionary of the run's four parts: model, optimizer, scheduler, history.
# - **The place in the data** is the fifth. The order of an epoch is the same whenever you ask for it, so the number of updates
#   made, `run.history.updates`, says which windows are used up. They have to be passed over, through all epochs.
#
# The parts go into a file and come back as in unit 11. (Here nobody kills you while you write, so nothing has to be renamed.)

# %%
stopped, fresh = SMALL.build(), SMALL.build()
with TemporaryDirectory() as folder:
    path = os.path.join(folder, "stopped.pt")
    torch.save({name: part.state_dict() for name, part in stopped.parts().items()}, path)
    for name, state in torch.load(path).items():
        fresh.parts()[name].load_state_dict(state)

# %% [markdown]
# ## Exercise 3 · `train`
#
# *Difficulty ●●● · about 13 minutes · 9 points*
#
# Write `train(config)`: the whole run, from `config.build()` to the `History` it returns. In every epoch, cut the stream of
# micro-batches into windows of `config.accumulation_steps` and train on each, the leftover at the epoch's end included. You may
# call your `train_window`, with `config.max_norm`. Take `config.micro_batch_size` as it is: choosing it is not part of `train`.
#
# Two more settings are about stopping. Both may be `None`; `stop_after` is only set where `checkpoint` is:
#
# - `config.checkpoint` is the path of a file. **If it exists** when you are called, go on from it.
# - `config.stop_after`: once the history holds that many updates, counted from the very start, write `config.checkpoint` and
#   return the history. It is always more than the file holds when you are called.
#
# A run that goes on obeys the config of *that* call, whose `max_norm` may be another one and whose file may lie elsewhere. The
# history it returns tells of all updates, those before the stop included.
#
# What earns points:
#
# - **1 point · full windows, clipped, at the schedule's rates**: lines of one length, two epochs.
# - **2 points · padding, ragged micro-batches and leftovers**: the whole thing, with AdamW.
# - **2 points · memory within the budget**: every byte your run makes is counted. A budget with room for two micro-batches,
#   where a window has six; beside it, weights, gradients, optimizer state and two more copies of the weights. The window's
#   micro-batches may be in a list, but go through the model one at a time, as they come.
# - **3 points · stopping and going on**: stopped within the second epoch; the file is moved; on to a second stop, and on from
#   there, each time in a new process; a stop at a leftover, and one in the third epoch, once the second check passes. Here the
#   history must tell of all updates.
# - **1 point · an honest history**: the four numbers of every update, in those of the runs above whose weights are right.
#
# The first four compare weights with those of large batches, up to rounding. A number that `train_window` reports wrongly costs
# the last point only.


# %% exercise="train"
def train(config):
    """Train as the config says; stop and go on as it says. Returns the run's history."""
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
# Two loops, one inside the other: epochs, and windows of the epoch's stream. Unit 04 has the line that cuts a stream into
# windows.
# </details>
#
# <details><summary>Hint 2: passing over</summary>
#
# Count windows through all epochs, also those you do not train on. After a resume, the first
# `run.history.updates` of them are used up.
# </details>
#
# <details><summary>Hint 3: going on ends elsewhere</summary>
#
# Which of the four parts is not back? AdamW without its memory and a schedule that warms up a second time both train, and both
# end elsewhere. Load all four.
# </details>

# %% [markdown]
# ## The run
#
# Now for real, with your functions: the whole text, four times, within the budget. Press **Train**. It takes less than 90
# seconds on two CPU cores. While it runs you see the loss beside what a perfect model would pay, and the bytes beside what is
# allowed. If there is a GPU, a larger run is on offer as well.

# %%
live_run(train, pick_micro_batch_size)

# %% [markdown]
# <details><summary>What to look at</summary>
#
# - The loss falls fast while it learns letters and words, and slowly while it learns which ship comes from where. Below the
#   dashed line it can get by luck only, or by learning lines by heart: the hour of the next ship is chance.
# - **The loss on new lines is the number that counts**, and it is a little higher.
# - The bytes are those of one micro-batch, from the first update to the last. The window does not enter.
# - Ships in the lines it makes up have the right kind and come from the right port, if it has learned its lesson.
# </details>

# %% [markdown]
# ## What to remember
#
# - **A loss curve does not prove a loop right.** Weights beside the large batch's do, in float64, on something tiny; where they
#   part says what to look at.
# - **Count tokens, not lines and not places.** The window's mean is over its tokens.
# - **Measure the worst micro-batch.** B comes from the budget, N from the window.
# - **This run is five things**: model, optimizer, schedule, history, place in the data. Others have a scaler and more.
# - Report what happened: mean over the window, norm before the clip, rate that was used, tokens without padding.
#
# Next: **[13 · In the wild](13_in_the_wild.ipynb)**
