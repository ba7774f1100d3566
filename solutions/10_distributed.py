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
# The developers of Accelerate [measured](https://github.com/huggingface/accelerate/pull/1153) what it costs to share gradients
# too often: on two machines, accumulation became **more than twice as slow**. There was no error, and all gradients were right.
#
# Until now one process trained one model. With several GPUs, each has its own process, called a **rank**, with a copy of the
# model and its own samples. An update then averages over the ranks *and* over a window: **B × N × W** samples, where the
# **world size** W is the number of ranks. Ranks have to talk, and talking takes time. Accumulation lets them talk less, if you
# write it right. Some mistakes here cost only time. Others let the ranks drift apart without an error.
#
# *About 45 minutes, 10 points. You need unit [04 · Training loop](04_training_loop.ipynb).*

# %% [markdown]
# ## Predict

# %%
from gradaccum.predict import predict


def seconds_to_share(parameters, world_size, bytes_per_second):
    sent = 2 * (world_size - 1) / world_size * 2 * parameters  # about twice the gradient, whose bfloat16 numbers take 2 bytes
    return sent / bytes_per_second


predict(
    "Llama 2 with 7 billion parameters trains on 64 GPUs, with N = 16 and gradients in bfloat16. To share them, each GPU sends "
    "about twice the gradient's bytes, at 50 GB per second. How much longer does an update take if the GPUs share after every "
    "micro-batch instead of once?",
    choices=("a few milliseconds", "about half a second", "about 8 seconds", "about 2 minutes"),
    answer="about 8 seconds",
    because=lambda: (
        f"The gradient takes 13.5 GB. Sharing it once takes {seconds_to_share(6.74e9, 64, 50e9):.2f} seconds, and sharing it "
        f"15 more times takes {15 * seconds_to_share(6.74e9, 64, 50e9):.1f} seconds, if nothing else goes on in the meantime."
    ),
)

# %%
import os

# Ranks are forks of this process, and a process that uses a GPU cannot be forked.
os.environ["CUDA_VISIBLE_DEVICES"] = ""

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
from gradaccum.problems import Problem, flat_gradient
from gradaccum.ranks import on_ranks

# %% [markdown]
# ## Ranks on your machine
#
# You need no second GPU. `on_ranks(2, work)` calls `work(0)` and `work(1)` at the same time, each in its own process, and
# returns a list of what they returned. The processes talk through `torch.distributed`, with a library called gloo. On GPUs it
# would be NCCL, and the code would be the same.
#
# Of the functions of `torch.distributed` that you will call, only one talks to the other ranks: the **all-reduce**. Each rank
# brings a tensor, and each leaves with the sum. It works **in place** and returns nothing. `dist.get_world_size()` says how
# many ranks there are, W.


# %%
def work(rank):
    number = torch.tensor(10.0 + rank)
    dist.all_reduce(number)
    return f"rank {rank} of {dist.get_world_size()} ends with {number.item()}"


on_ranks(2, work)

# %% [markdown]
# An all-reduce is also a meeting point. A rank that gets there waits for the others. If one of them never comes, it waits
# until a timeout ends the run, by default after 10 minutes with NCCL and 30 with gloo. So **all ranks must make the same calls
# in the same order**.

# %% [markdown]
# ## DistributedDataParallel
#
# You rarely call `all_reduce` yourself. You wrap the model, once on each rank:
#
# ```python
# model = DistributedDataParallel(model)
# ```
#
# Wrapping sends the parameters of rank 0 to all others, so that all start alike. From then on each `backward` all-reduces the
# gradients and divides them by W, and every rank has **the mean over the ranks** in `.grad`. Each takes the same step, so the
# models stay identical although no parameter is sent again. (The model that you wrapped is still there, as `model.module`.
# Called directly, it shares nothing.)
#
# Here two ranks with two samples each are compared with one process that has all four:


# %%
problem = Problem(seed=10, epochs=((2, 2, 2, 2),), accumulation_steps=4)


def shared_gradient(rank):
    mine = problem.with_(rank=rank)  # the same model, other samples
    model = DistributedDataParallel(mine.build_model())
    x, y = mine.batches()[0]
    mine.loss_fn(model(x), y).backward()
    return flat_gradient(model).tolist()


of_both = problem.batches()[0], problem.with_(rank=1).batches()[0]
x, y = map(torch.cat, zip(*of_both, strict=True))
alone = batch_gradient(problem.build_model(), problem.loss_fn, (x, y))
for rank, gradient in enumerate(on_ranks(2, shared_gradient)):
    gradient = torch.tensor(gradient, dtype=torch.float64)
    print(f"rank {rank}: largest difference {(gradient - alone).abs().max():.0e}")

# %% [markdown]
# ## Predict again
#
# Take the loop of unit 04 as it is, and give it such a model.

# %%
predict(
    "N = 4, and `model` is a DistributedDataParallel. The loop of unit 04 calls `backward` for every micro-batch and "
    "`step` once per window. What do you get?",
    choices=(
        "wrong updates: the ranks' gradients are averaged four times",
        "right updates, with 1 all-reduce per window",
        "right updates, with 4 all-reduces per window",
        "ranks that drift apart",
    ),
    answer="right updates, with 4 all-reduces per window",
    because=lambda: (
        "The mean over ranks of a sum is the sum of the means, so it does not matter when you share. But each backward shares: "
        f"{len(ranks_over_time.compute(ranks_over_time.Settings(place='sync-every')).own.bytes)} all-reduces were counted in a "
        "window of 4, and 1 would be enough."
    ),
)

# %% [markdown]
# ## no_sync
#
# Three of the four all-reduces are wasted. `model.no_sync()` switches sharing off:
#
# ```python
# with model.no_sync():
#     ...  # .grad adds up, and stays on this rank
# ```
#
# The next backward that shares sends **everything that has accumulated in `.grad`**: its own gradient and those before it.
# So one all-reduce is enough, *at the last micro-batch of the window*. (Where a `with` should do nothing, replace
# `model.no_sync()` with `nullcontext()`.)
#
# What exactly must the `with` contain?

# %%
predict(
    "N = 4. For the first three micro-batches you write `loss = loss_fn(model(x), y)` and on the next line "
    "`with model.no_sync(): loss.backward()`. How many all-reduces are there per window?",
    choices=("0", "1", "3", "4"),
    answer=lambda: str(len(ranks_over_time.compute(ranks_over_time.Settings()).own.bytes)),
    because="DistributedDataParallel prepares its all-reduce in the forward pass. In the backward pass it no longer looks at "
    "no_sync. There is no error and the gradients are right; you only pay. The documentation of no_sync warns of this.",
)

# %% [markdown]
# ## Explore: ranks over time
#
# Here are four ranks with four micro-batches each. The calls and bytes on the right are counted on a real
# DistributedDataParallel. The times on the left come from a model: a backward pass takes as long as two forward passes, an
# all-reduce takes as long as you choose, and all ranks wait for it.
#
# 1. It opens with what you have just predicted. How much of their time do four ranks wait? Press **Fix**.
# 2. Press **Reset** and choose the fast link. Is the mistake still worth repairing? When is the repair worth most?
# 3. With **Fix** and the slow link, go through N = 1, 2, 4. Memory is not a problem here. What does accumulation buy you?
# 4. Press **Drift**. Nothing is faster than this. What is lost?

# %%
explore("ranks_over_time")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. Half of what four ranks could do is lost to waiting. With **Fix** it is a fifth.
# 2. The mistake then costs about a tenth. The repair is worth most where an all-reduce is slow compared with a micro-batch:
#    with big models, small micro-batches, or ranks on several machines.
# 3. You get fewer all-reduces per sample. At N = 1 every micro-batch has one, at N = 4 every fourth.
# 4. Each rank updates with its own samples only, and from then on there are four different models.
# </details>

# %% [markdown]
# ## Four to eight times less?
#
# A text claims that with accumulation "communication falls 4–8×". Count it, on two real ranks with eight micro-batches each,
# with the right loop and with one that shares every time.


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
    slugs = "sync-every", "right"
    return {n: [carried(rank, slug, n) for slug in slugs] for n in (1, 2, 4, 8)}


for n, ((often, much), (once, little)) in on_ranks(2, work)[0].items():
    calls = f"{often} → {once} all-reduces" if once > 1 else f"{often} → 1 all-reduce"
    print(f"N = {n}: {calls}, {much:,} → {little:,} bytes, factor {much // little}")

# %% [markdown]
# So it is **N times** less, in calls and in bytes. You get 4–8 for N between 4 and 8. The factor N needs the *forward* pass
# inside `no_sync`, and how much *faster* it is depends on the link, as you have seen. Another text says that several GPUs are
# faster "where bandwidth allows". It is right.
#
# <details><summary>Overlap, and sharded parameters</summary>
#
# - DistributedDataParallel hides part of an all-reduce behind the backward pass, which the picture leaves out.
# - In FSDP (fully sharded data parallel; here torch's `fully_shard`) each rank keeps only a piece of every **parameter**. By
#   default, every micro-batch gathers the pieces twice (for its forward and for its backward pass) and reduces its gradients,
#   so accumulation saves no communication. You can trade memory for it:
#   `set_requires_gradient_sync(False)` keeps the gradients whole and reduces them once per window, and
#   `set_reshard_after_backward(False)` keeps gathered parameters for the next forward pass. Switch both back on for the last
#   micro-batch.
# </details>
#
# <details><summary>In a real run: clipping, random numbers, and ranks with less data</summary>
#
# - **Clip** where you clipped in unit 06, once per window, after its last backward. By then `.grad` is the same on all ranks,
#   so all of them find the same norm and clip alike.
# - **Random numbers** are each rank's own. If all ranks set the same seed, all draw the same dropout masks, so add the rank to
#   the seed. The models still start alike, because wrapping sends the parameters of rank 0. A checkpoint needs the
#   random state of every rank (unit 11).
# - **A rank with fewer windows** than the others leaves them waiting at an all-reduce. `DistributedSampler` gives all ranks
#   equally many samples: it repeats a few, or leaves some out with `drop_last=True`. Inside `with model.join():` a rank
#   that is done goes on answering the others' all-reduces, but only if all ranks share at the same micro-batches: with N =
#   4, ranks with 8 and 4 micro-batches get through, and ranks with 8 and 6 do not.
# </details>

# %% [markdown]
# ## Stretch: more ranks, more bytes?
#
# In a ring all-reduce the gradient travels around all ranks in W pieces: once to add them up, and once to hand out the sums. A
# rank sends 2 (W − 1) of these pieces. This question is not graded.

# %%
predict(
    "A run goes from 8 ranks to 64 and keeps B and N. How many bytes does each rank send for one all-reduce?",
    choices=("8 times as many", "about as many as before", "an eighth"),
    answer="about as many as before",
    because=lambda: (
        f"2 (W − 1) / W is {2 * 7 / 8:.2f} with 8 ranks and {2 * 63 / 64:.2f} with 64: never more than twice the "
        "gradient. But there are more and smaller pieces, so the delay of each message begins to count."
    ),
)

# %% [markdown]
# ## Exercise 1 · `ddp_train_epoch`
#
# *Difficulty ●●○ · about 15 minutes · 7 points*
#
# Write `ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps)`: one epoch as in unit 04, as every rank
# runs it. `model` is a DistributedDataParallel, `optimizer` is SGD on its parameters, with or without momentum, and
# `micro_batches` is a list with this rank's own micro-batches. Every rank has as many as the others, and the k-th has the same
# size on all of them.
#
# Each update has to use the mean over the window's samples **of all ranks**. Micro-batches may be ragged, the last window may
# be shorter, and `.grad` may hold anything, infinity included, when your function is called. Leave the model in training mode,
# with sharing switched on, and the list as it is. What you return does not matter.
#
# Your function runs on two real processes. What earns points:
#
# - **2 points · full windows, one micro-batch's graph at a time**: after each epoch the parameters of every rank are those of
#   large batches, one per window, with the samples of all ranks. For memory there are 24 micro-batches in one window: the
#   peak memory stays below nine times that of a loop with one graph alive.
# - **2 points · leftover windows, ragged micro-batches and a stale .grad**: the parameters of every rank, in the same way.
# - **1 point · ranks that stay identical**: gradients have moved the parameters, and these are the same on all ranks.
# - **2 points · one all-reduce round per window**: gradients of all ranks travel once per window, leftover windows too, and
#   after full windows the ranks are identical. Bytes are counted, not calls: parameter by parameter is as good as all at
#   once, and a few bytes more, for a loss or a count, cost nothing. With SGD, averaging the parameters after each update
#   is equivalent, and counts, too. Do not send both gradients and parameters for each window.


# %% exercise="ddp_train_epoch"
def ddp_train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    """Train for one epoch on this rank's micro-batches, sharing once per window."""
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
# Any expression may follow `with`, such as `a if last else b`. Which of your micro-batches need `no_sync`, and which need
# `nullcontext`?
# </details>
#
# <details><summary>Hint 3: the last one</summary>
#
# In a leftover window the last micro-batch is not the N-th. If you have the window as a list, you know how long it is.
# </details>
#
# <details><summary>How to read the fingerprint of a verdict</summary>
#
# It belongs to one rank, and it has a column for each micro-batch of *every* rank: in each epoch first those of rank 0, then
# those of rank 1. Where one half of an epoch is empty, nothing came from that half's rank.
# </details>

# %% [markdown]
# ## Tokens on ranks
#
# In exercise 1 all ranks had the same number of samples. Language models count **tokens**, and sequences differ in length.
# Each rank averages over its own tokens, and then DistributedDataParallel averages over ranks. That is a mean of means
# again. You know the remedy: weight by the share. But now the shares are spread over several processes.

# %%
tokens, mean_losses = [30, 10], [1.0, 3.0]
print("mean over ranks: ", sum(mean_losses) / 2)
total = sum(n * loss for n, loss in zip(tokens, mean_losses, strict=True))
print("mean over tokens:", total / sum(tokens))

# %% [markdown]
# ## Exercise 2 · `global_token_scale`
#
# *Difficulty ●●○ · about 8 minutes · 3 points*
#
# Write `global_token_scale(local_tokens)`. Every rank calls it with the number of its tokens, a tensor with one whole
# number, and multiplies its loss, **the mean over its own tokens**, by what your function returns: a number or a tensor with
# one number. With it, DistributedDataParallel's average over the ranks must become the mean over the tokens of **all**
# ranks. Leave `local_tokens` as it is.
#
# For a rank without tokens, return 0; if no rank has any, return 0 on all of them. (The mean over no tokens is NaN, and 0 ×
# NaN is NaN as well. Such a rank has to replace its loss, for instance by its sum over tokens, which is 0. That is not part
# of this exercise.)
#
# What earns points:
#
# - **1 point · two ranks with different numbers of tokens**: the factor on both.
# - **1 point · another number of ranks**: the same with three.
# - **1 point · ranks without tokens**: one of two ranks, and both.
#
# To try your function, run `on_ranks(2, lambda rank: float(global_token_scale(torch.tensor([30, 10][rank]))))`.


# %% exercise="global_token_scale"
def global_token_scale(local_tokens):
    """What to multiply this rank's mean loss by, to average over the tokens of all."""
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
# With 30 and 10 tokens the weights of the ranks have to be 30/40 and 10/40. DistributedDataParallel weights each by 1/2. By
# what do you multiply 1/2 to get 30/40?
# </details>
#
# <details><summary>Hint 2: what the others have</summary>
#
# An all-reduce of the counts tells every rank their sum. It works in place, and you will still need your own count afterwards.
# </details>
#
# <details><summary>Hint 3: no tokens anywhere</summary>
#
# Divide by at least 1: the numerator is 0 then. Tensors have `clamp(min=1)`.
# </details>

# %% [markdown]
# ## What to remember
#
# - **An update averages over B × N × W samples.** DistributedDataParallel divides by W. If you do so too, you divide twice.
# - **Share at the last micro-batch of each window, leftovers included.** `no_sync` goes around the *forward and backward*
#   passes of all others.
# - **Sharing too often costs time, sharing too little costs the model**: ranks that all leave out an all-reduce drift apart
#   without an error.
# - **Communication falls by a factor of N**, in calls and bytes. How much time that saves depends on the link.
# - Ranks with unequal numbers of tokens need a weight: their share of all tokens, times W. With N > 1, a micro-batch's
#   weight is its share of **the whole window's tokens, on all ranks**, again times W.
#
# <details><summary>References</summary>
#
# - torch on [DistributedDataParallel and
#   no_sync](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html), and on
#   [fully_shard](https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html), which is FSDP
# - Accelerate on [gradient synchronization](https://huggingface.co/docs/accelerate/concept_guides/gradient_synchronization),
#   with timings
# - Li et al. 2020, [PyTorch Distributed](https://arxiv.org/abs/2006.15704): how DistributedDataParallel works
# - The claims of this unit are rows 26, 32, 33 and 38 of [the claims ledger](../docs/claims.md).
# </details>
#
# Next: **[11 · Running it](11_running_it.ipynb)**
