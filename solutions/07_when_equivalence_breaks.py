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
# # 07 · When equivalence breaks
#
# **Is it really the same as a large batch?**
#
# In March 2018 [Wu and He](https://arxiv.org/abs/1803.08494) trained a ResNet-50 on ImageNet with only **two images per
# GPU**. Object detectors often train like that, because large images fill the memory. With BatchNorm the error was **10.6
# percentage points higher** than with GroupNorm; with ordinary batches the two do about equally well.
#
# Accumulating small micro-batches does the same to BatchNorm, however large the effective batch is. Even a loop with a
# flawless fingerprint does not train like the large batch if the model or the loss looks at *several samples at once*.
#
# *About 45 minutes, 10 points. You need unit [04 · Training loop](04_training_loop.ipynb).*

# %% [markdown]
# ## Predict
#
# In training mode, **BatchNorm** takes the mean and the variance of each channel over the batch it is given, and normalizes
# with them. It also keeps running statistics, for evaluation mode.

# %%
from gradaccum.phenomena import batchnorm_divergence
from gradaccum.predict import predict

divergence = batchnorm_divergence.compute(batchnorm_divergence.PRESETS["Break"])

predict(
    "A model has a BatchNorm. You cut 32 samples into N = 16 micro-batches of 2 and divide the loss by N. "
    "How does the accumulated gradient compare with that of the 32 samples as one batch?",
    choices=(
        "it is the same, up to rounding",
        "it points the same way, but its length differs",
        "it points another way",
        "it is the same in the first window, but not in later ones",
    ),
    answer="it points another way",
    because=f"It is {divergence.differences[16]:.0%} off (cosine {divergence.cosines[16]:.2f}): each sample is normalized with "
    "the mean and variance of its micro-batch, here of 2 samples, and not with those of all 32.",
)

# %%
import copy

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parameters_to_vector

from autograder.check import check
from gradaccum.components import COMPONENTS
from gradaccum.explore import explore

# %% [markdown]
# ## Explore: BatchNorm divergence
#
# On the left is how far the accumulated gradient is from the large batch's: at 100% the error is as long as the gradient
# itself. On the right is how far the **running mean** has come, after each window, on its way to the data's true mean.
#
# 1. Go from N = 16 down to N = 2. Is the gradient right for any of them?
# 2. In training mode the running mean moves at every forward pass, so N times per window. Tick **Momentum corrected for N**,
#    which slows it down. Which side of the picture does that repair?
# 3. Choose **GroupNorm**, then **LayerNorm**. Does N matter?

# %%
explore("batchnorm_divergence")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. No. The smaller the micro-batches, the larger the error; with 2 samples it is longer than the gradient.
# 2. It repairs the running mean, but not the gradient: in training mode nothing is normalized with running statistics.
# 3. No. The gradients agree up to rounding.
# </details>

# %% [markdown]
# ## Why: does a sample see the others?
#
# A batch's gradient is the mean of its samples' gradients as long as model and loss treat each **on its own**. So ask of
# a layer: does the output for one sample change when the others do?

# %%
torch.manual_seed(0)
sample, some, others = torch.randn(1, 8), torch.randn(3, 8), torch.randn(3, 8)
batchnorms = nn.BatchNorm1d(8), nn.BatchNorm1d(8).eval()
for layer in (*batchnorms, nn.GroupNorm(2, 8), nn.LayerNorm(8), nn.RMSNorm(8)):
    first = layer(torch.cat([sample, some]))[0]
    second = layer(torch.cat([sample, others]))[0]
    mode = "training" if layer.training else "evaluation"
    change = (first - second).abs().max()
    print(f"{type(layer).__name__:12} {mode:10}: changes by {change:.1e}")

# %% [markdown]
# It changes only with BatchNorm in training mode. In evaluation mode BatchNorm uses its running statistics, not the batch's.
# GroupNorm takes the mean and the variance over a group of channels *of one sample*, and LayerNorm over all its channels.
# RMSNorm, as in Llama 2, stays within one token, so most language models have nothing to fear here.

# %% [markdown]
# ## SyncBatchNorm does not help
#
# Some advise "use sync BN across micro-batches". But `SyncBatchNorm` pools statistics across **ranks** (copies of the
# model on several devices, unit 10) in one forward pass, and with a single rank it is an ordinary BatchNorm. When the
# first micro-batch is normalized, the second is yet to come.

# %%
window = batchnorm_divergence.window(0)
model = batchnorm_divergence.build("BatchNorm")
synced = nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(model))
large = batchnorm_divergence.gradient(model, window, accumulation_steps=1)
for name, tried in {"BatchNorm": model, "SyncBatchNorm": synced}.items():
    accumulated = batchnorm_divergence.gradient(tried, window, accumulation_steps=16)
    error = (accumulated - large).norm() / large.norm()
    print(f"{name:14}: {error:.0%} off the large batch's gradient (one window)")

# %% [markdown]
# The error is the same to the last digit. What does help is larger micro-batches, or a layer that treats each sample on its
# own, such as a pretrained BatchNorm that stays in evaluation mode.

# %% [markdown]
# ## Exercise 1 · `replace_batchnorm`
#
# *Difficulty ●●● · about 12 minutes · 4 points*
#
# Write `replace_batchnorm(model, num_groups)`. It returns a model in which every `nn.BatchNorm1d` and `nn.BatchNorm2d`, at
# **any depth**, has become an `nn.GroupNorm(num_groups, channels)`. Everything else stays as it was, including related
# layers such as `nn.BatchNorm3d` or `nn.InstanceNorm2d`; a frozen parameter of another layer stays frozen, and a shared one
# stays shared.
#
# - Each GroupNorm keeps the affine `weight` and `bias` of its BatchNorm, in their dtype and on their device. A BatchNorm
#   without them (`affine=False`) becomes a GroupNorm without them.
# - The given model stays untouched, and the result shares no parameter, `.grad` or buffer with it, even if there was no
#   BatchNorm to replace. All parts of the given model are in one mode (`model.training`); leave both models in it. A
#   GroupNorm works the same in either mode, so its own mode does not count.
#
# What earns points:
#
# - **1 point · every BatchNorm replaced and nothing else changed**: the layers at each path, and all other weights.
# - **1 point · weights and biases kept**: even in models that mix float32 and float64, and where a layer has none.
# - **1 point · the given model left as it was**: layers, values, `.grad`, mode, and no shared memory.
# - **1 point · gradients that add up to the large batch's**: those of the result, over four micro-batches of three.
#
# The model itself is never a BatchNorm, none of its BatchNorms is in two places, `num_groups` divides every number of channels,
# and every BatchNorm has the default `eps`, which is GroupNorm's, too.


# %% exercise="replace_batchnorm"
def replace_batchnorm(model, num_groups):
    """A copy of the model with GroupNorm in place of BatchNorm1d and BatchNorm2d."""
    ### BEGIN SOLUTION
    result = copy.deepcopy(model)
    for path, old in list(result.named_modules()):
        if isinstance(old, nn.BatchNorm1d | nn.BatchNorm2d):
            new = nn.GroupNorm(num_groups, old.num_features, eps=old.eps, affine=old.affine)
            new.weight, new.bias = old.weight, old.bias  # the copy's own, None without affine
            parent, _, name = path.rpartition(".")
            setattr(result.get_submodule(parent), name, new)
    return result
    ### END SOLUTION


# %% check="replace_batchnorm"
check(replace_batchnorm)

# %% [markdown]
# <details><summary>Hint 1: where to begin</summary>
#
# `copy.deepcopy(model)` gives you a model that you may change. The `num_features` of a BatchNorm is its number of channels.
# </details>
#
# <details><summary>Hint 2: any depth</summary>
#
# `module.named_children()` gives a module's own children with their names, and `setattr(module, name, new)` replaces one of
# them. If a child is not a BatchNorm, do the same with *its* children: a function may call itself. Call it on the copy. (Or
# go through `model.named_modules()`: `model.get_submodule(path)` understands its paths; `setattr` does not.)
# </details>
#
# <details><summary>Hint 3: weights</summary>
#
# You may hand on a parameter of the *copy* as it is, or copy its values under `torch.no_grad()` with `copy_`. Mind models in
# float64, and layers with `affine=False`, whose `weight` and `bias` are `None`.
# </details>

# %% [markdown]
# ## If you must keep BatchNorm
#
# Then you can at least slow down its running statistics. At every forward pass in training mode,
#
# $$\text{running} \leftarrow (1-m)\cdot\text{running} + m\cdot\text{batch}$$
#
# where $m$ is BatchNorm's momentum (0.1 by default; it has nothing to do with the optimizer's).

# %% [markdown]
# ## Exercise 2 · `matched_bn_momentum`
#
# *Difficulty ●●○ · about 3 minutes · 1.5 points*
#
# Write `matched_bn_momentum(momentum, accumulation_steps)`. It returns the momentum with which N passes leave as much of the
# old running value as **one** pass with `momentum` does.
#
# What earns points:
#
# - **1.5 points · the momentum for any N**: several momenta between 0 and 1, and several N, including 1, to five digits or
#   decimals; float32 is enough.


# %% exercise="matched_bn_momentum"
def matched_bn_momentum(momentum, accumulation_steps):
    """The momentum whose N passes forget as much as one pass with the given one."""
    ### BEGIN SOLUTION
    return 1 - (1 - momentum) ** (1 / accumulation_steps)
    ### END SOLUTION


# %% check="matched_bn_momentum"
check(matched_bn_momentum)

# %% [markdown]
# <details><summary>Hint</summary>
#
# After one pass, $1-m$ of the old value is left. After N passes with another momentum $m'$, $(1-m')^N$ is left. Make the two
# equal and solve for $m'$.
# </details>

# %% [markdown]
# ## And the running variance?
#
# A window's mean is the mean of its micro-batches' means. Its variance is *not* the mean of their variances: the spread
# between the micro-batches is missing. With shuffled samples, torch's unbiased estimate makes up for that on average, because
# it divides by one sample fewer: with two samples, its value is twice the plain variance. It does not if similar samples stay
# together, like the frames of a video. Here the true variance is 4, and the momentum is matched to N:


# %%
def running_variance(n, together):
    generator = torch.Generator().manual_seed(0)
    norm = nn.BatchNorm1d(1, momentum={1: 0.05, 16: 0.0032}[n])
    for _ in range(100):
        window = 2 * torch.randn(32, 1, generator=generator)
        window = window.sort(dim=0).values if together else window
        for micro_batch in window.chunk(n):
            norm(micro_batch)
    return norm.running_var.item()


for together, name in enumerate(("shuffled samples", "similar samples together")):
    one, many = running_variance(1, together), running_variance(16, together)
    print(f"{name:24}  N = 1: {one:.2f}   N = 16: {many:.2f}")

# %% [markdown]
# ## The optimizer is innocent
#
# "Momentum and optimizer state behave differently under accumulation." Do they? Here are fifty windows under AdamW, in
# float64: as one large batch each, as four micro-batches with one update, and with an update after each.


# %%
def fifty_windows(n, update_each):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2)).double()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(50):
        x, y = torch.randn(16, 6).double(), torch.randn(16, 2).double()
        for k, (a, b) in enumerate(zip(x.chunk(n), y.chunk(n), strict=True), 1):
            (F.mse_loss(model(a), b) / n).backward()
            if update_each or k == n:
                optimizer.step()
                optimizer.zero_grad()
    return parameters_to_vector(model.parameters()).detach()


large = fifty_windows(1, update_each=False)
for name, each in {"accumulation": False, "an update per micro-batch": True}.items():
    off = (fifty_windows(4, each) - large).norm() / large.norm()
    print(f"{name}: ends {off:.0e} away from the large batch")

# %% [markdown]
# The optimizer sees one gradient per window, the large batch's, so its state is the large batch's too. The claim is true
# only of a *different* run, one that updates after every micro-batch. There weight decay also acts N times per window,
# because it shrinks the weights at each **update**.
#
# <details><summary>Are a window's older gradients stale?</summary>
#
# Some call them *stale*, or "temporally coupled". They are not: as unit 03 showed, all gradients of a window are taken at the
# same parameters.
# </details>

# %% [markdown]
# ## Explore: momentum effects
#
# How long does SGD with momentum β remember? A run with large batches (green) is compared with another over the same
# samples: on the left are their losses; on the right is how much of a gradient is still in later updates.
#
# 1. It opens with an update per micro-batch. After how many samples has a gradient's weight halved, in each run?
# 2. Set **Count** to updates. What happens to the difference on the right?
# 3. Press **Fix**, then try every β. Does any of them tell accumulation and the large batch apart?

# %%
explore("momentum_effects")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. After seven updates in each run. But these are 28 samples in one and 112 in the other: the large batch remembers four
#    times as many.
# 2. It is gone: per update, both forget at the same pace.
# 3. No.
# </details>

# %% [markdown]
# ## Exercise 3 · `matched_beta`
#
# *Difficulty ●○○ · about 2 minutes · 1.5 points*
#
# A recipe updates after every micro-batch, with the coefficient β. You now accumulate N of them, so N updates become one.
# Whatever was in the momentum buffer before those N updates was multiplied by β at each of them. Write
# `matched_beta(beta, accumulation_steps)`. It returns the coefficient with which your **one** update leaves as much of it as
# the recipe's **N** did. Counted in samples, the memory is then unchanged.
#
# What earns points:
#
# - **1.5 points · the coefficient for any N**: several β between 0 and 1, and several N, including 1, to five digits or
#   decimals; float32 is enough.


# %% exercise="matched_beta"
def matched_beta(beta, accumulation_steps):
    """The momentum that forgets in one update what beta forgets in N updates."""
    ### BEGIN SOLUTION
    return beta**accumulation_steps
    ### END SOLUTION


# %% check="matched_beta"
check(matched_beta)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Each update multiplies what is there by β. What do N of them do? Try β = 0.9 and N = 2 on paper.
# </details>

# %% [markdown]
# ## Stretch: what else does β change?
#
# In torch's SGD a gradient moves the weights by lr at first, then by lr·β, lr·β² and so on: by **lr / (1 − β)** in all. So
# matching β also changes how far a run gets. (Not graded.)

# %%
predict(
    "A recipe has lr = 0.01 and β = 0.9. You accumulate N = 4, average, and use β⁴. "
    "Which lr moves the weights as far per sample, under a constant gradient?",
    choices=("0.01, unchanged", "about 0.029", "0.04, N times as large", "about 0.138"),
    answer="about 0.138",
    because=f"lr · N · (1 − β⁴) / (1 − β) = {0.01 * 4 * (1 - 0.9**4) / (1 - 0.9):.4f}: yours makes one update where the "
    "recipe makes four, and in all a gradient moves the weights by lr / (1 − β⁴), not by lr / (1 − β).",
)

# %% [markdown]
# ## Explore: who hides the mistake
#
# In unit 04 AdamW hid a missing 1/N. Which others do? Each line shows, for one optimizer and on a logarithmic axis, how
# far the mistake takes the run from the large batch's. In the grey area no plot can tell the two apart.
#
# 1. Which two hide a missing 1/N?
# 2. With a single update, clipping hides the mistake. Why not after ten?

# %%
explore("who_hides")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. RMSprop and AdamW: they divide the gradient by its own running size, so a constant factor cancels, except for ε in the
#    denominator. (Adam with `weight_decay` adds the decay to the gradient, and then the factor does not cancel.)
# 2. Near the goal the right gradient is shorter than the threshold and stays as it is. The one without 1/N is longer, so its
#    update is too long.
# </details>

# %% [markdown]
# ## Exact, or not?
#
# Some texts call it a myth that accumulation replicates a large batch exactly; others claim it without conditions. It is
# exact, up to rounding, under the five conditions of unit 03 (so **no BatchNorm in training mode** and **no contrastive
# loss**, which compares samples with each other: unit 09), and if **clipping, decay and the update happen once per window**.

# %% [markdown]
# ## Exercise 4 · `breaks_equivalence`
#
# *Difficulty ●●○ · about 6 minutes · 3 points*
#
# Below are twelve components of a training run. With each, a small model is trained for three windows in float64: once with
# batches of 12, and once with four micro-batches of three, whose losses are divided by four.

# %%
for key, component in COMPONENTS.items():
    print(f"{key:21}{component.about}")

# %% [markdown]
# Write `breaks_equivalence()`. It returns a dictionary with these twelve names as keys, and for each `True` if the ends of the
# two runs differ by more than rounding, `False` if they end in the same place. The check does not look the answer up: it runs
# the experiment. You may run experiments of your own. Leave `COMPONENTS` as it is.
#
# What earns points, each for getting all of its names right:
#
# - **1 point · the five layers**: `linear` to `groupnorm`.
# - **1 point · the four kinds of update**: `momentum` to `step-per-micro-batch`.
# - **1 point · the two ways to clip and the loss**: `clip-per-window` to `contrastive-loss`.


# %% exercise="breaks_equivalence"
def breaks_equivalence():
    """For each component, whether accumulation departs from one large batch."""
    ### BEGIN SOLUTION
    culprits = {"batchnorm-training", "step-per-micro-batch", "clip-per-micro-batch", "contrastive-loss"}
    return {name: name in culprits for name in COMPONENTS}
    ### END SOLUTION


# %% check="breaks_equivalence"
check(breaks_equivalence)

# %% [markdown]
# <details><summary>Hint 1: layers and losses</summary>
#
# Does the result for one sample change when the others in the batch change?
# </details>
#
# <details><summary>Hint 2: updates and clipping</summary>
#
# What does it get to see: the whole window's gradient, once, or something on the way to it?
# </details>

# %% [markdown]
# ## What to remember
#
# - Accumulation equals the large batch **if model and loss treat every sample on its own** and the rest happens once per
#   window.
# - **BatchNorm in training mode breaks it**: the gradient is a different one, and running statistics move N times. The momentum
#   $1-(1-m)^{1/N}$ repairs the running mean, **not the gradient**. GroupNorm, LayerNorm and RMSNorm are exact.
# - SyncBatchNorm pools statistics across ranks, **not across micro-batches over time**.
# - **Optimizer state and weight decay are those of the large batch.** Compared with an update per micro-batch, momentum
#   remembers N times as many samples; $\beta^N$ makes up for that, but changes how far a gradient moves the weights in all.
# - **Adam, RMSprop and clipping can hide a wrong scale.** Check gradients, not curves.
#
# <details><summary>References</summary>
#
# - Wu and He 2018, [Group Normalization](https://arxiv.org/abs/1803.08494)
# - Ioffe and Szegedy 2015, [Batch Normalization](https://arxiv.org/abs/1502.03167)
# - torch on [BatchNorm](https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html) and
#   [SyncBatchNorm](https://docs.pytorch.org/docs/stable/generated/torch.nn.SyncBatchNorm.html)
# - The claims of this unit are rows 4, 16 and 20 to 25 of [the claims ledger](../docs/claims.md).
# </details>
#
# Next: **[08 · Unequal micro-batches](08_unequal_micro_batches.ipynb)**
