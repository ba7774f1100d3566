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
# # 10 · Distributed
#
# **How do ranks and windows multiply?**
#
# Until now one process trained one model. With several GPUs each has a process of its own, a **rank**, with a copy of the model
# and samples of its own. An update then averages over the ranks *and* over a window: **B × N × W** samples, with W, the **world
# size**, the number of ranks.
#
# Ranks have to talk, and talking takes time. Accumulation lets them talk less, if you write it right. Some mistakes
# here cost nothing but time; others let the ranks drift apart without an error.
#
# *About 45 minutes, 10 points. You need unit [04 · Training loop](04_training_loop.ipynb).*

# %%
import os

os.environ["CUDA_VISIBLE_DEVICES"] = ""  # ranks are forks of this process, and one that uses a GPU cannot be forked

from contextlib import nullcontext
from itertools import islice

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from autograder.check import check
from gradaccum.collectives import Collectives
from gradaccum.explore import explore
from gradaccum.fingerprint import batch_gradient
from gradaccum.loops_ddp import DDP_GALLERY
from gradaccum.phenomena import ranks_over_time
from gradaccum.predict import predict
from gradaccum.problems import Problem, flat_gradient
from gradaccum.ranks import on_ranks

# %% [markdown]
# ## Ranks on your machine
#
# You need no second GPU. `on_ranks(2, work)` calls `work(0)` and `work(1)` at the same time, each in a process of its own, and
# returns a list of what they returned. The processes can talk through `torch.distributed`, with a library called gloo; on GPUs
# it would be NCCL, and the code the same.
#
# The one thing they say to each other in this unit is **all-reduce**: everybody brings a tensor, and everybody leaves with the
# sum. It works **in place** and returns nothing.


# %%
def work(rank):
    number = torch.tensor(10.0 + rank)
    dist.all_reduce(number)
    return f"rank {rank} of {dist.get_world_size()} ends with {number.item()}"


on_ranks(2, work)

# %% [markdown]
# An all-reduce is also a rendezvous. A rank that gets there waits for the others, and if one of them never comes, it waits for
# ever. So **all ranks make the same calls in the same order**.

# %% [markdown]
# ## DistributedDataParallel
#
# You hardly ever call `all_reduce` yourself. You wrap the model, once per rank:
#
# ```python
# model = DistributedDataParallel(model)
# ```
#
# From then on each `backward` all-reduces the gradients and divides them by W. After it every rank has **the mean over the
# ranks** in `.grad`; each takes the same step, and the models stay identical although no parameter is ever sent. (The model you
# wrapped is still there, as `model.module`. Called directly, it shares nothing.)
#
# Here are two ranks with two samples each, beside one process with all four:


# %%
problem = Problem(seed=10, epochs=((2, 2, 2, 2),), accumulation_steps=4)


def shared_gradient(rank):
    mine = problem.with_(rank=rank)  # the same model, other samples
    model = DistributedDataParallel(mine.build_model())
    x, y = mine.batches()[0]
    mine.loss_fn(model(x), y).backward()
    return flat_gradient(model).tolist()


x, y = map(torch.cat, zip(problem.batches()[0], problem.with_(rank=1).batches()[0], strict=True))
alone = batch_gradient(problem.build_model(), problem.loss_fn, (x, y))
for rank, gradient in enumerate(on_ranks(2, shared_gradient)):
    gradient = torch.tensor(gradient, dtype=torch.float64)
    print(f"rank {rank}: largest difference {(gradient - alone).abs().max():.0e}")

# %% [markdown]
# ## Predict
#
# Take the loop of unit 04 as it is, and give it such a model.

# %%
predict(
    "N = 4, and `model` is a DistributedDataParallel. The loop of unit 04 calls `backward` for every micro-batch and "
    "`step` once per window. What comes out?",
    choices=(
        "wrong updates: gradients of the ranks are averaged four times",
        "right updates, with 1 all-reduce per window",
        "right updates, with 4 all-reduces per window",
        "the ranks drift apart",
    ),
    answer="right updates, with 4 all-reduces per window",
    because=lambda: (
        "The mean over ranks of a sum is the sum of the means, so you may share early or late. But every backward shares: "
        + ranks_over_time.describe(ranks_over_time.compute(ranks_over_time.Settings(place="sync-every")))
    ),
)

# %% [markdown]
# ## no_sync
#
# Three of these four are for nothing. `model.no_sync()` switches sharing off:
#
# ```python
# with model.no_sync():
#     ...            # gradients are added to .grad here, and stay on this rank
# ```
#
# The first backward that shares again shares **all that has come together in `.grad`**, its own gradient and those before it.
# So one all-reduce is enough, *at the last micro-batch of the window*. (Where a `with` should do nothing, `nullcontext()` from
# the first cell may stand in place of `model.no_sync()`.)
#
# Where exactly does the `with` have to stand?

# %%
predict(
    "N = 4. For the first three micro-batches somebody writes `loss = loss_fn(model(x), y)` and in the next line "
    "`with model.no_sync(): loss.backward()`. How many all-reduces are there per window?",
    choices=("0", "1", "3", "4"),
    answer=lambda: str(len(ranks_over_time.compute(ranks_over_time.Settings()).own.bytes)),
    because="DistributedDataParallel gets its all-reduce ready in the forward. By the time of the backward nobody looks at "
    "no_sync any more. There is no error, and the gradients are right: you only pay.",
)

# %% [markdown]
# ## Explore: ranks over time
#
# Four ranks, each with four micro-batches. The calls and bytes on the right are counted on a real DistributedDataParallel; the
# times on the left are a model: a backward takes two forward passes, an all-reduce what you choose, and all ranks wait for it.
#
# 1. It opens on what you have just predicted. How much faster are four ranks than one? Press **Fix**.
# 2. Press **Break** again and take the fast link. Is the mistake still worth mending? When is it worth most?
# 3. With **Fix** and the slow link, go through N = 1, 2, 4. What does accumulation buy here, though memory is no problem?
# 4. Press **Drift**. Nothing is faster. What is lost?

# %%
explore("ranks_over_time")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. Half of what four ranks could do is lost to waiting. With **Fix** it is a fifth.
# 2. It then costs about a tenth. Mending it is worth most where an all-reduce is slow beside a micro-batch: big models, small
#    micro-batches, ranks on several machines.
# 3. Fewer all-reduces per sample. At N = 1 every micro-batch has one, at N = 4 every fourth.
# 4. Each rank updates with its own samples only, and from then on there are four different models.
# </details>

# %% [markdown]
# ## Four to eight times less?
#
# A text claims that with accumulation "communication falls 4–8×". Count it: two real ranks, eight micro-batches each, with the
# right loop and with one that shares every time.


# %%
def carried(rank, slug, n):
    model = DistributedDataParallel(problem.build_model())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = problem.with_(rank=rank, epochs=((2,) * 8,)).batches()
    with Collectives() as seen:
        DDP_GALLERY[slug](model, problem.loss_fn, optimizer, batches, n)
    return len(seen.all_reduces), sum(call.bytes for call in seen.all_reduces)


# %%
def work(rank):
    return [(carried(rank, "sync-every", n), carried(rank, "right", n)) for n in (1, 2, 4, 8)]


for n, ((often, much), (once, little)) in zip((1, 2, 4, 8), on_ranks(2, work)[0], strict=True):
    print(f"N = {n}: {often} → {once} all-reduces, {much:,} → {little:,} bytes: {much // little} times less")

# %% [markdown]
# So it is **exactly N times** less, in calls and in bytes; 4–8 is what you get for N between 4 and 8. Three things to add:
#
# - How much *faster* that is depends on the link, as you have seen. "Several GPUs are faster where bandwidth allows" is true in
#   this sense, and the picture shows both halves of the sentence. (DistributedDataParallel hides a part of its all-reduces
#   behind the backward, which the picture leaves out.)
# - It holds for DistributedDataParallel. Where the **parameters** are sharded over the ranks, as in FSDP, they are gathered
#   anew for every micro-batch, and accumulation saves nothing of that.
# - It holds with the *forward* inside `no_sync`.

# %% [markdown]
# ## Exercise 1 · `ddp_train_epoch`
#
# *Difficulty ●●○ · about 15 minutes · 7 points*
#
# Write `ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps)`: one epoch as in unit 04, as every rank
# runs it. `model` is a DistributedDataParallel, `optimizer` SGD on its parameters, with or without momentum, and
# `micro_batches` a list with this rank's own micro-batches. Every rank has as many as the others, and the k-th is of the same
# size on all of them.
#
# Each update has to use the mean over the window's samples **of all ranks**. Micro-batches may be ragged, the last window may
# be shorter, and `.grad` may hold anything when you are called. Leave the model in training mode. What you return does not
# matter.
#
# Your function runs on two real processes. What earns points:
#
# - **2 points · full windows, one micro-batch's graph at a time**: after each epoch the parameters of every rank are those of
#   large batches, one per window, with the samples of all ranks. For memory there are 24 micro-batches in one window: the
#   peak memory stays below twelve times that of a loop with one graph alive.
# - **2 points · leftover windows, ragged micro-batches and a stale .grad**: the parameters of every rank, in the same way.
# - **1 point · ranks that stay identical**: gradients have moved their parameters, and these are the same on all ranks.
# - **2 points · one all-reduce round per window**: gradients of all ranks travel once per window, leftover windows too, and
#   after full windows the ranks are identical. Bytes are counted, not calls: parameter by parameter is as good as all at
#   once, and a few bytes more, for a loss or a count, cost nothing.


# %% exercise="ddp_train_epoch"
def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    """Train for one epoch on this rank's micro-batches; share the gradients once per window."""
    ### BEGIN SOLUTION
    stream = iter(micro_batches)
    while window := list(islice(stream, accumulation_steps)):
        optimizer.zero_grad()
        samples = sum(len(x) for x, _ in window)
        for k, (x, y) in enumerate(window, 1):
            with nullcontext() if k == len(window) else model.no_sync():
                loss = loss_fn(model(x), y) * len(x) / samples
                loss.backward()
        optimizer.step()
    optimizer.zero_grad()
    ### END SOLUTION


# %% check="ddp_train_epoch"
check(ddp_train_epoch)

# %% [markdown]
# <details><summary>Hint 1: begin with what you have</summary>
#
# The loop of unit 04 earns five of the seven points as it is. Which line decides how often gradients travel?
# </details>
#
# <details><summary>Hint 2: sometimes inside, sometimes not</summary>
#
# What follows `with` may be any expression, such as `a if last else b`. Which of your micro-batches need `no_sync`, and which
# need `nullcontext`?
# </details>
#
# <details><summary>Hint 3: the last one</summary>
#
# Of a leftover window the last micro-batch is not the N-th. If you have the window as a list, you know how long it is.
# </details>
#
# <details><summary>How to read the fingerprint of a verdict</summary>
#
# It is that of one rank, and has a column for each micro-batch of *every* rank: in each epoch first those of rank 0, then those
# of rank 1. Where the second half of an epoch is empty, nothing came from the other rank.
# </details>

# %% [markdown]
# ## Tokens on ranks
#
# In exercise 1 the ranks had equally many samples. Language models count **tokens**, and sequences differ in length. Each rank
# averages over its own tokens, then DistributedDataParallel averages over ranks: a mean of means, for the same reason as ever.
# You know the remedy from ragged micro-batches: weigh by the share. Only the shares are now spread over several processes.

# %%
tokens, mean_losses = [30, 10], [1.0, 3.0]
print("mean over ranks: ", sum(mean_losses) / 2)
print("mean over tokens:", sum(n * loss for n, loss in zip(tokens, mean_losses, strict=True)) / sum(tokens))

# %% [markdown]
# ## Exercise 2 · `global_token_scale`
#
# *Difficulty ●●○ · about 8 minutes · 3 points*
#
# Write `global_token_scale(local_tokens)`. Every rank calls it with the number of its tokens, a tensor with one whole number,
# and multiplies its loss, **the mean over its own tokens**, by what it gets. Return a tensor with one number, so that
# DistributedDataParallel's average over the ranks becomes the mean over the tokens of **all** ranks.
#
# A rank without tokens gets 0, and if no rank has any, all get 0. (The mean over no tokens is NaN, and 0 × NaN is NaN as well:
# such a rank has to put a 0 in the place of its loss. That is not part of this exercise.)
#
# What earns points:
#
# - **1 point · two ranks with different numbers of tokens**: the factor on both.
# - **1 point · another number of ranks**: the same with three.
# - **1 point · ranks without tokens**: one of two ranks, and both.
#
# To try your function, run `on_ranks(2, lambda rank: global_token_scale(torch.tensor([30, 10][rank])).item())`.


# %% exercise="global_token_scale"
def global_token_scale(local_tokens):
    """What to multiply the mean loss of this rank's tokens by, so that the average of the ranks is the mean over all tokens."""
    ### BEGIN SOLUTION
    total = local_tokens.clone()
    dist.all_reduce(total)
    return dist.get_world_size() * local_tokens / total.clamp(min=1)
    ### END SOLUTION


# %% check="global_token_scale"
check(global_token_scale)

# %% [markdown]
# <details><summary>Hint 1: on paper</summary>
#
# With 30 and 10 tokens the weights of the ranks have to be 30/40 and 10/40. DistributedDataParallel weighs each by 1/2. By what
# do you multiply 1/2 to get 30/40?
# </details>
#
# <details><summary>Hint 2: what the others have</summary>
#
# An all-reduce of the counts tells every rank their sum. It works in place, and you still need your own count afterwards.
# </details>
#
# <details><summary>Hint 3: no tokens anywhere</summary>
#
# Divide by at least 1: what stands above is 0 then. Tensors have `clamp(min=1)`.
# </details>

# %% [markdown]
# ## What to remember
#
# - **An update averages over B × N × W samples.** DistributedDataParallel does the W; dividing by W yourself is once too often.
# - **Share at the last micro-batch of a window, the leftover included.** `no_sync` goes around *forward and backward* of all
#   others.
# - **Sharing too often costs time, sharing too little costs the model**: ranks that miss an all-reduce drift apart, and nobody
#   says so.
# - **Communication falls N times**, in calls and bytes. How much time that is, the link decides.
# - Ranks with unequal numbers of tokens need a weight: their share of all tokens, times W.
#
# The run works on as many ranks as you have. Can it be stopped, resumed and watched? **[11 · Running it](11_running_it.ipynb)**
