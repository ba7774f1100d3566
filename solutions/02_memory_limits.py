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
# # 02 · Memory limits
#
# **Why can't the batch simply be larger?**
#
# You know the message: *CUDA out of memory*. You halve the batch, it runs, and you wonder what you gave up.
#
# Take the run from the start page: Llama 2 with 7 billion parameters, and about 1,000 sequences in every update. A large GPU
# has 80 GB. Before the first sequence, mixed-precision training with AdamW fills more than that, and every sequence asks for
# another 19 GB.
#
# You will count these bytes, fit a line to them, and plan with it.
#
# *About 45 minutes, 10 points. You need unit [01 · Batches and gradients](01_batches_and_gradients.ipynb).*

# %%
parameters, layers, width, tokens, vocabulary = 6.74e9, 32, 4096, 4096, 32_000
bytes_each = {"weights": 2, "gradients": 2, "weights in float32": 4}
bytes_each |= {"Adam's first moment": 4, "Adam's second moment": 4}
for name, size in bytes_each.items():
    print(f"{name:22} {size} bytes a parameter = {size * parameters / 1e9:5.1f} GB")
fixed_bytes = sum(bytes_each.values()) * parameters
blocks, logits = 34 * width * tokens * layers, 4 * tokens * vocabulary  # bytes of one sequence
sequence_bytes = blocks + logits
print(f"fixed {fixed_bytes / 1e9:.0f} GB, activations of one sequence {sequence_bytes / 1e9:.1f} GB,")
print(f"activations of the recipe's 1,024 sequences {1024 * sequence_bytes / 1e12:.1f} TB")

# %% [markdown]
# <details><summary>Where these figures come from</summary>
#
# The 16 bytes for each parameter are those of [ZeRO](https://arxiv.org/abs/1910.02054) (section 3): weights and gradients in
# 16 bits, and AdamW's copy of the weights with its two moments in 32 bits. The 34 bytes for each layer, token and unit of
# `width` are the estimate of [Korthikanti et al.](https://arxiv.org/abs/2205.05198) for the block of a GPT, without the
# attention matrix, which modern kernels do not store. The logits are in float32. Llama's block differs in details, so read
# the sum as about 19 GB.
# </details>

# %% [markdown]
# ## Predict
#
# Training with AdamW keeps four things in memory: the weights, their gradients, the optimizer's **state** (what it remembers
# from one update to the next), and the **activations**, which the forward pass computed and the backward pass will need.

# %%
from gradaccum.phenomena import memory_bar
from gradaccum.predict import predict

predict(
    "A batch of 512 samples does not fit. You cut it into N = 4 micro-batches of 128, run them one after the other, and add up "
    "their gradients. What happens to the memory you need?",
    choices=(
        "it falls to a quarter",
        "it falls, but not to a quarter",
        "it stays: the four gradients have to be kept somewhere",
        "it stays: the samples are the same",
    ),
    answer="it falls, but not to a quarter",
    because=lambda: (
        f"Only the activations fall to a quarter. {memory_bar.describe(memory_bar.compute(memory_bar.PRESETS['Fix']))}"
    ),
)

# %%
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from autograder.check import check
from gradaccum.explore import explore
from gradaccum.recording import LiveBytes

# %% [markdown]
# ## Explore: where the memory goes
#
# Each bar shows one way to cut 512 samples into N micro-batches of B, measured while a small model trains. (1 KiB is 1,024
# bytes.) The dashed line is the budget. On the right you see the same totals against B.
#
# 1. You begin over the budget. Choose a larger N until it fits. Which part of the bar shrinks, and which parts do not?
# 2. Tick **Activation checkpointing**, which forgets activations and computes them again when needed. Does a larger N still
#    help?

# %%
explore("memory_bar")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. The activations, and nothing else. From N = 4 on it fits. The grey, pink and green parts are the same for every N, and
#    together they set a floor.
# 2. Yes. With checkpointing each sample takes less memory, and with accumulation fewer samples are there at once. Together
#    they save the most.
# </details>
#
# <details><summary>Fine print: when exactly is memory highest?</summary>
#
# Without checkpointing, the bars show the end of a forward pass. The backward pass frees activations as it goes, but needs
# the gradient of one activation at a time: another 6% of the activations here. These bytes grow with B too, so the line stays
# a line.
# </details>

# %% [markdown]
# ## Four kinds of bytes
#
# | what | how much, in copies of the weights, all in one precision | grows with B? | with N? |
# |---|---|---|---|
# | weights | 1 | no | no |
# | gradients | 1: micro-batches are added into the same `.grad` | no | no |
# | optimizer state | 0 (SGD), 1 (momentum), 2 (AdamW) | no | no |
# | activations | a fixed number of bytes for each sample | **yes** | no |
#
# So memory is a line in B: **fixed + per sample · B**. N does not appear in it. A larger N helps only because it allows a
# smaller B.
#
# <details><summary>What some texts say</summary>
#
# You may read that N = 4 means "4x memory reduction", and that "the gradient buffer grows" from micro-batch to micro-batch.
# The first is true of the activations only, and the second is false (row 8 of [the claims ledger](../docs/claims.md)). One
# text says both that accumulation shrinks the KV cache of a language model and that it does not. Neither is to the point (row
# 9), as you see next.
# </details>

# %% [markdown]
# ## And the key-value cache?
#
# While a language model generates text, a KV cache keeps what attention has computed for the earlier tokens, for the next
# *generated token* to use. Training sends whole sequences through at once, so it should have none. Count what is alive
# between two micro-batches:

# %%
torch.manual_seed(0)
attention = nn.MultiheadAttention(16, num_heads=2, batch_first=True)
with LiveBytes() as live:  # counts the bytes of tensors made from here on and alive
    for k in range(4):
        x = torch.randn(8, 12, 16)
        loss = attention(x, x, x)[0].square().mean()
        held = live.now
        loss.backward()
        del x, loss
        print(f"micro-batch {k + 1}: {held} bytes after forward, {live.now} after backward")
print(f"the gradients alone: {sum(p.grad.nbytes for p in attention.parameters())} bytes")

# %% [markdown]
# After every micro-batch only the gradients are left: there is no cache to save.

# %% [markdown]
# ## What autograd keeps
#
# For its backward pass an operation needs some of the tensors it worked with: a linear layer needs its input and its weight,
# a tanh its result. Autograd keeps them until `backward()` has used them.
#
# Inside `saved_tensors_hooks(pack, unpack)`, every such tensor goes through your function `pack`. Autograd keeps what `pack`
# returns, and `unpack` turns it back into the tensor. If you forget the `return`, nothing is kept, and the tensor's address
# may be given to another one.

# %%
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 2))
x, y = torch.randn(10, 6), torch.randn(10, 2)


def pack(tensor):
    place = tensor.untyped_storage().data_ptr() % 1_000_000  # the last digits of its address
    print(f"kept: {tuple(tensor.shape)!s:8} {tensor.nbytes:4} bytes, storage at {place:6}")
    return tensor


with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
    loss = F.mse_loss(model(x), y)

# %% [markdown]
# Six tensors went by, but look at the addresses: the result of the tanh appears twice, kept by the tanh and by the layer
# after it. It is one piece of memory. The tensor of shape (4, 2) is the second layer's weight, transposed, which is in memory
# anyway. The first layer's weight is not kept: only the gradient of `x` would need it.

# %% [markdown]
# ## Tensors and storages
#
# A tensor is a *view* of a **storage**, the actual memory. Several tensors may share one, and a small view keeps all of it
# alive:

# %%
h = torch.zeros(10, 6)
view = h[:, :2]
storage = view.untyped_storage()
print("the view's own elements:", view.nbytes, "bytes")
print("the storage it keeps:   ", storage.nbytes(), "bytes")
print("the same storage as h's:", storage.data_ptr() == h.untyped_storage().data_ptr())

# %% [markdown]
# Two storages that are both alive are the same if their addresses, `.data_ptr()`, are equal.

# %% [markdown]
# ## Exercise 1 · `saved_bytes`
#
# *Difficulty ●●● · about 12 minutes · 4 points*
#
# Write `saved_bytes(model, loss_fn, x, y)`: the number of bytes that autograd holds for the backward pass when the forward
# pass of `loss_fn(model(x), y)` is over.
#
# - Count **storages, each once**, and with all their bytes.
# - **Parameters do not count**, frozen or not: leave out the storages that belong to a parameter of the model.
# - **Everything else that autograd keeps does count**, `x` and `y` too.
#
# What earns points, each on a model of its own, for the exact number:
#
# - **1 point · what a linear layer and the loss keep**: a single layer, so nothing is shared and no parameter is kept.
# - **1 point · a tensor that two operations keep**: a layer and a tanh, in float64 where your device has it.
# - **1 point · parameters, which do not count**: many layers, each after a GELU, one layer frozen, a slice of a
#   parameter, masks, dropout in either mode, and a buffer that scales the model's output.
# - **1 point · a view, which keeps its whole storage**: a layer whose output is cut into slices, two of which are kept;
#   `x` is a slice as well.
#
# The last model has a loss function of its own. Whether you call `backward()` does not matter. Apart from `.grad`, the
# model, `x` and `y` stay as they are, so that a second call returns the same.


# %% exercise="saved_bytes"
def saved_bytes(model, loss_fn, x, y):
    """Bytes autograd holds for the backward pass: each storage once, parameters not counted."""
    ### BEGIN SOLUTION
    sizes = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = loss_fn(model(x), y)
    parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
    assert loss.requires_grad  # its graph is still alive, so no address was used twice
    return sum(size for address, size in sizes.items() if address not in parameters)
    ### END SOLUTION


# %% check="saved_bytes"
check(saved_bytes)

# %% [markdown]
# <details><summary>Hint 1: where to begin</summary>
#
# Take the cell above that prints, and let `pack` note something instead. It must still return the tensor. Both the model and
# the loss belong inside the `with`.
# </details>
#
# <details><summary>Hint 2: each storage once</summary>
#
# A dictionary has each key once. Which key is the same for two tensors that share their memory, and different otherwise? What
# would you store under it?
# </details>
#
# <details><summary>Hint 3: parameters</summary>
#
# A weight may come by as a view of itself, so comparing tensors does not find it. It shares something with the parameter all
# the same.
# </details>

# %% [markdown]
# ## From counts to a line
#
# You cannot try a B that does not fit. But memory is a line in B, so measure a few small micro-batches and extend it. Here
# are five measurements of the model in the picture, with AdamW.

# %%
steps = [32, 16, 8, 4, 2]
sizes = [512 // n for n in steps]
totals = [memory_bar.measure(n, "AdamW", checkpointing=False).total for n in steps]
for size, total in zip(sizes, totals, strict=True):
    print(f"B = {size:3}: {total:8} bytes")

# %% [markdown]
# Counted bytes lie exactly on a line. On a real GPU the allocator rounds and libraries take workspace, so bytes lie *near*
# one. The usual choice then is **least squares**: the line with the smallest sum of squared distances, $\sum_k
# (\text{bytes}_k - \text{fixed} - \text{per sample}\cdot B_k)^2$.

# %% [markdown]
# ## Exercise 2 · `memory_line`
#
# *Difficulty ●●○ · about 8 minutes · 3 points*
#
# Write `memory_line(sizes, bytes)`. It is given a list of micro-batch sizes, in any order and perhaps with repetitions, and
# a list of the bytes each of them needed, and returns the pair `(fixed, per_sample)` of the least-squares line
# `bytes = fixed + per_sample · B`.
#
# What earns points:
#
# - **1 point · points on a line**: lists of points that lie on it, some at many gigabytes.
# - **2 points · points off a line, by least squares**: lists of points that lie on no line. The fixed part may come out below
#   zero.
#
# Three correct digits are enough. Any library will do.


# %% exercise="memory_line"
def memory_line(sizes, bytes):
    """The pair (fixed, per_sample) of the least-squares line fixed + per_sample * size."""
    ### BEGIN SOLUTION
    size = torch.tensor(sizes, dtype=torch.float64)
    held = torch.tensor(bytes, dtype=torch.float64)
    system = torch.stack([torch.ones_like(size), size], dim=1)
    fixed, per_sample = torch.linalg.lstsq(system, held[:, None]).solution.flatten().tolist()
    return fixed, per_sample
    ### END SOLUTION


# %% check="memory_line"
check(memory_line)

# %% [markdown]
# <details><summary>Hint 1: by hand</summary>
#
# The slope is $\sum_k (B_k - \bar B)(m_k - \bar m) \,/\, \sum_k (B_k - \bar B)^2$, where $m_k$ are the bytes and a bar is a
# mean. The line goes through $(\bar B, \bar m)$.
# </details>
#
# <details><summary>Hint 2: by library</summary>
#
# `numpy.polyfit`, `statistics.linear_regression` and `torch.linalg.lstsq` can all do it. Check which of the two numbers each
# returns first. For `torch.linalg.lstsq(A, b)` the matrix A has a row $(1, B_k)$ for each point.
# </details>

# %% [markdown]
# ## What it costs
#
# If small micro-batches save memory, why not always take B = 1? Count the arithmetic first, in FLOPs (floating-point
# operations):

# %%
network = memory_bar.Stack(checkpointing=False)
inputs, targets = torch.randn(2, 512, memory_bar.WIDTH)
for n in (1, 4, 16, 64):
    with FlopCounterMode(display=False) as counter:
        for a, b in zip(inputs.chunk(n), targets.chunk(n), strict=True):
            F.mse_loss(network(a), b).backward()
    print(f"B = {512 // n:3}, N = {n:2}: {counter.get_total_flops():,} FLOPs")

# %% [markdown]
# The matrix products, which are nearly all of the arithmetic and all that this counter counts, are the same. The time is not:
# every call into torch costs something, and a device needs many samples at once to be busy. We trained a transformer of 287
# million parameters on an H200, with the 128 sequences of each update cut in eight ways.
#
# 1. Press **Fix**. How much memory do two micro-batches save, and how much speed do they cost?
# 2. Give the GPU 24 GB. Which B would you take, and where does a smaller one begin to cost a lot?

# %%
explore("real_gpu")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. Nearly half of the memory, for less than 3% of the speed.
# 2. B = 16: a sixth of the memory that one large batch needs, at 93% of the speed. Below B = 8 each halving of B about halves
#    the speed: the GPU is done with a micro-batch before Python has sent it the next operations.
# </details>

# %% [markdown]
# Some texts say that throughput stays the same, others that accumulation speeds training up. Neither is quite right:
#
# - **throughput stays the same only while micro-batches are large enough** to fill the device. Below that it falls;
# - on a GPU, accumulation **does not speed an update up**: at best it is as fast as the whole batch at once.
#
# So take the **largest B that fits**, then the accumulation steps that the effective batch size B × N needs.

# %% [markdown]
# ## Exercise 3 · `plan_micro_batches`
#
# *Difficulty ●○○ · about 6 minutes · 3 points*
#
# A recipe asks for updates of `effective_batch` samples. A micro-batch of B samples needs `fixed + per_sample * B` bytes, and
# you have `budget` bytes. Write `plan_micro_batches(effective_batch, budget, fixed, per_sample)`: it returns the pair `(B, N)`,
# two integers, with the **largest** B that fits the budget and for which B × N is exactly `effective_batch`.
#
# What earns points:
#
# - **1 point · the largest micro-batch that divides and fits**: both numbers are integers, of Python, numpy or torch,
#   because a loop runs over `range(N)`. The effective batch may be prime or large, and all of it may fit.
# - **1 point · a budget that is used to the last byte**: a micro-batch that needs exactly the budget fits.
# - **1 point · a ValueError with a reason when nothing fits**: not even one sample. Any words will do, but an empty message
#   will not.
#
# All four arguments are whole numbers; `effective_batch` and `per_sample` are positive, and the others may be zero or
# negative.


# %% exercise="plan_micro_batches"
def plan_micro_batches(effective_batch, budget, fixed, per_sample):
    """The pair (B, N) with the largest B that divides effective_batch and fits the budget."""
    ### BEGIN SOLUTION
    for size in range(effective_batch, 0, -1):
        if effective_batch % size == 0 and fixed + per_sample * size <= budget:
            return size, effective_batch // size
    raise ValueError(f"one sample needs {fixed + per_sample} bytes, the budget is {budget}")
    ### END SOLUTION


# %% check="plan_micro_batches"
check(plan_micro_batches)

# %% [markdown]
# <details><summary>Hint</summary>
#
# Try every B from `effective_batch` down; the first that divides and fits is the answer. What if none does?
# </details>


# %% [markdown]
# ## Stretch: the run of 7 billion parameters, planned
#
# Back to the run at the top of this unit. (Not graded.)
# %%
def plan(devices):
    budget = 80e9 - fixed_bytes / devices  # the fixed part is spread over the devices, as ZeRO and FSDP do
    share = 1024 // devices
    size = max(b for b in range(1, share + 1) if share % b == 0 and b * sequence_bytes <= budget)
    return size, share // size


predict(
    "Eight GPUs of 80 GB share the fixed part evenly, and each takes an eighth of the 1,024 sequences. Which is the "
    "largest B that divides this share and fits, and what is N?",
    choices=("B = 4, N = 32", "B = 3, N = 43", "B = 2, N = 64", "B = 1, N = 128"),
    answer=lambda: "B = {}, N = {}".format(*plan(8)),
    because=lambda: (
        f"An eighth of the fixed part leaves {80 - fixed_bytes / 8e9:.1f} GB, room for "
        f"{(80e9 - fixed_bytes / 8) // sequence_bytes:.0f} sequences of {sequence_bytes / 1e9:.1f} GB. "
        f"The largest B that divides 128 and fits is {plan(8)[0]}. So this run has N = {plan(8)[1]}."
    ),
)

# %% [markdown]
# ## What to remember
#
# - Memory is **fixed + per sample · B**. Weights, gradients and optimizer state are fixed; **activations** grow with B.
# - Accumulation saves **activations only**. Training has no KV cache.
# - Autograd keeps **storages**. A view keeps its whole storage, and what two operations keep is in memory once.
# - The arithmetic per sample is the same for every N, **the time is not**. Take the largest B that fits, then N.
#
# <details><summary>References</summary>
#
# - Rajbhandari et al. 2019, [ZeRO: Memory Optimizations Toward Training Trillion Parameter
#   Models](https://arxiv.org/abs/1910.02054)
# - Korthikanti et al. 2022, [Reducing Activation Recomputation in Large Transformer Models](https://arxiv.org/abs/2205.05198)
# - Touvron et al. 2023, [Llama 2](https://arxiv.org/abs/2307.09288)
# - PyTorch: [hooks for saved tensors](https://pytorch.org/docs/stable/autograd.html#torch.autograd.graph.saved_tensors_hooks),
#   [activation checkpointing](https://pytorch.org/docs/stable/checkpoint.html)
# - [The claims ledger](../docs/claims.md): rows 8 to 11, 31 and 34
# </details>
#
# You can cut a batch so that it fits. But is the update that comes out the same? **[03 · Accumulate](03_accumulate.ipynb)**
