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
# # 03 · Accumulate
#
# **Are B = 8, N = 1 and B = 2, N = 4 the same?**
#
# One run pushes eight samples through the model at once and updates. Another takes them two at a time, and updates after the
# last two. Is it the same update?
#
# In March 2025 somebody trained LLaVA with 128 samples per update, cut in different ways, and [reported the loss at the first
# step](https://github.com/hiyouga/LlamaFactory/issues/7443):
#
# | N, micro-batches per update | 2 | 4 | 16 | 32 |
# |---|---|---|---|---|
# | reported loss at the start | 6.4 | 13.65 | 69 | 138 |
#
# You will measure the answer, find out when it changes, and write the function that makes the answer *yes*.
#
# *About 35 minutes, 10 points. You need `loss.backward()` and a rough idea of what a gradient is.*

# %% [markdown]
# ## Predict

# %%
from gradaccum.predict import predict

predict(
    "You call `loss.backward()` once for each of four micro-batches of two samples and clear nothing in between. "
    "Compared with the gradient of all eight samples as one batch, what is in `.grad` now?",
    choices=(
        "the same gradient",
        "the same direction, four times as long",
        "the same direction, a quarter as long",
        "the gradient of the last micro-batch",
    ),
    answer="the same direction, four times as long",
    because="`backward()` adds, and each of the four losses is a mean over its own two samples. "
    "Four means added up are four times the mean of all eight.",
)

# %%
import torch
from torch import nn

from autograder.check import check
from gradaccum.explore import explore
from gradaccum.fingerprint import batch_gradient
from gradaccum.phenomena import equivalence
from gradaccum.problems import Problem

# %% [markdown]
# ## The setting
#
# A `Problem` is a small regression task made from a seed: a model, a loss, and micro-batches of data. Here are four
# micro-batches of two samples each, so B = 2 and N = 4.

# %%
problem = Problem(seed=7, accumulation_steps=4, epochs=((2, 2, 2, 2),))
model, loss_fn, micro_batches = problem.build_model(), problem.loss_fn, problem.batches()
for k, (x, y) in enumerate(micro_batches, 1):
    loss = loss_fn(model(x), y)
    print(f"micro-batch {k}: x {tuple(x.shape)}, y {tuple(y.shape)}, loss {loss.item():.3f}")

# %% [markdown]
# `loss_fn(prediction, target)` **averages over the samples of the batch it is given**. The whole unit depends on that.

# %% [markdown]
# ## `backward()` adds
#
# First the mechanism, on a single number. The derivative of $5w$ is 5, whatever $w$ is.

# %%
w = torch.tensor(2.0, requires_grad=True)
for call in (1, 2, 3):
    (5 * w).backward()
    print(f"after call {call}: w.grad = {w.grad.item():g}")

# %% [markdown]
# `backward()` **adds** the gradient to whatever `.grad` holds. Everything in this course follows from that one design
# decision: accumulating takes no extra code, and forgetting to clear raises no error.

# %% [markdown]
# ## A sum where a mean is due
#
# Now the same with the model: on the left what four backward calls leave in `.grad`, on the right the gradient of one batch of
# eight.

# %%
model.zero_grad()
for x, y in micro_batches:
    loss_fn(model(x), y).backward()
added_up = model.head.weight.grad

model.zero_grad()
all_x, all_y = (torch.cat(parts) for parts in zip(*micro_batches, strict=True))
loss_fn(model(all_x), all_y).backward()
large = model.head.weight.grad

for a, b in zip(added_up[0], large[0], strict=True):
    print(f"added up {a.item():8.4f}   one batch {b.item():8.4f}   ratio {(a / b).item():.4f}")

# %% [markdown]
# Why? Write $\ell_i$ for the loss of sample $i$ and $g_k$ for the gradient of micro-batch $k$, a mean over its $B$ samples. The
# large batch's gradient is a mean over all $BN$ of them:
#
# $$\frac{1}{BN}\sum_{i=1}^{BN}\nabla \ell_i \;=\; \frac1N\sum_{k=1}^{N}\left(\frac1B\sum_{i\in k}\nabla \ell_i\right)
# \;=\; \frac1N\,(g_1+\dots+g_N)$$
#
# The sum that `backward()` builds up for you is right except for the $1/N$. Divide each loss by $N$ before its `backward()`,
# and the sum *is* the mean. (The losses in the table at the top grow with N roughly as such a sum does. Another case: in
# January 2025 `transformers` 4.48.0 left the division out for many models. With N = 4, [we recorded](../docs/trainers.md)
# a weight of 1 for each micro-batch, where about 1/4 is due.)

# %% [markdown]
# ## Explore: B×N equivalence
#
# You see sixteen samples as one batch and as N micro-batches. In the middle is the length of the accumulated gradient,
# relative to the large batch's; above 2 that axis is logarithmic. On the right each point compares one component of the two
# gradients. If they agree, all points lie on $y = x$.
#
# 1. Press **Break**. What happens to the points, and by what factor? Change N: does the factor follow?
# 2. With the division off, one choice of N still agrees. Which one, and why?
# 3. Press **Fix**, which sets float64, and compare with float32. Do the two gradients agree in every digit?

# %%
explore("equivalence")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. The points turn onto a steeper line, $y = Nx$.
# 2. N = 1, where there is nothing to divide by.
# 3. Not quite. A tiny difference is left, and in float64 it is many orders of magnitude smaller.
# </details>

# %% [markdown]
# ## Rounding or error?
#
# Adding the same numbers in another order rounds differently, so two correct computations rarely agree in every digit. To tell
# harmless rounding from a mistake, **compute in float64.** Rounding shrinks as the precision grows; a mistake does not.

# %%
for divide in (True, False):
    for precision in ("float32", "float64"):
        settings = equivalence.Settings(divide=divide, precision=precision)
        difference = equivalence.compute(settings).difference
        print(f"divided by N: {divide!s:5}   {precision}: largest difference {difference:.1e}")

# %% [markdown]
# Your functions are marked the same way: in float64 where your device has it, with a tolerance far above rounding and far
# below any mistake.

# %% [markdown]
# ## Two right formulas
#
# Questions on forums often write accumulation as a sum:
#
# $$w_{t+1} = w_t - \alpha\sum_{k=1}^{N} g_k \qquad\text{instead of}\qquad w_{t+1} = w_t - \alpha\,\frac1N\sum_{k=1}^{N} g_k$$
#
# With the same $\alpha$ the left update is $N$ times as long. With plain SGD you can fix that in either of two places: divide
# the gradient, or choose another rate (exercise 2). In this course we average, so that the rate of a recipe keeps its meaning
# whatever N is.

# %% [markdown]
# ## Do old gradients go stale?
#
# Some say that the first micro-batch's gradient is out of date by the time of the update. Measure it: take the gradient of
# micro-batch 1, let the whole window go by (the micro-batches of one update), and take it again. Then do the same across an
# update. (The `batch_gradient` imported above works like that of unit 01, but takes a micro-batch as one pair and returns a
# single vector.)

# %%
model.zero_grad()
first = batch_gradient(model, loss_fn, micro_batches[0])
for x, y in micro_batches:
    (loss_fn(model(x), y) / 4).backward()
again = batch_gradient(model, loss_fn, micro_batches[0])
problem.build_optimizer(model).step()
after = batch_gradient(model, loss_fn, micro_batches[0])
print(f"changed during the window:  {(again - first).norm() / first.norm():.0%}")
print(f"changed after the update:   {(after - first).norm() / first.norm():.0%}")

# %% [markdown]
# Within a window nothing ages. `backward()` leaves the parameters alone, so **all gradients of a window are taken at the same
# parameters**, exactly as in one large batch. They would go stale if an update came in between.

# %% [markdown]
# ## Ragged micro-batches
#
# So far every micro-batch had B samples. The last one of a data set often has fewer. Then the mean of the means is no longer
# the mean of all samples:

# %%
big, small = torch.tensor([1.0, 1.0, 1.0]), torch.tensor([5.0])
print("mean of the two means:", ((big.mean() + small.mean()) / 2).item())
print("mean of all samples:  ", torch.cat([big, small]).mean().item())
print("weighted by samples:  ", (big.mean() * 3 / 4 + small.mean() * 1 / 4).item())

# %% [markdown]
# A micro-batch of $b_k$ samples must be weighted by its share of the samples, $b_k / \sum_j b_j$. With equal sizes that is
# $1/N$ again.

# %% [markdown]
# ## When are they the same?
#
# N micro-batches and one large batch give the same gradient, up to rounding, if
#
# 1. the loss is a **mean of losses of single samples**,
# 2. everything is divided by **one common denominator**, the number of samples in the whole window,
# 3. no layer lets the **samples of a batch** see each other,
# 4. **randomness** is the same (dropout masks, augmentation),
# 5. all of it happens at the **same parameters**: one update per window.
#
# Number 3 is easy to overlook. In training mode, BatchNorm normalizes with the mean and variance of the batch it
# sees, and that is now the micro-batch. LayerNorm looks at one sample at a time.


# %%
def difference_from_large_batch(model):
    large = batch_gradient(model, loss_fn, (all_x, all_y))
    each = [batch_gradient(model, loss_fn, batch) for batch in micro_batches]
    accumulated = torch.stack(each).mean(0)
    return ((accumulated - large).norm() / large.norm()).item()


for norm in (nn.LayerNorm(8), nn.BatchNorm1d(8)):
    torch.manual_seed(0)
    small_net = nn.Sequential(nn.Linear(4, 8), norm, nn.Tanh(), nn.Linear(8, 2)).double()
    difference = difference_from_large_batch(small_net)
    print(f"{type(norm).__name__:12} difference from the large batch: {difference:.1e}")

# %% [markdown]
# LayerNorm is off by rounding only. BatchNorm is off by a large part of the gradient, and no division repairs that.

# %% [markdown]
# ## Exercise 1 · `accumulate_gradient`
#
# *Difficulty ●●○ · about 10 minutes · 6 points*
#
# Write `accumulate_gradient(model, loss_fn, micro_batches)`. When it returns, `.grad` of the model's parameters holds the
# gradient of the mean loss over **all samples of all micro-batches**, as if they had been one batch.
#
# You are given
#
# - `model`, in training mode. Some of its parameters may be frozen (`requires_grad=False`) or not used at all.
# - `loss_fn(prediction, target)`, a mean over the samples of its batch.
# - `micro_batches`, a list of one or more pairs `(x, y)`. `len(x)` is the number of samples.
#
# What earns points:
#
# - **2 points · micro-batches of equal size**: the gradient is right when all have B samples, at every call; no hook and no
#   attribute stays on the model, and you do not seed torch.
# - **2 points · ragged micro-batches**: when their sizes differ, in a model with a frozen and an unused parameter, and with
#   a weight that two layers share.
# - **1 point · discarding what .grad held before**: `.grad` of a parameter that is not frozen may hold anything when you are
#   called, infinity included; after every call none of it is left.
# - **1 point · one micro-batch's graph at a time**: with 24 micro-batches, ragged or not, your peak memory stays below nine
#   times that of a loop with one graph alive.
#
# Your function leaves the parameters and the micro-batches as they are, frozen parameters frozen, and the model in training
# mode; we check all this for every point. What it returns is ignored. An unused parameter's `.grad` may be `None` or zero.


# %% exercise="accumulate_gradient"
def accumulate_gradient(model, loss_fn, micro_batches):
    """Leave in .grad the gradient of the mean loss over all samples of all micro-batches."""
    ### BEGIN SOLUTION
    model.zero_grad()
    samples = sum(len(x) for x, _ in micro_batches)
    for x, y in micro_batches:
        loss = loss_fn(model(x), y) * len(x) / samples
        loss.backward()
    ### END SOLUTION


# %% check="accumulate_gradient"
check(accumulate_gradient)

# %% [markdown]
# <details><summary>Hint 1: where to begin</summary>
#
# You do not know what is in `.grad` when you are called, and `backward()` adds. What has to happen first?
# </details>
#
# <details><summary>Hint 2: the weight</summary>
#
# `loss_fn` gives the mean over the samples of *this* micro-batch. By what number must you multiply it so that all such terms
# add up to the mean over all samples? See "Ragged micro-batches" above.
# </details>
#
# <details><summary>Hint 3: memory</summary>
#
# `backward()` frees what its graph held. If you add up losses and call `backward()` once at the end, all graphs are alive
# together; if you call it in every round of the loop, only one is.
# </details>

# %% [markdown]
# ## Exercise 2 · `sum_form_lr`
#
# *Difficulty ●○○ · about 4 minutes · 2 points*
#
# A colleague's loop adds gradients up and never divides: $w \leftarrow w - \alpha' \sum_k g_k$. You want it to make the same
# update as yours, $w \leftarrow w - \alpha\,\frac1N \sum_k g_k$. Both use plain SGD. Write
# `sum_form_lr(lr, accumulation_steps)`, which is given $\alpha$ and $N$ and returns $\alpha'$.
#
# What earns points:
#
# - **2 points · the rate**: a number, not rounded, right for four pairs of a rate and an N, one of them with N = 1.


# %% exercise="sum_form_lr"
def sum_form_lr(lr, accumulation_steps):
    """The learning rate with which summed gradients make the update of averaged ones."""
    ### BEGIN SOLUTION
    return lr / accumulation_steps
    ### END SOLUTION


# %% check="sum_form_lr"
check(sum_form_lr)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Set the two updates equal. The sum $\sum_k g_k$ appears on both sides.
# </details>

# %% [markdown]
# ## Exercise 3 · `same_update`
#
# *Difficulty ●○○ · about 4 minutes · 2 points*
#
# Two people read the same stream of samples from the start, average as you do, and use the same optimizer and rate. One works
# with micro-batches of $B_a$ samples and $N_a$ accumulation steps, the other with $B_b$ and $N_b$. All five conditions above
# hold. Write `same_update(config_a, config_b)`, which is given the two pairs $(B, N)$ and says whether both make the same
# updates.
#
# What earns points:
#
# - **2 points · the right answer for every pair**: `True` or `False`, for twenty-one pairs of configurations, some of them
#   with millions of samples; all must be right.


# %% exercise="same_update"
def same_update(config_a, config_b):
    """Whether two configurations (B, N) make the same updates, rounding aside."""
    ### BEGIN SOLUTION
    (size_a, steps_a), (size_b, steps_b) = config_a, config_b
    return size_a * steps_a == size_b * steps_b
    ### END SOLUTION


# %% check="same_update"
check(same_update)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Which samples does the first update average over? And does it matter how they were cut?
# </details>


# %% [markdown]
# ## One for the road
#
# Exercise 2 promised the rate for plain SGD only. (Not graded.)
# %%
def distance(optimizer, rate, **options):
    ends = []
    for divide in (True, False):
        model = problem.build_model()
        updater = optimizer(model.parameters(), lr=rate if divide else rate / 4, **options)
        for _ in range(5):
            updater.zero_grad()
            for x, y in micro_batches:
                (loss_fn(model(x), y) / (4 if divide else 1)).backward()
            updater.step()
        ends.append(nn.utils.parameters_to_vector(model.parameters()).detach())
    return float((ends[0] - ends[1]).norm() / ends[0].norm())


# %%
distances = {
    "SGD with momentum": distance(torch.optim.SGD, 0.05, momentum=0.9),
    "SGD with weight decay": distance(torch.optim.SGD, 0.05, weight_decay=0.1),
    "AdamW": distance(torch.optim.AdamW, 0.05),
}
predict(
    "One loop divides by N = 4. The other adds up and uses a quarter of the rate. With which of these do both end in the same "
    "place?",
    choices=("SGD with momentum", "SGD with weight decay", "AdamW", "none of them"),
    answer=lambda: min(distances, key=distances.get),
    because=lambda: (
        "After five updates the ends differ by "
        + ", ".join(f"{gap:.1%} ({name})" for name, gap in distances.items())
        + ". Momentum adds gradients up, so a factor passes through. Weight decay does not grow with the sum, so at a quarter "
        "of the rate it is a quarter as strong. AdamW divides the factor out itself and keeps only the smaller rate."
    ),
)

# %% [markdown]
# ## What to remember
#
# - **`backward()` adds.** Accumulating is what PyTorch does unless you clear.
# - The sum becomes the large batch's mean when every micro-batch is weighted by **its share of the samples**: $1/N$ if all
#   have the same size.
# - B = 8, N = 1 and B = 2, N = 4 are **the same update, under five conditions**. BatchNorm breaks the third.
# - Rounding shrinks in float64, **a mistake does not**.
# - Nothing goes stale within a window: **all its gradients are taken at the same parameters.**
#
# <details><summary>References</summary>
#
# - The reports: [LlamaFactory issue 7443](https://github.com/hiyouga/LlamaFactory/issues/7443), [transformers issue
#   35663](https://github.com/huggingface/transformers/issues/35663) and its repair, [PR
#   35651](https://github.com/huggingface/transformers/pull/35651)
# - Ioffe and Szegedy 2015, [Batch Normalization](https://arxiv.org/abs/1502.03167)
# - [The claims ledger](../docs/claims.md): rows 1 to 4, 20 to 22 and 24
# </details>
#
# You have one window. Training is many of them in a row, with two calls in between: **[04 · Training
# loop](04_training_loop.ipynb)**
