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
# In December 2023 a user of open_clip [asked](https://github.com/mlfoundations/open_clip/issues/761) whether its accumulation
# forgets to divide the loss by N. In October 2024 [another](https://github.com/mlfoundations/open_clip/issues/957) asked the
# same. A maintainer replied that somebody should try it on a small scale, with the division and without. Both questions are
# still open. Here you do the experiment.
#
# Every loss that you have accumulated so far was a mean of losses of single samples or tokens. A **contrastive loss** is
# different: it asks each image to find its own text among *all texts of the batch*. A larger batch asks a harder question,
# and that is why people want it large. CLIP [used 32,768 pairs](https://arxiv.org/abs/2103.00020).
#
# *About 45 minutes, 10 points. You need unit [03 · Accumulate](03_accumulate.ipynb).*

# %% [markdown]
# ## Predict

# %%
from gradaccum.phenomena import contrastive_negatives
from gradaccum.predict import predict

predict(
    "You cut 32 pairs into N = 8 micro-batches of 4, take the contrastive loss of each micro-batch, divide it by N and "
    "accumulate, as in unit 03. How does this gradient compare with that of the 32 pairs as one batch?",
    choices=(
        "it is the same, up to rounding",
        "it points the same way, but it is shorter",
        "it points another way",
        "it is the same for images, but not for texts",
    ),
    answer="it points another way",
    because=lambda: contrastive_negatives.describe(contrastive_negatives.compute(contrastive_negatives.PRESETS["Break"])),
)

# %%
import torch
from torch import nn
from torch.nn import functional as F

from autograder.check import check
from gradaccum.contrastive import ContrastiveProblem, gradients, info_nce
from gradaccum.explore import explore
from gradaccum.loops_contrastive import GALLERY, cached_features, one_large_batch

# %% [markdown]
# ## The loss
#
# From n pairs, one encoder makes **image features** $u_1 \dots u_n$ and another makes **text features** $v_1 \dots v_n$, each
# divided by its length. The matrix of logits is $s_{ij} = e^{t}\, u_i \cdot v_j$. Its diagonal holds the pairs. The exponent
# $t$ is a parameter too, called `logit_scale`. ($e^{-t}$ is known as the **temperature**.) The loss (InfoNCE, as CLIP uses
# it) averages two cross-entropies: along the rows each image looks for its text, and along the columns each text looks for
# its image:
#
# $$L = -\frac{1}{2n}\sum_{i=1}^{n}\Big[\log\frac{e^{s_{ii}}}{\sum_j e^{s_{ij}}} +
# \log\frac{e^{s_{ii}}}{\sum_j e^{s_{ji}}}\Big]$$
#
# The other texts, $j \neq i$, are the image's **negatives**. You have this loss as
# `info_nce(image_features, text_features, logit_scale)`, which also divides features by their lengths and computes $e^t$:

# %%
problem = ContrastiveProblem(seed=1, sizes=(4,) * 8)
encode_image, encode_text, logit_scale = problem.build()
images, texts = problem.batches()[0]
image_features, text_features = encode_image(images), encode_text(texts)
print("images", tuple(images.shape), "-> features", tuple(image_features.shape))
loss = info_nce(image_features, text_features, logit_scale)
print(f"loss of these 4 pairs: {loss.item():.3f}")

# %% [markdown]
# ## Explore: who is compared with whom
#
# On the left are the similarities of 32 images (rows) and 32 texts (columns). Each row shows only the similarities that
# enter its image's loss. The middle shows the cosine between the encoders' accumulated
# gradient and the large batch's. On the right are the bytes needed and, below them, how many times a sample goes through
# its encoder.
#
# 1. It opens with micro-batches that look only at themselves. How many negatives does an image see? Change N: when is the
#    gradient worst, and why?
# 2. The loss in the caption is *smaller* than the large batch's. Is that good news?
# 3. Press **Fix**. What is the price, and what do you get for it?
# 4. Press **Break the temperature**. Which gradient is wrong now?

# %%
explore("contrastive_negatives")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. With N = 8 it sees three negatives, with N = 16 a single one. The fewer there are, the less is left of the direction.
# 2. No. Picking the right one of 4 texts is easier than picking it out of 32. Losses of different n cannot be compared.
# 3. A second forward pass and a few KiB of features. In return you get the large batch's gradient with the activations of one
#    micro-batch.
# 4. Only that of `logit_scale`, which is N times too large. You will find out why.
# </details>

# %% [markdown]
# ## Why: the other pairs are in the loss
#
# A batch's loss is a mean of *its samples'* losses only if no sample's loss depends on the others. So keep one pair, change
# its neighbours, and see what its image contributes:


# %%
def similarities(image_features, text_features):
    return F.normalize(image_features, dim=1) @ F.normalize(text_features, dim=1).T


def loss_of_first_pair(image_features, text_features):
    logits = similarities(image_features, text_features) / 0.2  # the temperature
    return -logits.log_softmax(dim=1)[0, 0].item()


with torch.no_grad():
    for neighbours in (1, 2, 3):
        pairs = problem.batches()[0], problem.batches()[neighbours]
        together = [torch.cat([a[:1], b]) for a, b in zip(*pairs, strict=True)]
        loss = loss_of_first_pair(encode_image(together[0]), encode_text(together[1]))
        print(f"with neighbours from micro-batch {neighbours + 1}: {loss:.3f}")

# %% [markdown]
# The loss differs each time. (A single pair would have no negatives at all: its loss is 0, whatever the encoders do.)

# %% [markdown]
# ## The way out
#
# All that the pairs need to know of each other is their **features**, a few numbers each. And the chain rule goes through
# them. If $f_k$ are the features of micro-batch k and $\theta$ the parameters of the encoders, then
#
# $$\frac{\partial L}{\partial \theta} = \sum_{k=1}^{N} \frac{\partial L}{\partial f_k}\,\frac{\partial f_k}{\partial \theta}$$
#
# (`logit_scale` is not part of $\theta$: it is in $L$ itself.) The first factor needs the features of *all* micro-batches,
# but no encoder's graph. The second needs the graph of *one* micro-batch. So go through the window twice:
#
# 1. **without gradients**: encode everything and keep the features. From all of them together come the loss of the *whole
#    window* and its gradient with respect to every feature;
# 2. **with gradients**: encode one micro-batch again, and start backward from its features, with that gradient. Free its
#    graph, and take the next.
#
# <details><summary>Could the pass with gradients come first?</summary>
#
# Some descriptions say so. It cannot work: even the first micro-batch's gradient needs all features.
# </details>

# %% [markdown]
# This method is known as a *gradient cache* ([Gao et al. 2021](https://arxiv.org/abs/2101.06983)).
#
# For it, autograd has to do two things that are new to you. A tensor without a graph can become a place where backward
# stops and leaves a gradient. And backward need not begin at a loss:

# %%
features = torch.tensor([[1.0, 2.0], [3.0, 4.0]])  # no graph, as if made under no_grad
features.requires_grad_()
(features**2).sum().backward()
print("in features.grad:", features.grad.tolist())

layer = nn.Linear(3, 2)
output = layer(torch.ones(2, 3))
output.backward(torch.tensor([[1.0, 0.0], [0.0, 10.0]]))  # a weight for each number in output
print("in layer.bias.grad:", layer.bias.grad.tolist())

# %% [markdown]
# ## Exercise 1 · `accumulate_contrastive`
#
# *Difficulty ●●● · about 18 minutes · 7 points*
#
# Write `accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches)`. It leaves in `.grad` the gradient of
# `info_nce` over **all pairs of all micro-batches**, as if they were one batch, and returns that loss.
#
# - `micro_batches` yields `(images, texts)`, equally many of both; it may be a generator, and you may keep all of its inputs,
#   which have to stay as they are.
# - `encode_image` and `encode_text` are modules that make features of shape `(n, width)`. Both may have frozen parameters
#   (never all of them), which begin without a `.grad`, and unused parameters; the `.grad` of those may stay `None`.
#   `logit_scale` is a single parameter.
# - Whatever `.grad` held before, infinity included, is discarded in all three. No parameter changes, and no hook or switched
#   `requires_grad` is left behind: your function may be called again with the same encoders.
# - The encoders are in training mode and stay in it, in both passes: some of their layers act differently in evaluation
#   mode. Nothing in them is random or looks at other samples.
#
# What earns points:
#
# - **2 points · the gradient of both encoders**: micro-batches of equal size, one or several, in a list.
# - **1 point · ragged micro-batches from a generator**: of 1 to 5 pairs; both encoders again.
# - **1 point · the gradient of logit_scale**: for both of these.
# - **1 point · discarding what .grad held before**: in both encoders and in `logit_scale`.
# - **1 point · the returned loss**: of the whole window, a number or a tensor with one number.
# - **1 point · one micro-batch's graph at a time**: right gradients, and peak memory stays below four times that of a function
#   with one graph alive, over 24 micro-batches of two large images and two long texts.


# %% exercise="accumulate_contrastive"
def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    """Leave in .grad the gradient of info_nce over all pairs; return that loss."""
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
# Work under `with torch.no_grad():`, and keep a list of features for each encoder. Put `micro_batches` into a list first:
# you can go through a generator only once.
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
# once for each micro-batch. Then count: what is in one of these N losses, and what is in all of them?
# </details>

# %% [markdown]
# ## Predict again
#
# open_clip writes the second pass like this: for each of the N micro-batches, encode it with gradients, put its features
# among the cached ones of all others, compute **the whole loss**, and call `backward()`. You saw under **Break the
# temperature** what that leaves in `.grad`.

# %%
predict(
    "You follow the suggestion in the two issues and divide each of the N losses by N. What does .grad hold now?",
    choices=(
        "everything as it should be",
        "everything N times too small",
        "the encoders' gradients as they should be, that of logit_scale N times too small",
        "the encoders' gradients N times too small, that of logit_scale as it should be",
    ),
    answer="the encoders' gradients N times too small, that of logit_scale as it should be",
    because="A loss divided by N makes every gradient N times smaller: the one that was N times too large, and those that were "
    "right.",
)

# %% [markdown]
# ## "The sum, effectively the mean"
#
# That is how [a page about open_clip](https://mintlify.com/mlfoundations/open_clip/advanced/gradient-accumulation) describes
# this gradient. Here is the experiment that the maintainer asked for, first as published, then with the division.
# (`gradients` runs a loop and returns what it leaves in `.grad`.)

# %%
due = gradients(one_large_batch, problem)
for slug in ("temperature-times-n", "window-loss-over-n"):
    found = gradients(GALLERY[slug], problem)
    times = [float(f.norm() / d.norm()) for f, d in zip(found, due, strict=True)]
    encoders = f"image encoder × {times[0]:.3f}  text encoder × {times[1]:.3f}"
    print(f"{slug}\n {encoders}  logit_scale × {times[2]:.3f}")

# %% [markdown]
# For the encoders it is the sum: each backward pass reaches **one** micro-batch's share of their gradient, and the shares add
# up. For `logit_scale` it is neither. It scales the whole matrix, so it is in every pass and gets its **whole** gradient
# N times.
#
# <details><summary>In open_clip itself, and with Adam or clipping</summary>
#
# [Our recording](../docs/trainers.md) of open_clip 3.3.0 shows the same. Adam hides such a factor, as unit [07 · When
# equivalence breaks](07_when_equivalence_breaks.ipynb) shows. Clipping does not: the factor raises the norm, so every other
# gradient is cut shorter.
# </details>

# %% [markdown]
# ## Both passes must make the same features
#
# The gradient with respect to the features belongs to those of the *first* pass. If the second pass makes other
# features, that gradient is not theirs. Dropout draws new numbers each time:

# %%
dropping = nn.Sequential(encode_image, nn.Dropout(0.1))
images, _ = problem.batches()[0]
state = torch.get_rng_state()
first, second = dropping(images), dropping(images)
torch.set_rng_state(state)
third = dropping(images)
for name, again in {"as it is": second, "from the same random state": third}.items():
    change = (again - first).norm() / first.norm()
    print(f"second pass {name}: features change by {change:.0%}")

# %% [markdown]
# So keep the random state from before each micro-batch's first pass, and restore it before its second.
#
# <details><summary>Who restores the random state for you, and what about BatchNorm?</summary>
#
# `torch.utils.checkpoint`, which also runs a forward pass twice, keeps and restores the random state on its own. BatchNorm in
# training mode is no better off here than in unit 07: it looks at the micro-batch.
# </details>

# %% [markdown]
# ## What it costs
#
# "Two forward passes per sample", "the features of all batches stay in memory": both are true of cached features. A backward
# pass costs about as much as two forward passes, so a sample costs four forward passes instead of three. The bytes are small
# compared with what they replace:

# %%
print("                forward passes  bytes of features  of activations")
for method, label in {"local": "each alone", "cached": "cached features"}.items():
    cost = contrastive_negatives.measure(method, accumulation_steps=8)
    print(f"{label:15} {cost.forwards:14.0f} {cost.features:18} {cost.activations:15}")
print(f"one large batch {1:14} {0:18} {cost.large_activations:15}")

# %% [markdown]
# ## Exercise 2 · `accumulation_cost`
#
# *Difficulty ●○○ · about 6 minutes · 3 points*
#
# Write `accumulation_cost(micro_batch_size, accumulation_steps, width, dtype)`. It returns two numbers,
# `(forwards, feature_bytes)`:
#
# - `forwards`: how many times, with cached features, a sample goes through its encoder, that is, an image through the image
#   encoder or a text through the text encoder, until the window's gradients are complete;
# - `feature_bytes`: the bytes of the features that the first pass keeps, of both encoders and the whole window. A feature
#   vector has `width` numbers of `dtype`, for instance `torch.float16`.
#
# With `accumulation_steps == 1` there is nothing to accumulate: the micro-batch *is* the batch, so there is one ordinary pass
# and no cache.
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
# How many feature vectors does a pair have, and how many pairs are in the window? `torch.float16.itemsize` is the number of
# bytes that one number takes.
# </details>
#
# <details><summary>Hint 2: passes</summary>
#
# The cell above counted them. They do not depend on N, with one exception that the exercise states.
# </details>

# %% [markdown]
# <details><summary>In the numbers of CLIP</summary>
#
# Take 32,768 pairs as B = 128 and N = 256, width 512, float16. How many MiB does your function say? (It should be 64. If you
# have a model at hand, `saved_bytes` from unit [02](02_memory_limits.ipynb) tells you what autograd keeps of one image.)
# </details>

# %% [markdown]
# ## "Not with distillation"
#
# The page about open_clip says that accumulation does not work with **distillation**, that is, with learning from the
# similarities that a teacher finds. But a teacher's features can be cached like any others. Here the loss compares each row
# and each column with the teacher's:

# %%
teacher_image, teacher_text, _ = ContrastiveProblem(seed=9, sizes=problem.sizes).build()
all_images, all_texts = map(torch.cat, zip(*problem.batches(), strict=True))
with torch.no_grad():
    soft = 5 * similarities(teacher_image(all_images), teacher_text(all_texts))


def distillation(image_features, text_features, logit_scale):
    logits = logit_scale.exp() * similarities(image_features, text_features)
    rows = F.cross_entropy(logits, soft.softmax(1))  # targets that are probabilities
    return (rows + F.cross_entropy(logits.T, soft.T.softmax(1))) / 2


large = gradients(lambda *given: one_large_batch(*given, distillation), problem)
cached = gradients(lambda *given: cached_features(*given, distillation), problem)
differences = [(c - d).abs().max().item() for c, d in zip(cached, large, strict=True)]
print(f"largest difference from the large batch: {max(differences):.0e}")

# %% [markdown]
# That is rounding. The limit is open_clip's, not the method's: **any** loss of the window's features can be accumulated like
# this.

# %% [markdown]
# ## Stretch: a loss that does decompose?
#
# [SigLIP](https://arxiv.org/abs/2303.15343) replaces InfoNCE with a sigmoid loss: the mean over images of a sum of
# $-\log\sigma(\pm s_{ij})$, with a plus on the diagonal and a minus elsewhere. No term depends on another. (Not graded.)


# %%
# The loss of SigLIP, without its bias
def sigmoid_loss(image_features, text_features, logit_scale):
    logits = logit_scale.exp() * similarities(image_features, text_features)
    signs = 2 * torch.eye(len(logits), dtype=logits.dtype) - 1
    return -F.logsigmoid(signs * logits).sum() / len(logits)


def error_of_sigmoid_loss(alone):
    def gradient_of(k):
        return torch.cat(gradients(lambda *a: one_large_batch(*a[:3], [list(a[3])[k]], sigmoid_loss), problem))

    whole = torch.cat(gradients(lambda *a: one_large_batch(*a, sigmoid_loss), problem))
    if alone:
        found = torch.stack([gradient_of(k) for k in range(len(problem.batches()))]).mean(0)
    else:
        found = torch.cat(gradients(lambda *a: cached_features(*a, sigmoid_loss), problem))
    return (found - whole).norm() / whole.norm()


predict(
    "Can you accumulate the sigmoid loss as in unit 03, with each micro-batch alone and its loss divided by N?",
    choices=(
        "yes, exactly, because the terms are independent",
        "no, the terms of images and texts from different micro-batches are missing",
        "yes, but logit_scale gets N times its gradient",
    ),
    answer="no, the terms of images and texts from different micro-batches are missing",
    because=lambda: (
        f"With each micro-batch alone, the gradient is {error_of_sigmoid_loss(alone=True):.0%} off the large batch's. "
        f"With cached features it is {error_of_sigmoid_loss(alone=False):.0e} off. Independent terms do allow something else: "
        "you can compute the loss block by block, without ever holding the whole matrix."
    ),
)

# %% [markdown]
# ## What to remember
#
# - A contrastive loss **does not decompose**: a pair's loss depends on its neighbours. The mean over micro-batches is a
#   different loss with fewer negatives, and a smaller value of it means nothing.
# - **Features first, without gradients; then one micro-batch's graph at a time**, for the loss of the whole window. This is
#   exact for any loss of the features.
# - The parts **add up, and nothing is divided by N**. Parameters outside the encoders, such as `logit_scale`, must take part
#   **once**.
# - The price is **two forward passes** per sample and the cached features. Both passes must see the same random numbers.
#
# <details><summary>References</summary>
#
# - Radford et al. 2021, [CLIP](https://arxiv.org/abs/2103.00020); Zhai et al. 2023, [SigLIP](https://arxiv.org/abs/2303.15343)
# - Gao et al. 2021, [Scaling Deep Contrastive Learning Batch Size under Memory Limited
#   Setup](https://arxiv.org/abs/2101.06983): the gradient cache
# - open_clip: [the change that brought accumulation](https://github.com/mlfoundations/open_clip/pull/267), issues
#   [761](https://github.com/mlfoundations/open_clip/issues/761) and
#   [957](https://github.com/mlfoundations/open_clip/issues/957)
# - The claims of this unit are rows 27 to 30 of [the claims ledger](../docs/claims.md).
# </details>
#
# Next: **[10 · Distributed](10_distributed.ipynb)**
