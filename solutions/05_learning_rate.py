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
# # 05 · Learning rate
#
# **What changes when the effective batch changes?**
#
# In February 2023 somebody trained BERT on 8 GPUs with N = 2 and asked for 10,000 steps of warmup. [The rate peaked at step
# 2,500](https://github.com/huggingface/transformers/issues/18436). Nothing crashed, but the schedule had counted something
# other than updates.
#
# A recipe names a learning rate and a schedule for *its* batch. Must you adjust the rate when you accumulate? Texts disagree,
# and both sides are right, in different cases.
#
# *About 45 minutes, 10 points. You need unit [04 · Training loop](04_training_loop.ipynb).*

# %% [markdown]
# ## Predict

# %%
from gradaccum.predict import predict

predict(
    "A recipe says: batches of 32, rate 0.1. Your device takes only 8, so you choose B = 8 and N = 4, and average. "
    "Which rate trains as the recipe does?",
    choices=("0.1", "0.4, since N = 4", "0.2, since √4 = 2", "0.025, since B is a quarter"),
    answer="0.1",
    because="The effective batch is the recipe's, 8 × 4 = 32, so the gradients are the same. You will soon measure it.",
)

# %% [markdown]
# ## The effective batch
#
# An update averages over B samples in each micro-batch, times N micro-batches in a window, times W **ranks**: copies of the
# model on several devices, which average their gradients before the update. W is called the **world size**; on one device it
# is 1. (Unit 10 is about ranks.)
#
# $$\text{effective batch size} = B \times N \times W$$
#
# This number, and not B, N or W alone, is what a learning rate depends on.

# %%
import torch

from autograder.check import check
from gradaccum.explore import explore
from gradaccum.loops import windows
from gradaccum.phenomena import learning_rate_scaling
from gradaccum.phenomena.gradient_noise import noise_scales
from gradaccum.problems import Problem

# %% [markdown]
# ## The same effective batch, the same rate
#
# Each update averages over 32 samples, uncut or cut in three ways, and all runs train at the *same* rate. The number is how
# far each run ends from the uncut one.


# %%
def train(micro_batch_size, accumulation_steps):
    sizes = (micro_batch_size,) * (96 // micro_batch_size)
    problem = Problem(seed=3, accumulation_steps=accumulation_steps, epochs=(sizes,))
    model = problem.build_model()
    optimizer = problem.build_optimizer(model)
    for window in windows(problem.batches(), accumulation_steps):
        optimizer.zero_grad()
        for x, y in window:
            (problem.loss_fn(model(x), y) / len(window)).backward()
        optimizer.step()
    return torch.nn.utils.parameters_to_vector(model.parameters()).detach()


uncut = train(32, 1)
for b, n in ((16, 2), (8, 4), (2, 16)):
    print(f"B = {b:2}, N = {n:2}: {(train(b, n) - uncut).norm() / uncut.norm():.0e}")

# %% [markdown]
# Rounding, nothing else. So if N only *replaces* a larger B, the rate need not be adjusted. It is another matter when the
# **effective batch itself changes**.

# %% [markdown]
# ## Three rules
#
# Suppose a rate $\alpha$ worked for batches of $b$, and you now average over $c$ samples, so an epoch makes $b/c$ times as many
# updates. Three rules are in use:
#
# | rule | new rate | idea |
# |---|---|---|
# | none | $\alpha$ | the same update on average; a larger batch is only less noisy |
# | linear | $\alpha \cdot c/b$ | fewer updates, each longer in proportion: the distance per *sample* stays the same |
# | sqrt | $\alpha \cdot \sqrt{c/b}$ | for optimizers that divide by the typical size of a gradient, such as Adam |
#
# <details><summary>Why a root for Adam?</summary>
#
# If $c = Nb$, there are $1/N$ as many updates, so each has to go $N$ times as far. While noise outweighs the gradient, Adam
# divides by roughly the length of the *noise*. The larger batch makes that noise $\sqrt N$ times shorter, so Adam already goes
# $\sqrt N$ times as far along the gradient. The rate supplies the other $\sqrt N$.
# </details>

# %% [markdown]
# ## Predict: a larger batch

# %%
predict(
    "Batches of 8 trained well with plain SGD. Your batches are now 16 times as large, and you read as many samples as "
    "before. Which rate comes closest to the old training?",
    choices=("the old one", "4 times the old one", "16 times the old one"),
    answer="16 times the old one",
    because=lambda: learning_rate_scaling.describe(learning_rate_scaling.compute(learning_rate_scaling.Settings())),
)

# %% [markdown]
# ## Explore: learning rate × effective batch
#
# A linear model learns from noisy targets. The broad green curve is the reference, batches of 8. The other curves use batches
# N times as large under the three rules. On the right you see by what factor each rule is off, for every N.
#
# 1. You begin with SGD and N = 16. Which rule follows the green curve?
# 2. Press **Break**: N = 64. What happens to that rule? Would reading more samples help?
# 3. Press **Adam**, which goes back to N = 16. Which rule follows now?

# %%
explore("learning_rate_scaling")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. The linear one, closely. With the rate unchanged the loss is several times too high: each update goes as far as before,
#    but there are only 1/16 as many. (√N ends lower, because its steps are less noisy. But that is a different training run:
#    the question is which rule *follows*.)
# 2. It leaves the picture, and more samples only take it further. A rate N times as high is soon too high for the steepest
#    direction of the loss, however little noise there is. (Starting with a low rate that climbs slowly, a *warmup*, extends
#    the limit, but does not remove it.)
# 3. The square root, up to about N = 16. The linear rule starts faster, but stays far above the green curve at the end.
# </details>

# %% [markdown]
# ## A heuristic, not a law
#
# The linear rule is often printed as if it were part of accumulation. But:
#
# - It is a **heuristic for plain SGD** and holds within limits: fine at N = 16 here, divergent at N = 64.
# - For **Adam the square root** is the common rule. It holds while noise outweighs the gradient.
# - **Never apply a rule on top of a missing 1/N.** A loop that adds gradients up already makes updates N times as long. With a
#   rate N times as high they are N² times as long:

# %%
problem = Problem(seed=3, accumulation_steps=4, epochs=((8, 8, 8, 8),))
for divide, factor in ((True, 1), (True, 4), (False, 1), (False, 4)):
    model = problem.build_model()
    before = torch.nn.utils.parameters_to_vector(model.parameters()).detach().clone()
    for x, y in problem.batches():
        (problem.loss_fn(model(x), y) / (4 if divide else 1)).backward()
    torch.optim.SGD(model.parameters(), lr=problem.lr * factor).step()
    moved = (torch.nn.utils.parameters_to_vector(model.parameters()) - before).norm().item()
    how = "divided by N" if divide else "not divided"
    print(f"{how:12}  rate × {factor}:  update of length {moved:.4f}")

# %% [markdown]
# ## Exercise 1 · `effective_batch_size`
#
# *Difficulty ●○○ · about 4 minutes · 2 points*
#
# Write `effective_batch_size(micro_batch_size, accumulation_steps, world_size=1)`: the samples that one update averages over,
# as an integer.
#
# What earns points:
#
# - **1 point · the sizes, the published table among them**: the six rows of the table printed below the exercise, and three
#   others, with and without a world size.
# - **1 point · refusing nonsense**: a `ValueError` with a reason, in any words, if any of the three is not a whole number of at
#   least 1: zero, negative, `2.5`, `"2"` or `None`.


# %% exercise="effective_batch_size"
def effective_batch_size(micro_batch_size, accumulation_steps, world_size=1):
    """Samples that one update averages over; ValueError unless all are whole and at least 1."""
    ### BEGIN SOLUTION
    for number in (micro_batch_size, accumulation_steps, world_size):
        if not isinstance(number, int) or number < 1:
            raise ValueError(f"sizes are whole numbers of at least 1, not {number!r}")
    return micro_batch_size * accumulation_steps * world_size
    ### END SOLUTION


# %% check="effective_batch_size"
check(effective_batch_size)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Look at the three numbers before you multiply. `isinstance(number, int)` says whether something is a whole number. Compare
# only whole numbers with 1: comparing a string with a number raises an error of another kind.
# </details>

# %% [markdown]
# Here is that table, from one trainer's documentation.

# %%
published = [(128, 1, 8), (128, 2, 8), (128, 4, 8), (64, 8, 8), (256, 1, 4), (256, 4, 4)]
for b, n, w in published:
    print(f"B = {b:3}, N = {n}, W = {w}: effective batch {b * n * w:5,}")

# %% [markdown]
# ## Exercise 2 · `scale_learning_rate`
#
# *Difficulty ●○○ · about 4 minutes · 2 points*
#
# Write `scale_learning_rate(lr, reference_batch, batch, rule)`. `lr` worked for an effective batch of `reference_batch`; return
# the rate for `batch` by the rule `"none"`, `"linear"` or `"sqrt"`.
#
# What earns points:
#
# - **1.5 points · the three rules**: for larger and for smaller batches.
# - **0.5 points · refusing an unknown rule**: a `ValueError` with a reason, in any words, for any other text.


# %% exercise="scale_learning_rate"
def scale_learning_rate(lr, reference_batch, batch, rule):
    """The rate for another effective batch, by the rule "none", "linear" or "sqrt"."""
    ### BEGIN SOLUTION
    powers = {"none": 0, "linear": 1, "sqrt": 0.5}
    if rule not in powers:
        raise ValueError(f"there is no rule {rule!r}; choose one of {', '.join(powers)}")
    return lr * (batch / reference_batch) ** powers[rule]
    ### END SOLUTION


# %% check="scale_learning_rate"
check(scale_learning_rate)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Begin with the ratio of the two batches: which goes on top, so that a *larger* batch gets a higher rate? `** 0.5` is a square
# root.
# </details>

# %% [markdown]
# ## Schedules count updates
#
# A recipe's rate usually climbs during a **warmup** and then decays. A scheduler from `torch.optim.lr_scheduler` does the
# arithmetic: each `scheduler.step()` moves the schedule on by one position. Here a warmup of eight steps moves on after
# every *micro-batch*, with N = 4.

# %%
weight = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=1.0)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda k: min(1, (k + 1) / 8))
for update in range(1, 5):
    print(f"update {update} uses the rate {optimizer.param_groups[0]['lr']:.3f}")
    optimizer.step()
    for _ in range(4):  # WRONG: the schedule counts micro-batches
        scheduler.step()

# %% [markdown]
# The warmup was meant for eight updates and is over after two. A decay planned over the whole run would end after 1/N of it.
# Recipes count **updates**: call `scheduler.step()` **once per update, after it**. Then the first update uses the first rate.
# The optimizer holds the current rate in `optimizer.param_groups[0]["lr"]`.
#
# <details><summary>And the 10,000 steps that became 2,500?</summary>
#
# The script multiplied its warmup by N = 2, as if the schedule counted micro-batches: 20,000 positions. But the library
# `accelerate`, which the script uses, advances a schedule only at updates, and by default by 8 positions at a time, one for
# each rank: 20,000 / 8 = 2,500 updates.
# (Llama 2 warms up for 2,000 updates. With N = 64, a schedule that counts micro-batches would have finished its warmup by
# update 32.)
# </details>

# %% [markdown]
# ## Exercise 3 · `train_with_schedule`
#
# *Difficulty ●●○ · about 8 minutes · 4 points*
#
# Write `train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps)`: one epoch as in
# `train_epoch` of unit 04, at the schedule's rates. Update by `optimizer.step()`; the optimizer may have momentum. The schedule
# moves on once per update, after it. Return a list with the rate that each update used.
#
# The next epoch is given the same scheduler, which carries on from where it was. Leave no hook on the optimizer. The model is
# in training mode; leave it there. Every parameter is trained, `micro_batches` is a list, and `.grad` is empty when you are
# first called. `windows(micro_batches, accumulation_steps)`, imported at the top, cuts the list into windows.
#
# What earns points:
#
# - **1.5 points · updates at the schedule's rates**: equal micro-batches, full windows, three epochs, N = 1 included. The
#   parameters after each epoch are those of one large batch per window at the schedule's rates. Micro-batches go through the
#   model one by one.
# - **1 point · leftover windows and ragged micro-batches**: a leftover is applied, averages over the samples it has, and is
#   an update like any other, even in an epoch shorter than one window. All samples of a window count equally.
# - **1.5 points · the returned rates**: one number for each update, in order, and your updates used them. This is judged on
#   full windows, and on leftovers once the other two parts are right.


# %% exercise="train_with_schedule"
def train_with_schedule(model, loss_fn, optimizer, scheduler, micro_batches, accumulation_steps):
    """Train for one epoch at the schedule's rates; return the rate that each update used."""
    ### BEGIN SOLUTION
    rates = []
    for window in windows(micro_batches, accumulation_steps):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            loss = loss_fn(model(x), y) * len(x) / samples
            loss.backward()
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates
    ### END SOLUTION


# %% check="train_with_schedule"
check(train_with_schedule)

# %% [markdown]
# <details><summary>Hint 1: where to begin</summary>
#
# Start from your `train_epoch`, and import what it uses, such as `islice`. Two things change: what you collect, and what
# follows the update.
# </details>
#
# <details><summary>Hint 2: the returned rates are those of the next update</summary>
#
# Once the schedule has moved on, the old rate is gone. When can you still read it?
# </details>

# %% [markdown]
# ## Explore: gradient noise
#
# A larger batch may take longer steps because its gradient is less noisy. From 256 samples, 1,000 batches of every size are
# drawn. Each point is the mean squared distance between the gradients of those batches and the gradient of all samples.
#
# 1. Both axes are logarithmic. What does a slope of −1 say about doubling the batch?
# 2. Press **Without replacement**, which is how an epoch reads its data. Where do the points leave the line?
# 3. Press **Later in training**. What happens to the batch at which noise and gradient are equally long?

# %%
explore("gradient_noise")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. Half the variance. So the claim "variance goes as 1 / effective batch" is true **for independent samples**.
# 2. As soon as a batch holds a fair share of the n = 256 samples. The variance is multiplied by (n − B)/(n − 1), and for B = n
#    it is zero: there is only one such batch. For small batches the factor is nearly 1.
# 3. It grows: the gradient shrinks, and so does the noise, but much more slowly.
# </details>

# %% [markdown]
# ## The noise scale, for free
#
# The batch at which the noise in a gradient is as long as the gradient is called the **simple noise scale** ([McCandlish et
# al., 2018](https://arxiv.org/abs/1812.06162)):
#
# $$\mathcal B_{\text{simple}} = \frac{\operatorname{tr}\Sigma}{|G|^2}$$
#
# $|G|^2$ is the squared length of the true gradient, and $\operatorname{tr}\Sigma$ is the variance of one sample's gradient,
# summed over all components. Far below this batch size, doubling the batch nearly halves the updates you need; far above it,
# there is little to gain.
#
# You know neither $|G|^2$ nor $\operatorname{tr}\Sigma$, but noise adds length: the average over $m$ samples has an expected
# squared length of $|G|^2 + \operatorname{tr}\Sigma / m$. A window computes averages over two sizes anyway, $m = B$ (each
# micro-batch, with its mean gradient $g_k$) and $m = BN$ (their mean). That gives two equations for two unknowns:
#
# $$S = \tfrac1N\sum_k |g_k|^2 \approx |G|^2 + \frac{\operatorname{tr}\Sigma}{B}
# \qquad L = \left|\tfrac1N\sum_k g_k\right|^2 \approx |G|^2 + \frac{\operatorname{tr}\Sigma}{BN}$$

# %% [markdown]
# ## Exercise 4 · `gradient_noise_scale`
#
# *Difficulty ●●○ · about 8 minutes · 2 points*
#
# Write `gradient_noise_scale(micro_gradients, micro_batch_size)`. It is given a list of N ≥ 2 vectors, each the mean gradient
# of a micro-batch of B = `micro_batch_size` samples. Leave them as they are. Solve the two equations, reading ≈ as =, and
# return $\operatorname{tr}\Sigma / |G|^2$ as a number. (Both solutions are *unbiased*: right on average over many windows. In a
# single one $|G|^2$ may even come out negative; return what the equations say.)
#
# What earns points:
#
# - **2 points · the simple noise scale, from the two unbiased estimates**: for five windows, to six digits,
#   even where the components of their gradients are as small as 1e-30. The vectors are in float64.


# %% exercise="gradient_noise_scale"
def gradient_noise_scale(micro_gradients, micro_batch_size):
    """The simple noise scale, in samples, from the micro-batch gradients of one window."""
    ### BEGIN SOLUTION
    gradients = torch.stack(list(micro_gradients))
    small, large = micro_batch_size, micro_batch_size * len(gradients)
    length_small = gradients.square().sum(dim=1).mean()
    length_large = gradients.mean(dim=0).square().sum()
    noise = (length_small - length_large) / (1 / small - 1 / large)
    signal = (large * length_large - small * length_small) / (large - small)
    return (noise / signal).item()
    ### END SOLUTION


# %% check="gradient_noise_scale"
check(gradient_noise_scale)

# %% [markdown]
# <details><summary>Hint 1: the noise</summary>
#
# Subtract the second equation from the first: $|G|^2$ is gone. What is left is a number times $\operatorname{tr}\Sigma$.
# </details>
#
# <details><summary>Hint 2: the gradient</summary>
#
# Do not mistake $L$ for $|G|^2$: it still holds noise. Multiply the first equation by $B$ and the second by $BN$, and subtract.
# </details>

# %% [markdown]
# A single window says little. Average $\operatorname{tr}\Sigma$ and $|G|^2$ over many windows before you divide: each of the
# two is unbiased, their quotient is not.

# %%
single, together, true = noise_scales(windows=200, accumulation_steps=8, micro_batch_size=4)
print(f"noise scale of the 256 samples: {true:.2f}")
print("from single windows:", ", ".join(f"{value:.1f}" for value in single[:8]), "…")
print(f"from 200 windows, both estimates averaged before dividing: {together:.2f}")

# %% [markdown]
# ## One for the road
#
# Not graded.
# %%
predict(
    "Llama 2 with 7 billion parameters was trained with AdamW, a rate of 3e-4 and batches of 4 million tokens. Your budget "
    "allows batches of 1 million tokens. Which rate do you try first?",
    choices=("3e-4: AdamW adapts the rate itself", "1.5e-4", "7.5e-5", "6e-4"),
    answer="1.5e-4",
    because="The batch shrinks by a factor of 4, so the square root rule divides the rate by 2. That is a first guess; try "
    "7.5e-5 and 3e-4 in short runs as well. If you keep 4 million tokens and accumulate four times as long instead, the rate "
    "stays 3e-4.",
)

# %% [markdown]
# ## What to remember
#
# - Effective batch = **B × N × W**. If it stays the same, **the rate stays the same**, however it is cut.
# - If it changes, retune. **Linear for SGD and the square root for Adam are good first guesses within limits**, never on top
#   of a missing 1/N.
# - **Schedules count updates.** One step after each, warmup included.
# - The variance of a gradient goes as **1 / effective batch** for independent samples.
# - The **noise scale** says how large a batch is worth having, and windows let you estimate it for free.
#
# <details><summary>References</summary>
#
# - Goyal et al. 2017, [Accurate, Large Minibatch SGD: Training ImageNet in 1 Hour](https://arxiv.org/abs/1706.02677): batches
#   of 8,192 in place of 256, with the rate 3.2 in place of 0.1
# - McCandlish et al. 2018, [An Empirical Model of Large-Batch Training](https://arxiv.org/abs/1812.06162)
# - Malladi et al. 2022, [On the SDEs and Scaling Rules for Adaptive Gradient Algorithms](https://arxiv.org/abs/2205.10287),
#   on the square root for Adam. Strictly, Adam's β's have to change as well
# - Touvron et al. 2023, [Llama 2](https://arxiv.org/abs/2307.09288)
# - Reports on schedules: [transformers issue 18436](https://github.com/huggingface/transformers/issues/18436), [accelerate
#   issue 963](https://github.com/huggingface/accelerate/issues/963)
# - [The claims ledger](../docs/claims.md): rows 12 to 15 and 26
# </details>
#
# Next: **[06 · Mixed precision and clipping](06_mixed_precision_and_clipping.ipynb)**
