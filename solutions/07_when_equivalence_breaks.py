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
# Your loop divides by the right number, updates once per window, and its fingerprint is flawless. Still it may not train like
# the large batch, because something in the model or in the loss looks at *several samples at once*. Other things that are
# often blamed, the optimizer's state above all, are innocent. In this unit you find out which is which.
#
# *About 40 minutes, 10 points. You need unit [04 · Training loop](04_training_loop.ipynb).*

# %%
import copy

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parameters_to_vector

from autograder.check import check
from gradaccum.components import COMPONENTS
from gradaccum.explore import explore
from gradaccum.phenomena import batchnorm_divergence, who_hides
from gradaccum.predict import predict

# %% [markdown]
# ## Predict
#
# **BatchNorm** in training mode takes the mean and the variance of each channel over the batch it is given, and normalizes
# with them. For later, in evaluation mode, it also keeps running statistics.

# %%
predict(
    "A model with BatchNorm, 32 samples, cut into N = 16 micro-batches of 2. The loss is divided by N. "
    "How does the accumulated gradient compare with that of the 32 samples as one batch?",
    choices=(
        "it is the same, up to rounding",
        "it points the same way, but its length differs",
        "it points another way",
        "the first one is right, later ones are not",
    ),
    answer="it points another way",
    because=lambda: batchnorm_divergence.describe(batchnorm_divergence.compute(batchnorm_divergence.PRESETS["Break"])),
)

# %% [markdown]
# ## Explore: BatchNorm divergence
#
# On the left the accumulated gradient against the large batch's: 1 is the same direction, 0 has nothing to do with it. On the
# right the **running mean**, window by window: how much of the way from zero to the data's true mean it has gone.
#
# 1. Go from N = 16 down to N = 2. Where does the gradient begin to suffer? How many samples does a micro-batch have there?
# 2. Why is the running mean so far ahead of the large batch's?
# 3. Tick **Momentum corrected for N**. Which side of the picture does it repair, and which not?
# 4. Choose **GroupNorm**, then **LayerNorm**. Does N matter?

# %%
explore("batchnorm_divergence")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. It is never the same, not even at N = 2, and gets worse as micro-batches get smaller. With 2 samples the error is longer
#    than the gradient itself.
# 2. It is updated at every forward pass in training mode, N times per window.
# 3. The running mean. The gradient is what it was: running statistics take no part in training mode.
# 4. No: the gradients agree to rounding, for every N.
# </details>

# %% [markdown]
# ## Why: does a sample see the others?
#
# Accumulation rests on one thing: the gradient of a batch is the mean of its samples' gradients. This holds as long as each
# sample goes through the model **by itself**. So ask a layer: does the output for one sample change when the others change?

# %%
torch.manual_seed(0)
sample, some, others = torch.randn(1, 8), torch.randn(3, 8), torch.randn(3, 8)
for layer in (nn.BatchNorm1d(8), nn.BatchNorm1d(8).eval(), nn.GroupNorm(2, 8), nn.LayerNorm(8)):
    first = layer(torch.cat([sample, some]))[0]
    second = layer(torch.cat([sample, others]))[0]
    mode = "training" if layer.training else "evaluation"
    print(f"{type(layer).__name__:12} {mode:10}: changes by {(first - second).abs().max():.1e}")

# %% [markdown]
# BatchNorm in training mode does, and nothing else here. In evaluation mode it uses its running statistics and looks at nobody.
# GroupNorm takes mean and variance over a group of channels *of one sample*, LayerNorm over all of them.

# %% [markdown]
# ## A cure that is none: SyncBatchNorm
#
# You can read "use sync BN across micro-batches". `SyncBatchNorm` joins the **ranks** of one forward pass, the devices that
# share a batch (unit 10), by sending statistics between them at one moment; with a single rank it is a BatchNorm.
# Micro-batches come one after the other: when the first is normalized, the second has not been seen. Try it:

# %%
window = batchnorm_divergence.window(0)
model = batchnorm_divergence.build("BatchNorm")
synced = nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(model))
large = batchnorm_divergence.gradient(model, window, accumulation_steps=1)
for name, tried in {"BatchNorm": model, "SyncBatchNorm": synced}.items():
    accumulated = batchnorm_divergence.gradient(tried, window, accumulation_steps=16)
    print(f"{name:14}: {(accumulated - large).norm() / large.norm():.0%} off the large batch's gradient, in this one window")

# %% [markdown]
# The same error to the last digit. What does help: larger micro-batches, or a layer that treats samples one by one.

# %% [markdown]
# ## Exercise 1 · `replace_batchnorm`
#
# *Difficulty ●●● · about 12 minutes · 4 points*
#
# Write `replace_batchnorm(model, num_groups)`. It returns a model in which every `nn.BatchNorm1d` and `nn.BatchNorm2d`, at
# **any depth**, is an `nn.GroupNorm(num_groups, channels)` instead, and everything else is as it was, related layers such as
# `nn.BatchNorm3d` or `nn.InstanceNorm2d` included.
#
# - The affine `weight` and `bias` of each BatchNorm are kept, in their dtype and on their device. A BatchNorm made with
#   `affine=False` becomes a GroupNorm with `affine=False`.
# - The given model stays untouched, and the result shares no parameter or buffer with it. Both, and all their parts, are in the
#   mode the given model was in (`model.training`).
#
# What earns points:
#
# - **1 point · every BatchNorm replaced and nothing else changed**: the layers at each path, and all other weights.
# - **1 point · weights and biases kept**: also in a float64 model with a layer that has none.
# - **1 point · the given model left as it was**: layers, values, mode, and no shared memory.
# - **1 point · gradients that add up to the large batch's**: of the result, over four micro-batches of three.
#
# The model itself is never a BatchNorm, `num_groups` divides all channels, and `eps` is the same default in both layers.


# %% exercise="replace_batchnorm"
def replace_batchnorm(model, num_groups):
    """A copy of the model with every BatchNorm1d and BatchNorm2d replaced by a GroupNorm of num_groups groups."""
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
# `copy.deepcopy(model)` gives you a model you may change. In a BatchNorm, `num_features` is the number of channels.
# </details>
#
# <details><summary>Hint 2: any depth</summary>
#
# `model.named_children()` gives a module's own children with their names, and `setattr(module, name, new)` replaces one. For
# a child that is no BatchNorm, do the same with *its* children: with a function that changes a module in place and is called
# on the copy. (Or go through `model.named_modules()`, whose paths `model.get_submodule(path)` understands and `setattr` not.)
# </details>
#
# <details><summary>Hint 3: weights</summary>
#
# A parameter of the *copy* may be handed on as it is, or its values copied with `torch.no_grad()` and `copy_`. Mind
# `affine=False`, where `weight` and `bias` are `None`, and a model in float64.
# </details>

# %% [markdown]
# ## If you must keep BatchNorm
#
# Then at least its running statistics can be mended. At every forward pass in training mode
#
# $$\text{running} \leftarrow (1-m)\cdot\text{running} + m\cdot\text{batch}$$
#
# with the momentum $m$ of BatchNorm (0.1 unless you say otherwise; it has nothing to do with the optimizer's). Per window this
# happens N times where the large batch does it once.

# %% [markdown]
# ## Exercise 2 · `matched_bn_momentum`
#
# *Difficulty ●●○ · about 5 minutes · 1.5 points*
#
# Write `matched_bn_momentum(momentum, accumulation_steps)`: the momentum with which N passes leave as much of the old running
# value as **one** pass with `momentum` does.
#
# What earns points:
#
# - **1.5 points · the momentum for any N**: several momenta between 0 and 1, N = 1 among them, to five digits.


# %% exercise="matched_bn_momentum"
def matched_bn_momentum(momentum, accumulation_steps):
    """The BatchNorm momentum whose N passes forget as much as one pass with the given momentum."""
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
# ## The optimizer is innocent
#
# "Momentum and optimizer state behave differently under accumulation." Do they? Fifty windows under AdamW, in float64: each as
# one large batch, as four micro-batches and one update, and as four micro-batches with an update after each.


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
    print(f"{name}: {(fifty_windows(4, each) - large).norm() / large.norm():.0e} away from the large batch's end")

# %% [markdown]
# An optimizer sees one gradient per window. It is the large batch's gradient, so its state is the large batch's state. The
# claim holds only against *another* training, the one that updates after every micro-batch. There, memory is a matter of what
# you count.

# %% [markdown]
# ## Explore: momentum effects
#
# SGD with momentum β. On the left the loss of two runs over the same samples, on the right how much of a gradient is still in
# the updates that come after it.
#
# 1. It opens with an update per micro-batch. After how many samples has a gradient's weight halved, in either run?
# 2. Now **Count** updates. What has become of the difference on the right? And on the left?
# 3. Press **Fix**, then try every β. Is there one that tells accumulation and large batch apart?
# 4. Press **Break otherwise**: the 1/N is missing. Do the two memories differ? What else does?

# %%
explore("momentum_effects")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. The large batch remembers four times as many samples.
# 2. Per update both forget alike. On the left one run makes four times as many updates.
# 3. No.
# 4. The memories are the same. The updates are four times as long, and with momentum they swing past the goal and back.
# </details>

# %% [markdown]
# ## Nothing is stale
#
# You may also read that the older gradients of a window are *stale*, or coupled in time. Between two updates no parameter
# moves, so there is nothing to be stale against. If the order of time mattered, reversing it would show:

# %%
model = batchnorm_divergence.build("LayerNorm")
x, y = batchnorm_divergence.window(0)
forwards = batchnorm_divergence.gradient(model, (x, y), accumulation_steps=8)
backwards = batchnorm_divergence.gradient(model, (x.flip(0), y.flip(0)), accumulation_steps=8)
print(f"first to last against last to first: {(forwards - backwards).norm() / forwards.norm():.0e}")

# %% [markdown]
# ## Exercise 3 · `matched_beta`
#
# *Difficulty ●●○ · about 4 minutes · 1.5 points*
#
# A recipe updates after every micro-batch, with momentum β. You now accumulate N of them, so N updates become one. What was in
# the momentum before those N updates was multiplied by β at each of them. Write `matched_beta(beta, accumulation_steps)`: the
# momentum with which your **one** update leaves as much of it as the recipe's **N** did. Counted in samples, the memory is
# then unchanged.
#
# What earns points:
#
# - **1.5 points · the coefficient for any N**: several β between 0 and 1, N = 1 among them, to five digits.


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
# ## Weight decay
#
# Weight decay shrinks the weights at each **update**. Once per window that is once, as with the large batch. Here gradients
# are zero, so that only the decay is left:

# %%
for updates in (1, 4):
    w = torch.ones(1, requires_grad=True)
    optimizer = torch.optim.AdamW([w], lr=0.1, weight_decay=0.1)
    for _ in range(updates):
        w.grad = torch.zeros(1)
        optimizer.step()
    print(f"{updates} update(s) per window of 4 micro-batches: a weight of 1 becomes {w.item():.4f}")

# %% [markdown]
# ## Predict again
#
# In unit 04 you saw AdamW hide a missing 1/N. How general is that?

# %%
predict(
    "You forget the 1/N. Which optimizers end, after ten updates, where they should, so that no loss curve tells you?",
    choices=("none of them", "AdamW only", "AdamW and RMSprop", "AdamW, RMSprop and SGD with momentum"),
    answer="AdamW and RMSprop",
    because=lambda: who_hides.describe(who_hides.compute(who_hides.PRESETS["Break"])),
)

# %% [markdown]
# ## Explore: who hides the mistake
#
# Each line is one optimizer, trained twice: with the mistake and as one large batch. The axis is logarithmic: in the grey
# area the runs cannot be told apart in a plot.
#
# 1. Which two do not show a missing 1/N? And a division that is made twice?
# 2. Clipping hides it at the first update. Why no longer at the tenth?
# 3. Press **Fix**. What is left?

# %%
explore("who_hides")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. RMSprop and AdamW, both times: they divide the gradient by a running size of itself, so a constant factor cancels.
# 2. Clipping cuts every long gradient to the same length. Near the goal gradients are short, and nothing is cut any more.
# 3. Rounding errors, about 1e-16.
#
# Hidden is not harmless: change the optimizer, and the mistake is there.
# </details>

# %% [markdown]
# ## Exact, or not?
#
# Some texts call it a myth that accumulation replicates a large batch exactly; others claim it without conditions. Both are
# too short. It is exact, up to rounding, if
#
# - each sample goes through the model by itself: **no BatchNorm in training mode**;
# - the loss is a mean over samples: **no comparison between the samples of a batch**, as contrastive losses make;
# - random layers such as dropout draw the same numbers;
# - what happens to the gradient or the weights, **clipping, decay, the update, happens once per window**.

# %% [markdown]
# ## Exercise 4 · `breaks_equivalence`
#
# *Difficulty ●●○ · about 6 minutes · 3 points*
#
# Below are twelve components of a training run. For each, a small model is trained for three updates in float64, as one batch
# of 12 and as four micro-batches of three whose losses are divided by four.

# %%
for key, component in COMPONENTS.items():
    print(f"{key:22} {component.about}")

# %% [markdown]
# Write `breaks_equivalence()`: a dictionary with these twelve names as keys, and for each `True` if the two runs end apart by
# more than rounding, `False` if they end at the same place. The key is not written down anywhere: the check runs the
# experiment. You may make experiments of your own.
#
# What earns points, each for getting all of its names right:
#
# - **1 point · the five layers**: `linear` to `groupnorm`.
# - **1 point · the four kinds of update**: `momentum` to `step-per-micro-batch`.
# - **1 point · the two ways to clip and the loss**: `clip-per-window` to `contrastive-loss`.


# %% exercise="breaks_equivalence"
def breaks_equivalence():
    """For each component, whether accumulation with it departs from one large batch by more than rounding."""
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
# - Accumulation equals the large batch **if every sample goes its own way** and everything else happens once per window.
# - **BatchNorm in training mode breaks it**: another gradient, and running statistics that move N times. The momentum
#   $1-(1-m)^{1/N}$ repairs the running mean, **not the gradient**. GroupNorm and LayerNorm are exact.
# - SyncBatchNorm joins ranks, **not micro-batches over time**.
# - **Optimizer state and weight decay are the same**, and no gradient of a window is stale. Against an update per micro-batch,
#   the memory in samples is N times as long; $\beta^N$ makes up for it.
# - **Adam, RMSprop and clipping hide a wrong scale.** Check gradients, not curves.
#
# Next: **[08 · Unequal micro-batches](08_unequal_micro_batches.ipynb)**
