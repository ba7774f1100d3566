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
# # 06 · Mixed precision and clipping
#
# **What must happen once per window?**
#
# In 2022 the authors of a model with 175 billion parameters [wrote down what went wrong](https://arxiv.org/abs/2205.01068)
# (section 2.5). They trained in float16, and when the loss diverged, the scale that mixed precision depends on crashed towards
# 0. They restarted from earlier checkpoints and lowered the clipping threshold from 1.0 to 0.3.
#
# Whenever such a scale falls, an update is skipped. With accumulation that is a whole window, read for nothing.
#
# Clipping, scaling and unscaling each have one right place, and wrong places where they raise no error.
#
# *About 45 minutes, 10 points. You need unit [04 · Training loop](04_training_loop.ipynb).*

# %% [markdown]
# ## Predict
#
# Clipping shortens a gradient that is longer than a threshold. Suppose you accumulate four micro-batches and clip.

# %%
from gradaccum.predict import predict

predict(
    "Where does the clipping belong, if the update is to be that of one large batch, clipped?",
    choices=("after every backward", "once, after the last backward", "in either place: the update is the same"),
    answer="once, after the last backward",
    because="The large batch has one gradient, which is clipped once. Clipping after every backward shortens some "
    "micro-batches more than others, so their sum points in another direction. You will soon measure by how much.",
)

# %% [markdown]
# ## Clipping
#
# One strange batch can have a gradient a hundred times as long as the others'. **Clipping by norm** limits that. With a
# threshold $c$, and $g$ the gradient of *all* parameters as one vector,
#
# $$g \leftarrow g \cdot \min\left(1, \frac{c}{\lVert g\rVert}\right).$$
#
# The direction stays the same. `clip_grad_norm_(model.parameters(), max_norm)` does this to `.grad` with $c$ = `max_norm`, and
# returns the norm from *before* the clipping.

# %%
from itertools import islice

import torch
from torch.nn.utils import clip_grad_norm_

from autograder.check import check
from gradaccum.explore import explore
from gradaccum.loops import windows
from gradaccum.phenomena import low_precision_sums
from gradaccum.problems import Problem, flat_gradient

# %%
problem = Problem(seed=6, accumulation_steps=4, epochs=((2, 2, 2, 2),))
model = problem.build_model()
for x, y in problem.batches():
    (problem.loss_fn(model(x), y) / 4).backward()
print(f"norm before, as returned: {clip_grad_norm_(model.parameters(), 0.5):.3f}")
print(f"norm of .grad now:        {flat_gradient(model).norm():.3f}")

# %% [markdown]
# ## Where to clip, and at what threshold?
#
# Texts say that the threshold "may need adjustment". Clip the same window after averaging, after summing, and piece by piece:


# %%
def window_gradient(divide_by, max_norm, clip_each=False):
    model = problem.build_model()
    for x, y in problem.batches():
        (problem.loss_fn(model(x), y) / divide_by).backward()
        if clip_each:
            clip_grad_norm_(model.parameters(), max_norm)
    clip_grad_norm_(model.parameters(), max_norm)
    return flat_gradient(model)


# %%
due = window_gradient(4, 0.5)
for name, g in {
    "averaged, threshold 0.5": due,
    "summed, threshold 0.5": window_gradient(1, 0.5),
    "summed, threshold 4 × 0.5, then / 4": window_gradient(1, 4 * 0.5) / 4,
    "clipped after each micro-batch": window_gradient(4, 0.5, clip_each=True),
}.items():
    angle = torch.nn.functional.cosine_similarity(g, due, dim=0).clamp(max=1).acos().rad2deg()
    print(f"{name:35} length {g.norm():.3f}, {angle:4.1f}° off")

# %% [markdown]
# - **Averaged, the threshold stays as it was.** The accumulated mean *is* the large batch's gradient.
# - **Summed, the threshold has to be N times as large**, since the vector is, and the clipped sum is then divided by N.
# - **Piece by piece, you get another direction.** No threshold repairs that.
#
# <details><summary>Why is the second row right as well?</summary>
#
# Only because this mean is longer than $c$. A shorter mean would come out too long: with length $c$ if it is longer than
# $c/N$, and otherwise N times too long.
# </details>

# %% [markdown]
# ## Mixed precision in brief
#
# With half the bits, activations take as little as half the memory, and matrix products are several times as fast on a GPU
# with tensor cores. You need two things:
#
# - **`torch.autocast(device_type, dtype=dtype)`**: inside the block, operations that tolerate it run in `float16` or
#   `bfloat16`. The parameters and their `.grad` stay in float32. The forward pass and the loss belong inside, `backward` does
#   not.
# - **`GradScaler`**, for float16, in which small gradients would become 0. So the loss is multiplied by a **scale**, and
#   `.grad` is divided by it afterwards. (bfloat16 has the range of float32 and needs no scale.)
#
# <details><summary>How much faster?</summary>
#
# With half the bits, matrix products on an H200 are [15 times](../docs/gpu.md) as fast as in float32, and twice as fast as in
# TensorFloat-32.
# </details>

# %%
tiny = torch.tensor(2e-8)
print("a gradient in float16:           ", tiny.half().item())
print("scaled by 65,536, there and back:", (tiny * 65536).half().float().item() / 65536)

# %% [markdown]
# The scaler's calls:
#
# | call | what it does |
# |---|---|
# | `scaler.scale(loss)` | multiplies the loss by the scale |
# | `scaler.unscale_(optimizer)` | divides every `.grad` by the scale, and notes whether there is an inf or NaN |
# | `scaler.step(optimizer)` | updates, unless an inf or NaN was found; unscales first if you have not |
# | `scaler.update()` | halves the scale after an inf or NaN; doubles it after 2,000 good updates in a row |

# %%
predict(
    "You accumulate N = 4 micro-batches in float16. In the third of them a gradient overflows to inf. "
    "What happens to the window?",
    choices=(
        "the third micro-batch is left out, the other three are applied",
        "all four are lost, the parameters do not move",
        "the parameters become inf",
        "the scaler computes the third again with a smaller scale",
    ),
    answer="all four are lost, the parameters do not move",
    because=(
        "inf plus any finite number is inf, so what is in .grad can no longer be taken apart. The scaler skips the whole "
        "window and halves its scale: see Overflow in the next picture."
    ),
)

# %% [markdown]
# ## Explore: order of operations
#
# Here are a window of four micro-batches, a model of two parameters and a real `GradScaler`. On the left is the length of
# `.grad` after each operation, on the right the update, with the threshold as a dotted circle.
#
# 1. You begin with a common mistake. By what factor is the update too short? Change the scale.
# 2. Press **Hide it**. Why is the same code now right?
# 3. Press **Reset** and go through the other orders. Which turn the update, and which only change its length?

# %%
explore("order_of_operations")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. By the scale: the gradient has not been unscaled when it is clipped, so it is that many times too long for the
#    threshold. (At 65,536 it overflows, and there is no update at all.)
# 2. With a scale of 1 there is nothing to unscale. So a test without a scaler does not find this mistake.
# 3. Whatever happens *between* the micro-batches turns the update: clipping, unscaling the early ones again, moving the scale.
#    (A scaler refuses to unscale twice before `update`; here it is forced to, so that you see why.) The others change at most
#    its length. Stepping without the scaler looks right as long as clipping cuts the gradient to the length that was due.
#    Without clipping (set the threshold to 1,000) the update is 256 times too long.
# </details>

# %% [markdown]
# ## Exercise 1 · `train_epoch_clipped`
#
# *Difficulty ●●○ · about 6 minutes · 3 points*
#
# Write `train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm)`: one epoch as in unit
# 04, except that each window's gradient is clipped to `max_norm` before its update. Return a list with one number for each
# window: the norm of its gradient **before** clipping.
#
# As in unit 04, micro-batches may be ragged, the last window may be shorter, `micro_batches` may be a one-shot stream, and
# `.grad` may hold anything when you are called. The model is in training mode; leave it there. Every parameter is trained.
# Update by `optimizer.step()`; the optimizer may have momentum and several parameter groups. (`islice` is imported,
# for a loop like that of unit 04, and so is `windows(micro_batches, accumulation_steps)`, which yields one window at a time.)
#
# What earns points:
#
# - **1 point · windows whose norm is above the threshold**: full windows of ragged micro-batches. Once the next point is
#   earned, this one is also tested with a leftover window, with N = 1, and with norms on both sides of the threshold.
# - **1 point · windows whose norm is below it, and leftovers**: equal micro-batches, three epochs, leftover windows, N = 1
#   included. Micro-batches go through the model one by one.
# - **1 point · the returned norms**: one for each window, before clipping.
#
# The first two compare the parameters with those of large batches that are clipped.


# %% exercise="train_epoch_clipped"
def train_epoch_clipped(model, loss_fn, optimizer, micro_batches, accumulation_steps, max_norm):
    """Train for one epoch, clipping each window's gradient once; return the norms before."""
    ### BEGIN SOLUTION
    norms = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        optimizer.step()
    optimizer.zero_grad()
    return norms
    ### END SOLUTION


# %% check="train_epoch_clipped"
check(train_epoch_clipped)

# %% [markdown]
# <details><summary>Hint 1: where</summary>
#
# After which line is the gradient of an update complete, and which line reads it?
# </details>
#
# <details><summary>Hint 2: the norms</summary>
#
# Look again at what `clip_grad_norm_` returns.
# </details>

# %% [markdown]
# ## "Works identically"?
#
# One text says that mixed precision with accumulation "works identically". But a scaler counts **updates**, not
# micro-batches:
#
# - **For every micro-batch**: autocast, scale the loss, backward.
# - **Once per window, in this order**: `unscale_`, clip, `scaler.step`, `scaler.update`. If the update is skipped, the
#   learning-rate schedule has to wait as well.
# - **Within a window the scale must not move**, because gradients in different units do not add up.

# %% [markdown]
# ## Exercise 2 · `train_epoch_amp`
#
# *Difficulty ●●● · about 12 minutes · 4 points*
#
# Write `train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype)`: one epoch
# in mixed precision. `scaler` is a `torch.amp.GradScaler` for the device of the data, whose type is `x.device.type`; `dtype`
# is `torch.float16` or `torch.bfloat16`. Use the scaler with both. Clip the **unscaled** gradient of each window to
# `max_norm`, and return the norms before clipping. For a window with inf, return any number, but do return one.
#
# `micro_batches` is a list. Micro-batches may be ragged, the last window shorter, and `.grad` may hold anything when you are
# called. As in exercise 1, the model stays in training mode, every parameter is trained, and the optimizer may have momentum.
#
# What earns points:
#
# - **1 point · updates in float16 and bfloat16, leftovers included**: forwards run in `dtype`, each with one micro-batch, and
#   gradients are added up in float32; no norm reaches `max_norm`. N = 1 counts here, too.
# - **1 point · clipping unscaled gradients**: all norms are above the threshold, that of a leftover window included; the
#   returned norms count here.
# - **1 point · windows with infinite gradients change nothing but the scale**: one micro-batch out of nine or twelve is
#   broken.
# - **1 point · one scale per window, updated after it**: a scaler that doubles its scale after every good update.
#
# Parameters have to agree with clipped large batches up to the rounding of `dtype`, and the scale at the end has to be exact.


# %% exercise="train_epoch_amp"
def train_epoch_amp(model, loss_fn, optimizer, scaler, micro_batches, accumulation_steps, max_norm, dtype):
    """Train for one epoch in mixed precision; return each window's norm before clipping."""
    ### BEGIN SOLUTION
    stream, norms = iter(micro_batches), []
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            with torch.autocast(x.device.type, dtype=dtype):
                loss = loss_fn(model(x), y) * len(x) / samples
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norms.append(float(clip_grad_norm_(model.parameters(), max_norm)))
        scaler.step(optimizer)
        scaler.update()
    optimizer.zero_grad()
    return norms
    ### END SOLUTION


# %% check="train_epoch_amp"
check(train_epoch_amp)

# %% [markdown]
# <details><summary>Hint 1: begin with what you have</summary>
#
# Copy your exercise 1. Two of its lines change, and three are new.
# </details>
#
# <details><summary>Hint 2: the scaler raises an error</summary>
#
# *No inf checks were recorded prior to update*: `update` came before anything was unscaled. *unscale_() is being called after
# step()*: the window before did not end with `update`. *unscale_() has already been called*: twice in one window, or the
# window before ended with neither `step` nor `update`.
# </details>
#
# <details><summary>Hint 3: windows with inf</summary>
#
# Who calls `optimizer.step`, you or the scaler?
# </details>

# %% [markdown]
# ## Predict: small addends
#
# bfloat16 has 8 significant bits. float16 has 11, float32 has 24.

# %%
predict(
    "A model is kept in bfloat16, so its .grad is bfloat16 too. You accumulate 1,024 micro-batches, "
    "and all their gradients happen to be 1. What is in .grad?",
    choices=("1,024, exactly", "about 1,024, off by less than 1%", "256", "inf"),
    answer="256",
    because=lambda: low_precision_sums.describe(low_precision_sums.compute(low_precision_sums.Settings())),
)

# %% [markdown]
# ## Explore: low-precision sums
#
# On the left is the error of a running sum after N additions, for three dtypes. On the right, in the dtype you
# choose, is the sum itself, averaged over 32 such sums. All axes are logarithmic, and an error of 0 is drawn at the bottom.
#
# 1. Where does bfloat16 stop growing? Where does float16?
# 2. Press **Like gradients**. Real gradients differ and partly cancel. How does the error grow with N?

# %%
explore("low_precision_sums")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. At 256 = 2⁸ and 2,048 = 2¹¹. From there on the dtype has only every second whole number, so adding 1 changes nothing.
# 2. In bfloat16 from tenths of a percent to a few percent, and at 4,096 these sums stall as well. (The less the addends
#    differ, the earlier their sums stall.) The error of float32 is far smaller than the difference between one random batch
#    and the next, whatever N is here.
# </details>

# %% [markdown]
# ## Where the sum is kept
#
# These errors come from a **low-precision `.grad`**, so they matter when the model itself was converted. Under autocast the sum
# is float32, like the parameters. The warning that very small micro-batches "accumulate numerical errors" is true of sums in
# bfloat16 and false of sums in float32.

# %% [markdown]
# ## Exercise 3 · `accumulate_in_float32`
#
# *Difficulty ●●○ · about 8 minutes · 3 points*
#
# Write `accumulate_in_float32(model, loss_fn, micro_batches)`. The model is in bfloat16, and so are the micro-batches, a list
# of pairs `(x, y)`. Return a dictionary from the names of `model.named_parameters()` to float32 tensors: the gradient of the
# mean loss over **all samples**, with each micro-batch's gradient computed by the model as it is and **added up in float32**.
# Every parameter is trained, and the model may be in either mode.
#
# What earns points:
#
# - **1 point · sums that do not stall**: 600 micro-batches, nearly equal; and four, of which two have long gradients
#   that cancel. The other two survive only if every addition is in float32.
# - **1 point · ragged micro-batches**: all samples count equally.
# - **1 point · float32 results, from the model as it is**: each micro-batch goes through the bfloat16 model on its own.
#   Afterwards parameters, their dtype and their `requires_grad` are what they were, and so are the mode of every layer and
#   the micro-batches. No hook of yours is left on the model. You may do with `.grad` what you like; it may hold anything when
#   you are called.
#
# An error of 2% is allowed, but do not round the finished sums.


# %% exercise="accumulate_in_float32"
def accumulate_in_float32(model, loss_fn, micro_batches):
    """The gradient of the mean loss over all samples, by parameter name, summed in float32."""
    ### BEGIN SOLUTION
    totals = {name: torch.zeros_like(p, dtype=torch.float32) for name, p in model.named_parameters()}
    samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        model.zero_grad()
        loss_fn(model(x), y).backward()
        for name, p in model.named_parameters():
            totals[name] += p.grad.float() * len(x) / samples
    model.zero_grad()
    return totals
    ### END SOLUTION


# %% check="accumulate_in_float32"
check(accumulate_in_float32)

# %% [markdown]
# <details><summary>Hint 1: where to keep the sums</summary>
#
# By default `.grad` has the dtype of its parameter. Keep tensors of your own, and let `.grad` hold one micro-batch at a time.
# `torch.zeros_like(p, dtype=torch.float32)` has the shape of `p` and is on its device.
# </details>
#
# <details><summary>Hint 2: converting</summary>
#
# `(a + b).float()` adds in bfloat16 and converts the result. Convert first, then add.
# </details>

# %% [markdown]
# ## Stretch: what sums in float32 cost
#
# Not graded.
# %%
predict(
    "Llama 2 with 6.74 billion parameters is kept in bfloat16, and its .grad with it. How much memory do the float32 sums of "
    "exercise 3 cost on top?",
    choices=("nothing: they replace .grad", "about 13 GB", "about 27 GB", "about 54 GB"),
    answer="about 27 GB",
    because=lambda: (
        f"They have 4 bytes for each parameter, {4 * 6.74:.0f} GB in all, and the {2 * 6.74:.0f} GB of .grad are still needed "
        "for the micro-batch at hand. (Hooks could add and clear one parameter at a time.) "
        f"In return you get rid of an error: a bfloat16 sum of 64 gradients is typically off by "
        f"{low_precision_sums.typically_off(64)}."
    ),
)

# %% [markdown]
# ## What to remember
#
# - For every micro-batch: autocast, scale, backward. **Once per window: unscale, clip, step, update**, in this order.
# - **Clip what is complete and unscaled.** Averaged, the threshold stays as it is; summed, it is N times as large.
# - **The scale is constant within a window**, and one inf skips all of it.
# - **Sums belong in float32.** In bfloat16 a sum stops growing at 256 to 512 times its addend.
#
# <details><summary>References</summary>
#
# - Zhang et al. 2022, [OPT: Open Pre-trained Transformer Language Models](https://arxiv.org/abs/2205.01068)
# - Micikevicius et al. 2017, [Mixed Precision Training](https://arxiv.org/abs/1710.03740)
# - PyTorch: [automatic mixed precision, with a section on gradient
#   accumulation](https://pytorch.org/docs/stable/notes/amp_examples.html),
#   [clipping with `clip_grad_norm_`](https://pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html)
# - [The claims ledger](../docs/claims.md): rows 4 and 17 to 19
# </details>
#
# Next: **[07 · When equivalence breaks](07_when_equivalence_breaks.ipynb)**
