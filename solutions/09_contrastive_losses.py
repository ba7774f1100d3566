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
# # 09 · Contrastive losses
#
# **What if the loss does not decompose?**
#
# All you have accumulated so far were losses of single samples, averaged. A **contrastive loss** is of another kind: it asks
# each image to find its own text among *all texts of the batch*. Here a larger batch is not only less noisy, it is a harder
# question, and that is why people want it large. In this unit you accumulate such a loss exactly, and find a mistake that sits
# in widely used code.
#
# *About 45 minutes, 10 points. You need unit [03 · Accumulate](03_accumulate.ipynb).*

# %%
import torch
from torch import nn
from torch.nn import functional as F

from autograder.check import check
from gradaccum.contrastive import ContrastiveProblem, gradients, info_nce
from gradaccum.explore import explore
from gradaccum.loops_contrastive import GALLERY, cached_features, one_large_batch
from gradaccum.phenomena import contrastive_negatives
from gradaccum.predict import predict

# %% [markdown]
# ## The loss
#
# Of n pairs, one encoder makes **image features** $u_1 \dots u_n$, another one **text features** $v_1 \dots v_n$, each divided
# by its length. The matrix of logits is $s_{ij} = e^{t}\, u_i \cdot v_j$, and $t$ is a parameter too, called `logit_scale`.
# ($e^{-t}$ is known as the **temperature**: the lower it is, the more a small difference counts.) Pairs stand on its diagonal.
# The loss (InfoNCE, as CLIP uses it) is a cross-entropy along the rows, in which each image looks for its text, and one along
# the columns, in which each text looks for its image:
#
# $$L = -\frac{1}{2n}\sum_{i=1}^{n}\Big[\log\frac{e^{s_{ii}}}{\sum_j e^{s_{ij}}} +
# \log\frac{e^{s_{ii}}}{\sum_j e^{s_{ji}}}\Big]$$
#
# The other texts, $j \neq i$, are the image's **negatives**. You have this loss as
# `info_nce(image_features, text_features, logit_scale)`; the division by lengths and the $e^t$ are in it:

# %%
problem = ContrastiveProblem(seed=1, sizes=(4,) * 8)
encode_image, encode_text, logit_scale = problem.build()
images, texts = problem.batches()[0]
image_features, text_features = encode_image(images), encode_text(texts)
print("images", tuple(images.shape), "-> features", tuple(image_features.shape))
print("loss of these 4 pairs:", info_nce(image_features, text_features, logit_scale).item())

# %% [markdown]
# ## Predict

# %%
predict(
    "32 pairs, cut into N = 8 micro-batches of 4. You take the loss of each micro-batch, divide by N and accumulate, "
    "as in unit 03. How does this gradient compare with that of the 32 pairs as one batch?",
    choices=(
        "it is the same, up to rounding",
        "it points the same way, but it is shorter",
        "it points another way",
        "it is the same for images, not for texts",
    ),
    answer="it points another way",
    because=lambda: contrastive_negatives.describe(contrastive_negatives.compute(contrastive_negatives.PRESETS["Break"])),
)

# %% [markdown]
# ## Explore: who is compared with whom
#
# On the left the similarities of 32 images and 32 texts; what is white takes no part in any comparison. In the middle the
# encoders' accumulated gradient against that of the large batch. On the right the bytes, and how often a sample goes through
# its encoder.
#
# 1. It opens on micro-batches that look at themselves only. How many negatives does an image see? Change N: when is the
#    gradient worst, and why?
# 2. The loss in the caption is *smaller* than the large batch's. Is that good news?
# 3. **Compare** "micro-batches so far": features of earlier micro-batches are kept. Who still sees too little?
# 4. Press **Fix**. What is the price, and what do you get for it?
# 5. Press **Break the temperature**. Which gradient is wrong now?

# %%
explore("contrastive_negatives")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. With N = 8 three negatives, with N = 16 a single one. The fewer, the less is left of the direction.
# 2. No. To pick the right one of 4 texts is easier than to pick it of 32. Losses of different n cannot be compared.
# 3. The first micro-batches: what comes later is not there yet.
# 4. A second forward pass and a few KiB of features. For that, the activations of one micro-batch are enough.
# 5. That of `logit_scale` alone, N times too large. You will find out why.
# </details>

# %% [markdown]
# ## Why: the other pairs are in the loss
#
# The mean of a batch's losses is only then a mean of *its samples'* losses if no sample's loss depends on the others. So keep
# one pair, change its neighbours, and look at what that one pair contributes:


# %%
def loss_of_first_pair(image_features, text_features):
    logits = F.normalize(image_features, dim=1) @ F.normalize(text_features, dim=1).T / 0.2  # the temperature
    return -logits.log_softmax(dim=1)[0, 0].item()


with torch.no_grad():
    for neighbours in (1, 2, 3):
        pairs = problem.batches()[0], problem.batches()[neighbours]
        together = [torch.cat([a[:1], b]) for a, b in zip(*pairs, strict=True)]
        print(f"among micro-batch {neighbours}: {loss_of_first_pair(encode_image(together[0]), encode_text(together[1])):.3f}")

# %% [markdown]
# It is never the same. And a micro-batch of a single pair has no negatives at all: its loss is 0, whatever the encoders do.
# (`gradients` runs a loop and returns what it leaves in `.grad`, of the two encoders and of `logit_scale`.)

# %%
one_by_one = gradients(GALLERY["local-negatives"], problem.with_(sizes=(1,) * 32))
print("micro-batches of one pair, each alone; largest gradient:", max(g.abs().max().item() for g in one_by_one))

# %% [markdown]
# ## The way out
#
# What the pairs have to know of each other are **features**: a few numbers for each, nothing beside the activations it took to
# compute them. And the chain rule goes through them. With $f_k$ the features of micro-batch k and $\theta$ the parameters of
# the encoders,
#
# $$\frac{\partial L}{\partial \theta} = \sum_{k=1}^{N} \frac{\partial L}{\partial f_k}\,\frac{\partial f_k}{\partial \theta}$$
#
# (`logit_scale` is no part of $\theta$: it stands in $L$ itself.) The first factor needs the features of *all* micro-batches,
# but no encoder's graph. The second one needs the graph of *one* micro-batch. So go through the window twice:
#
# 1. **without gradients**: encode everything, keep the features;
# 2. **with gradients**: encode one micro-batch again, and send backward through it what the loss of the *whole window* asks of
#    its features. Free its graph, take the next.
#
# Some descriptions have it the other way round, first with gradients and then without. That cannot work: for the first gradient
# you need all features already. The method is known as a *gradient cache* (Gao et al. 2021, arXiv 2101.06983).
#
# Autograd can do two things that you have not needed so far. A tensor without a graph can become a place where backward stops
# and leaves a gradient; and backward need not begin at a loss:

# %%
features = torch.tensor([[1.0, 2.0], [3.0, 4.0]])  # no graph, as if made under no_grad
features.requires_grad_()
(features**2).sum().backward()
print("in features.grad:", features.grad.tolist())

layer = nn.Linear(3, 2)
output = layer(torch.ones(2, 3))
output.backward(torch.tensor([[1.0, 0.0], [0.0, 10.0]]))  # one number for each of the output's, from wherever it comes
print("in layer.bias.grad:", layer.bias.grad.tolist())

# %% [markdown]
# ## Exercise 1 · `accumulate_contrastive`
#
# *Difficulty ●●● · about 18 minutes · 7 points*
#
# Write `accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches)`. It leaves in `.grad` the gradient of
# `info_nce` over **all pairs of all micro-batches**, as if they were one batch, and returns that loss.
#
# - `micro_batches` yields `(images, texts)`, equally many of both; it may be a generator, and you may keep all of its inputs.
# - `encode_image` and `encode_text` are modules that make `(n, width)` features; both may have frozen parameters (never all of
#   them) and parameters that are never used; `.grad` of those may stay `None`. `logit_scale` is a single parameter.
# - Whatever `.grad` held before is discarded, in all three. No parameter changes, and no hook or switched `requires_grad` is
#   left behind: you may be called again with the same encoders.
# - Encoders are in training mode and stay there, in both passes: in evaluation mode they make other features. Nothing in them
#   is random or looks at other samples.
#
# What earns points:
#
# - **2 points · the gradient of both encoders**: micro-batches of equal size, one or several, in a list.
# - **1 point · ragged micro-batches from a generator**: of 1 to 5 pairs; both encoders again.
# - **1 point · the gradient of logit_scale**: for both of these.
# - **1 point · discarding what .grad held before**: in both encoders and in `logit_scale`.
# - **1 point · the returned loss**: of the whole window, a number or a tensor with one number.
# - **1 point · one micro-batch's graph at a time**: right gradients, and peak memory stays below four times that of a function
#   with one graph alive, over 24 micro-batches of two long images and texts.


# %% exercise="accumulate_contrastive"
def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    """Leave in .grad the gradient of info_nce over all pairs, as if they were one batch; return that loss."""
    ### BEGIN SOLUTION
    for parameter in (*encode_image.parameters(), *encode_text.parameters(), logit_scale):
        parameter.grad = None
    batches = list(micro_batches)
    with torch.no_grad():
        all_images = torch.cat([encode_image(images) for images, _ in batches])
        all_texts = torch.cat([encode_text(texts) for _, texts in batches])
    loss = info_nce(all_images.requires_grad_(), all_texts.requires_grad_(), logit_scale)
    loss.backward()
    sizes = [len(images) for images, _ in batches]
    asked = zip(all_images.grad.split(sizes), all_texts.grad.split(sizes), strict=True)
    for (images, texts), (of_images, of_texts) in zip(batches, asked, strict=True):
        encode_image(images).backward(of_images)
        encode_text(texts).backward(of_texts)
    return loss.item()
    ### END SOLUTION


# %% check="accumulate_contrastive"
check(accumulate_contrastive)

# %% [markdown]
# <details><summary>Hint 1: the first pass</summary>
#
# `with torch.no_grad():` and a list of features for each encoder. Put `micro_batches` into a list first: a generator cannot be
# walked through twice.
# </details>
#
# <details><summary>Hint 2: what the loss asks of the features</summary>
#
# A tensor made without gradients is a leaf: after `features.requires_grad_()` and the loss's `backward()`, its `.grad` is
# $\partial L / \partial f$. Which other parameter gets its gradient in the same call?
# </details>
#
# <details><summary>Hint 3: the second pass</summary>
#
# `y.backward(g)` sends `g` backward through `y`, which may be a matrix. Which rows of $\partial L / \partial f$ belong to
# micro-batch k, if sizes differ?
# </details>
#
# <details><summary>Hint 4: the other way to write it</summary>
#
# You can also put the live features of one micro-batch among the cached ones of the others and send the whole loss backward,
# once for each micro-batch. Then count: who is in one of these N losses, and who is in all of them?
# </details>

# %% [markdown]
# ## Predict again
#
# A widely used trainer for image-text models writes the second pass like this: for each micro-batch, encode it with gradients,
# put its features among the cached ones of all others, compute **the whole loss**, and call `backward()`. N micro-batches, N
# backward passes of the whole loss. You saw under **Break the temperature** what that leaves in `.grad`.

# %%
predict(
    "Somebody thinks that a division by N is missing, and divides each of the N losses by N. What does .grad hold now?",
    choices=(
        "everything as it should be",
        "everything N times too small",
        "the encoders' gradients as they should be, that of `logit_scale` N times too small",
        "the encoders' gradients N times too small, that of `logit_scale` as it should be",
    ),
    answer="the encoders' gradients N times too small, that of `logit_scale` as it should be",
    because="A loss divided by N makes every gradient N times smaller: the one that was N times too large, and those that were "
    "right.",
)

# %% [markdown]
# ## "The sum, effectively the mean"
#
# That is what its documentation says of this gradient, and users ask from time to time whether a division by N is missing. Here
# are both, first as published, then divided:

# %%
due = gradients(one_large_batch, problem)
for slug in ("temperature-times-n", "window-loss-over-n"):
    found = gradients(GALLERY[slug], problem)
    times = [float(f.norm() / d.norm()) for f, d in zip(found, due, strict=True)]
    print(f"{slug:20} image encoder × {times[0]:.3f}   text encoder × {times[1]:.3f}   logit_scale × {times[2]:.3f}")

# %% [markdown]
# So for the encoders it is the sum: each backward pass reaches **one** micro-batch's share of their gradient, and the shares
# add up. For `logit_scale` it is neither: it stands in front of the whole matrix, is in every pass, and gets its **whole**
# gradient N times. Under an optimizer such as Adam this hardly shows, see unit
# [07 · When equivalence breaks](07_when_equivalence_breaks.ipynb); where clipping acts, it makes every other gradient smaller.

# %% [markdown]
# ## Both passes must see the same
#
# The gradient for the features is taken at the features of the *first* pass. If the second pass makes others, it does not fit.
# Dropout draws new numbers each time:

# %%
dropping = nn.Sequential(encode_image, nn.Dropout(0.1))
images, _ = problem.batches()[0]
state = torch.get_rng_state()
first, second = dropping(images), dropping(images)
torch.set_rng_state(state)
third = dropping(images)
print(f"second pass: features change by {(second - first).norm() / first.norm():.0%}")
print(f"second pass from the same random state: {(third - first).norm() / first.norm():.0%}")

# %% [markdown]
# So keep the random state of each micro-batch's first pass, and restore it before its second. (`torch.utils.checkpoint` does
# this by itself.) BatchNorm in training mode is no better off here than in unit 07: it looks at the micro-batch.

# %% [markdown]
# ## What it costs
#
# "Two forward passes per sample", "the features of all batches stay in memory". Both are true of cached features. They are
# also cheap, compared with what they replace:

# %%
for method, label in {"local": "each alone", "cached": "cached features"}.items():
    cost = contrastive_negatives.measure(method, accumulation_steps=8)
    print(f"{label:16} passes {cost.forwards:.0f}   features {cost.features} bytes   activations {cost.activations} bytes")
print(f"{'one large batch':16} passes 1   features 0 bytes   activations {cost.large_activations} bytes")

# %% [markdown]
# ## Exercise 2 · `accumulation_cost`
#
# *Difficulty ●○○ · about 6 minutes · 3 points*
#
# Write `accumulation_cost(micro_batch_size, accumulation_steps, width, dtype)`. It returns two numbers,
# `(forwards, feature_bytes)`:
#
# - `forwards`: how often a sample goes through its encoder, that is, an image through the image encoder or a text through the
#   text encoder, until all gradients of the window are there;
# - `feature_bytes`: the bytes of the features that the first pass keeps, of both encoders and the whole window. A feature
#   vector has `width` numbers of `dtype`, for instance `torch.float16`.
#
# With `accumulation_steps == 1` there is nothing to accumulate: the micro-batch *is* the batch, there is one ordinary pass and
# no cache.
#
# What earns points:
#
# - **1 point · forward passes of each encoder per sample**: for several N above 1.
# - **1 point · bytes of cached features**: for several sizes, widths and dtypes.
# - **1 point · a single micro-batch, for which nothing is cached**: both numbers, for N = 1.


# %% exercise="accumulation_cost"
def accumulation_cost(micro_batch_size, accumulation_steps, width, dtype):
    """Forward passes per sample and bytes of cached features, as a pair."""
    ### BEGIN SOLUTION
    if accumulation_steps == 1:
        return 1, 0
    pairs = micro_batch_size * accumulation_steps
    return 2, 2 * pairs * width * dtype.itemsize
    ### END SOLUTION


# %% check="accumulation_cost"
check(accumulation_cost)

# %% [markdown]
# <details><summary>Hint 1: bytes</summary>
#
# How many feature vectors does a pair have, and how many pairs are in the window? `torch.float16.itemsize` says what one number
# takes.
# </details>
#
# <details><summary>Hint 2: passes</summary>
#
# The cell above counted them. They do not depend on N, with one exception that the exercise states.
# </details>

# %% [markdown]
# Now take the numbers of a real training: B = 128, N = 4, width 512, float16. How many KiB does your function say? (If you
# have a model at hand, `saved_bytes` from unit [02](02_memory_limits.ipynb) tells you what autograd keeps of one image.)

# %% [markdown]
# ## "Not with distillation"
#
# The same documentation says that accumulation and **distillation**, learning from the similarities that a teacher finds,
# exclude each other. Do they? A teacher's features can be cached like any others. Here the loss compares each row and column
# with the teacher's:

# %%
teacher_image, teacher_text, _ = ContrastiveProblem(seed=9, sizes=problem.sizes).build()
with torch.no_grad():
    teacher = [
        torch.cat([encode(pair[k]) for pair in problem.batches()]) for k, encode in enumerate((teacher_image, teacher_text))
    ]
    soft = 5 * F.normalize(teacher[0], dim=1) @ F.normalize(teacher[1], dim=1).T


def distillation(image_features, text_features, logit_scale):
    logits = logit_scale.exp() * F.normalize(image_features, dim=1) @ F.normalize(text_features, dim=1).T
    # where targets are probabilities, cross_entropy compares distributions
    return (F.cross_entropy(logits, soft.softmax(1)) + F.cross_entropy(logits.T, soft.T.softmax(1))) / 2


large, cached = (
    gradients(lambda *a, loop=loop: loop(*a, distillation), problem) for loop in (one_large_batch, cached_features)
)
print("largest difference to the large batch:", max((c - d).abs().max().item() for c, d in zip(cached, large, strict=True)))

# %% [markdown]
# Rounding. It is a limit of that program, not of the method: **any** loss of the window's features can be accumulated this way.

# %% [markdown]
# ## What to remember
#
# - A contrastive loss **does not decompose**: a pair's loss depends on its neighbours, and the mean over micro-batches is
#   another loss, with fewer negatives. A smaller value of it says nothing.
# - **Features first, without gradients; then one micro-batch's graph at a time**, for the loss of the whole window. Exact, for
#   any loss of the features.
# - The parts **add up; nothing is divided by N**. What stands outside the encoders, such as `logit_scale`, must take part
#   **once**.
# - The price: **two forward passes** per sample, and samples × width × 2 numbers, small beside activations. Both passes must
#   see the same random numbers.
#
# Next: **[10 · Distributed](10_distributed.ipynb)**
