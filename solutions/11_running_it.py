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
# # 11 · Running it
#
# **How do you stop, resume, watch and plan a run?**
#
# In May 2021 a GPT-NeoX run, restarted again and again because its jobs had time limits, [kept returning to data that it had
# already seen](https://github.com/EleutherAI/gpt-neox/pull/308): the code that found its place in the data forgot the
# accumulation steps. And restarts are the rule. Llama 3 on 16,384 GPUs was [interrupted 466 times in 54
# days](https://arxiv.org/abs/2407.21783), about once every three hours.
#
# *About 45 minutes, 10 points. You need units [02 · Memory limits](02_memory_limits.ipynb),
# [05 · Learning rate](05_learning_rate.ipynb) and [06 · Mixed precision and clipping](06_mixed_precision_and_clipping.ipynb).*

# %% [markdown]
# ## Predict
#
# A **checkpoint** is a file from which a killed run can continue. A script that trains with N = 4 writes one after every
# micro-batch: the `state_dict` of model, optimizer, schedule and scaler, the place in the data, and the state of the random
# numbers.

# %%
import os

os.environ["CUDA_VISIBLE_DEVICES"] = ""  # runs are killed in forks, and a process that uses a GPU cannot be forked

from gradaccum.phenomena import resume
from gradaccum.predict import predict

predict(
    "The script is killed after micro-batch 6, in the middle of a window, and started again from the checkpoint that it has "
    "just written. Does it end where it would have ended?",
    choices=(
        "yes, to the last bit",
        "yes, up to rounding",
        "no, one update misses some of its gradients",
        "no, some micro-batches are trained on twice",
    ),
    answer="no, one update misses some of its gradients",
    because=lambda: resume.describe(resume.compute(resume.PRESETS["Break"])),
)

# %%
import inspect
import textwrap
from time import perf_counter

import torch
from torch.nn import functional as F

from autograder.check import check
from gradaccum.explore import explore
from gradaccum.phenomena import memory_bar
from gradaccum.recording import LiveBytes
from gradaccum.resuming import Run, RunProblem

# %% [markdown]
# ## Explore: killed and resumed
#
# This small run has two epochs of ten micro-batches, and N = 4. It is killed at the solid vertical line and continues from
# its last checkpoint. On the right is how far its parameters are from those of a run that was never killed.
#
# 1. It opens with a checkpoint after every micro-batch. Would you notice from the losses? Then look to the right.
# 2. Press **Fix**. Where does the run continue, and what is computed twice?
# 3. Press **Fix** again, and under **Checkpoint lacks** choose **the order of the epoch**. Then kill it after micro-batch 10
#    instead. Does the order matter both times?

# %%
explore("resume")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. The losses look alike, yet the run takes another path. What waited in `.grad` is gone, so the next update is made of the
#    rest of its window.
# 2. From the last update, after micro-batch 4. Two micro-batches are computed again, and every bit is the same.
# 3. Only the first time: a run killed between two epochs does not need the order of the old one. So one lucky test proves
#    nothing.
# </details>

# %% [markdown]
# ## Between two updates
#
# "Checkpoint after updates, not after micro-batches" is good advice: gradients are in no `state_dict`.
#
# A kill may also come *while* a checkpoint is being written, and half a file is useless. So write it under another name in
# the same folder; then `os.replace(new, old)` puts it in the old one's place, in one step.
#
# Here is everything that the run in the picture does for one micro-batch. `run.window_open` is true while gradients wait in
# `.grad` for the rest of their window.

# %%
for method in (Run.train_micro_batch, Run._update):
    print(textwrap.dedent(inspect.getsource(method)))

# %% [markdown]
# ## What the future of a run depends on
#
# It depends on everything that this code reads and changes:
#
# | in the run | what it is | how to read and set it |
# |---|---|---|
# | `run.model`, `run.optimizer` | parameters; AdamW's averages | `.state_dict()`, `.load_state_dict(state)` |
# | `run.scheduler`, `run.scaler` | the place in the schedule; the scale of the gradients | likewise |
# | `run.position` | micro-batches done since the beginning, over all epochs | an integer attribute |
# | `run.order` | the order of the samples in this epoch, a tensor | an attribute |
# | `run.shuffler` | the generator that draws the next epoch's order | `.get_state()`, `.set_state(state)` |
# | torch's own random numbers | what dropout draws from | `torch.get_rng_state()`, `torch.set_rng_state(state)` |
#
# <details><summary>What other runs may need, gradients in a checkpoint, and power failures</summary>
#
# Other runs may need `torch.cuda.get_rng_state_all()` for a GPU, `random.getstate()`, the state of a data loader's workers,
# and the random state of every rank.
#
# You *could* save what waits in `.grad` as well, at a price. For Llama 2 with 7 billion parameters, in mixed precision, the
# float32 weights and AdamW's two averages take 12 bytes per parameter, 81 GB in all. The 16-bit gradients add 2 bytes each,
# another 13 GB.
#
# To survive a power failure too, call `os.fsync` on the new file before `os.replace`.
# </details>

# %% [markdown]
# The four objects give you their states like this. (The scale you will see is so high that gradients overflow now
# and then.)

# %%
OBJECTS = ("model", "optimizer", "scheduler", "scaler")
run = RunProblem().start()
# getattr(run, "model") is run.model
states = {name: getattr(run, name).state_dict() for name in OBJECTS}
states["scaler"]

# %% [markdown]
# ## Exercise 1 · `load_checkpoint`
#
# *Difficulty ●●● · about 12 minutes · 5 points*
#
# Write two functions, both in the next cell.
#
# - `save_checkpoint(path, run)` is called after **every micro-batch**. It only reads the run. If a checkpoint is due, it
#   writes one to the file `path`, or to other files in the same folder. (Use plain files: marking does not keep
#   subfolders, and cannot follow what a database does.)
# - `load_checkpoint(path, run)` is called with a run that the same script has just built again, from the same seeds. It
#   brings this run to where the checkpoint was made. If there is no checkpoint yet, it leaves the run alone. (In marking,
#   the run that is killed begins with other weights, so training again does not lead there.)
#
# `path` is a string; its folder exists, and nothing else is in it. `torch.save(something, path)` writes dictionaries, lists,
# tuples, tensors and numbers; `torch.load(path)` reads them back. `os.path.exists(path)` says whether a file is there.
#
# To try them out: `run = RunProblem().start()` builds a run with everything, and `run.train_micro_batch()` trains it on one
# micro-batch. `RunProblem(shuffled=False, dropout=False, overflowing=False).start()` builds a simple one, with all attributes
# of the table.
#
# The run is killed; only the files in the folder are left. The script starts again in a new process, loads and trains on, and
# saves as before. **All its losses and the final parameters have to be the same, to the last bit, as those of a run that was
# never killed, and nothing before the last update may be trained on again.** What earns points:
#
# - **1 point · a simple run, killed after each epoch**: it has no dropout, the order is the same in every epoch, and gradients
#   never overflow.
# - **2 points · a run with everything, killed after every update**: dropout, another order in every epoch, leftover windows,
#   and a scale of the gradients that rises and falls. A resumed run may be killed, too.
# - **1 point · kills in the middle of a window**: the simple run, killed after each micro-batch that does not end a window.
# - **0.5 points · a run that has no checkpoint yet**: the run with everything, killed before the first micro-batch.
# - **0.5 points · a kill while the checkpoint is being written**: the simple run is killed once inside `save_checkpoint`:
#   between two calls that it makes, or with a file half written. Here it resumes from the new checkpoint or from
#   the one before.


# %% exercise="load_checkpoint"
def save_checkpoint(path, run):
    """Called after every micro-batch: write a checkpoint to path if one is due."""
    ### BEGIN SOLUTION
    if not run.window_open:
        state = {name: getattr(run, name).state_dict() for name in OBJECTS}
        random = [run.shuffler.get_state(), torch.get_rng_state()]
        torch.save((state, run.position, run.order, random), path + ".part")
        os.replace(path + ".part", path)  # at once: there is always the whole old file or the whole new one
    ### END SOLUTION


def load_checkpoint(path, run):
    """Bring a fresh run to where the checkpoint was made, if there is one at path."""
    ### BEGIN SOLUTION
    if os.path.exists(path):
        state, run.position, run.order, (shuffler, rng) = torch.load(path)
        for name in OBJECTS:
            getattr(run, name).load_state_dict(state[name])
        run.shuffler.set_state(shuffler)
        torch.set_rng_state(rng)
    ### END SOLUTION


# %% check="load_checkpoint"
check(load_checkpoint)

# %% [markdown]
# <details><summary>Hint 1: where to begin</summary>
#
# Begin with `states` from above and add the other rows of the table. Its last column says how each comes back.
# </details>
#
# <details><summary>Hint 2: kills in the middle of a window</summary>
#
# When may a checkpoint be written? `run.window_open` knows. In all other calls, leave the old checkpoint as it is.
# </details>
#
# <details><summary>Hint 3: a kill while writing</summary>
#
# If the last line of your `save_checkpoint` were never reached, would `path` still hold a whole checkpoint? And what if the
# line before it had done only half of its work?
# </details>

# %% [markdown]
# ## Stretch: how often?
#
# If a checkpoint takes $w$ minutes to write and the run is interrupted every $m$ minutes on average, then saving every $t$
# minutes costs about $w/t$ of the time for writing and $t/(2m)$ for repeating what was lost. (Not graded.)

# %%
# In minutes, for Llama 3
between_interruptions = 54 * 24 * 60 / 466

predict(
    "A run is interrupted as often as that of Llama 3, and a checkpoint takes one minute to write. How often should it save?",
    choices=("every 2 minutes", "every 18 minutes", "every 3 hours"),
    answer="every 18 minutes",
    because=lambda: (
        "The cost is lowest at t = √(2wm), which Young found in 1974. "
        + " ".join(
            f"Saving every {t} minutes costs {1 / t + t / (2 * between_interruptions):.0%} of the time." for t in (2, 18, 180)
        )
    ),
)

# %% [markdown]
# ## Predict again
#
# Now watch a run as it goes on.

# %%
predict(
    "A loop does `loss = loss / N`, then `loss.backward()`, and logs `loss.item()` once per update. You go from N = 2 to N = 8 "
    "with B × N unchanged. What does the logged loss do?",
    choices=("it stays the same", "it falls to about a quarter", "it rises to about four times", "it only gets noisier"),
    answer="it falls to about a quarter",
    because="The training is the same, but the log shows one micro-batch's loss divided by N, and N is four times as "
    "large. The curve looks better, and nothing has improved.",
)

# %% [markdown]
# ## Explore: run dashboard
#
# A small run of 20 updates of 32 samples is logged with a classic mistake. On the right is the dashboard at its end, with the
# wrong number framed. On the left is that number at every update: as logged (orange), and as it should be (green, dashed).
#
# 1. It opens with the mistake from the question. Go through the others. Which make a run look better than it is?
# 2. Press **Fix** and change N. Which numbers on the dashboard change, and how would you choose N?

# %%
explore("run_dashboard")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. The scaled loss makes it look better, and so does reading memory after the update. Counting micro-batches as steps and
#    counting the samples of one micro-batch make it look worse. Keeping validation losses with their graphs really does make
#    it worse: that memory is in use. The loss of
#    the last micro-batch looks noisier, and a run logged with a wrong effective batch size cannot be repeated. With N = 1 you
#    see only the two about memory: a window *is* a micro-batch. So the others survive in code that once ran without
#    accumulation.
# 2. Speed and memory. A larger N saves memory and costs time, so take the smallest that memory allows. (Losses and memory are
#    measured. Time is modelled, with fixed costs for a micro-batch, a sample and an update.)
# </details>

# %% [markdown]
# ## What to write down
#
# Write a line **per update**, with
#
# - the mean **loss** over all samples of its window, before the update;
# - **samples per second** over the whole window, including its update;
# - the **effective batch size** and the **rate** that the update used;
# - the **peak** of memory, not what is left after the update (`torch.cuda.max_memory_allocated()` on a GPU).
#
# Write numbers, never tensors: a loss that you keep holds on to its graph. After `backward()` that is a skeleton without
# activations. But a validation loss computed without `torch.no_grad()` holds them all:

# %%
network, x = memory_bar.Stack(checkpointing=False), torch.randn(8, memory_bar.WIDTH)
for name, goes_backward in {"after backward": True, "without backward": False}.items():
    with LiveBytes() as live:
        kept = []
        for _ in range(20):
            kept.append(network(x).square().mean())
            if goes_backward:
                kept[-1].backward()
        network.zero_grad()
        print(f"20 losses kept {name:16}: {live.now:8,} bytes alive")

# %% [markdown]
# `loss.item()` is a plain number. A mean loss times the number of samples is a sum, and sums add up.
#
# <details><summary>The clock and a GPU</summary>
#
# A GPU's work is queued, and a clock read too early measures the queueing. `loss.item()` waits for what was queued before
# it, not for an update that comes later: call `torch.cuda.synchronize()` before you read the clock at the end of a window. On
# an H200, a window of 0.77 seconds seemed to take 0.68 right after its last `backward()`, and 0.76 after `item()`
# ([recorded](../docs/gpu.md)).
# </details>

# %% [markdown]
# ## Exercise 2 · `RunMeter`
#
# *Difficulty ●●○ · about 8 minutes · 3 points*
#
# Write a class `RunMeter`. A loop tells it what happens:
#
# - `RunMeter(clock)`: made right before the first window begins. `clock()` says what time it is, in seconds.
# - `meter.micro_batch(loss, samples)`: called after each backward pass, with the micro-batch's mean loss (a tensor with its
#   graph, *before* it was scaled) and with the number of its samples. Leave the loss as it is.
# - `meter.update(lr)`: called after each update with the rate it used, when the next window is about to begin. It returns a
#   new dictionary with the numbers `"loss"`, `"samples_per_second"`, `"effective_batch"` and `"lr"` of this window. More
#   keys do no harm.
#
# There may be several meters at once, each with its own run.
#
# What earns points, for runs with full windows, with ragged micro-batches and with a leftover window:
#
# - **1 point · the mean loss over the samples of each window**: all samples count equally.
# - **1 point · samples per second over the whole window**: from the end of the previous window, or from when the meter was
#   made, to this call of `update`.
# - **0.5 points · effective batch size and rate of each update**: the samples the update averages over, on this rank.
# - **0.5 points · no graph kept alive**: when `update` returns, no graph of the window is alive because of your meter.


# %% exercise="RunMeter"
class RunMeter:
    """Collects what happens in a window and reports it once per update."""

    def __init__(self, clock=perf_counter):
        ### BEGIN SOLUTION
        self.clock, self.began = clock, clock()
        self.loss = self.samples = 0
        ### END SOLUTION

    def micro_batch(self, loss, samples):
        """After each backward pass: the micro-batch's mean loss, and its samples."""
        ### BEGIN SOLUTION
        self.loss += loss.item() * samples
        self.samples += samples
        ### END SOLUTION

    def update(self, lr):
        """After each update: the four numbers of its window, as a dictionary."""
        ### BEGIN SOLUTION
        loss, samples, began = self.loss / self.samples, self.samples, self.began
        self.loss, self.samples, self.began = 0, 0, self.clock()
        speed = samples / (self.began - began)
        return {"loss": loss, "samples_per_second": speed, "effective_batch": samples, "lr": lr}
        ### END SOLUTION


# %% check="RunMeter"
check(RunMeter)

# %% [markdown]
# <details><summary>Hint 1: where to begin</summary>
#
# Besides the clock, keep three things in `self`: a sum of losses, a number of samples, and the time at which the window
# began. `update` resets all three.
# </details>
#
# <details><summary>Hint 2: which loss, and which time</summary>
#
# What do you divide a sum over samples by, to get a mean? And which call of `clock()` is the beginning of the second window?
# </details>

# %% [markdown]
# ## Stretch: what accumulation steps cost
#
# In unit 02 throughput fell as you cut the same batch into smaller pieces. Now keep a B that fits, and let N grow. (Not
# graded.)


# %%
def samples_per_second(b, n):
    torch.manual_seed(0)
    network = memory_bar.Stack(checkpointing=False)
    optimizer = torch.optim.AdamW(network.parameters())
    x, y = torch.randn(2, b, memory_bar.WIDTH)
    start = perf_counter()
    for k in range(64):
        (F.mse_loss(network(x), y) / n).backward()
        if (k + 1) % n == 0:
            optimizer.step()
            optimizer.zero_grad()
    return 64 * b / (perf_counter() - start)


# %%
samples_per_second(8, 1)  # the first time, libraries get ready
# In turn, so that a busy moment of the machine hits every N alike
rounds = [[samples_per_second(8, n) for n in (1, 4, 16)] for _ in range(8)]
for n, speeds in zip((1, 4, 16), zip(*rounds, strict=True), strict=True):
    print(f"B = 8 kept, N = {n:2}: {max(speeds):8.0f} samples per second")

# %% [markdown]
# While B stays the same, throughput does not fall, apart from noise. It may even rise: more samples share the cost of the
# update.

# %% [markdown]
# ## Stretch: powers of two?
#
# "Use powers of two for the accumulation steps, for better memory alignment." Does the peak of memory depend on N at all?
# (Not graded.)

# %%
network = memory_bar.Stack(checkpointing=False)
x, y = torch.randn(2, 16, memory_bar.WIDTH)
for n in range(2, 10):
    network.zero_grad()
    with LiveBytes() as live:
        for _ in range(n):
            (F.mse_loss(network(x), y) / n).backward()
    print(f"N = {n}: {live.peak} bytes at most")

# %% [markdown]
# The bytes are the same: no tensor has N in its shape.
#
# <details><summary>What the advice costs, and where it does matter</summary>
#
# For 48 samples per update and with room for 16, N = 3 takes B = 16, but the next power of two, N = 4, only B = 12. For B and
# the widths of layers, multiples of 8 or more can matter: a GPU's matrix units take tiles of that size.
# </details>

# %% [markdown]
# ## A plan
#
# The documentation of a contrastive trainer recommends these steps:
#
# 1. **Other techniques first**, such as activation checkpointing.
# 2. **Then B**: the largest that fits and divides a rank's share of the recipe's batch.
# 3. **Then N**, so that B × N × W is the recipe's batch, with W ranks as in unit 05.
# 4. **Start small**: compare N = 2 with one batch, and **watch** memory and samples per second.
#
# The first step in numbers, for the model of unit 02, 512 samples per update and a budget of 460 KiB:

# %%
for checkpointing in (False, True):
    needed = {n: memory_bar.measure(n, "AdamW", checkpointing).total for n in (2, 4, 8, 16, 32)}
    n = min(n for n, bytes_needed in needed.items() if bytes_needed <= 460 * 1024)
    print(f"checkpointing {checkpointing!s:5}: B = {512 // n:3} and N = {n:2} take {needed[n] / 1024:.0f} KiB")

# %% [markdown]
# ## Exercise 3 · `plan_run`
#
# *Difficulty ●○○ · about 3 minutes · 2 points*
#
# Write `plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size)`. The recipe's updates average over
# `recipe_batch` samples, which `world_size` ranks share evenly; plan one rank's share as in unit 02. **Each** rank has
# `memory_budget` bytes of its own, and a micro-batch of B samples needs `fixed + per_sample * B` of them. Return a
# dictionary with three integers, not `4.0`; more keys do no harm:
#
# - `"micro_batch_size"`: the largest B on each rank that fits and with which the recipe's batch can be met exactly;
# - `"accumulation_steps"`: the N that goes with it;
# - `"effective_batch"`: B × N × W, which is the recipe's.
#
# What earns points:
#
# - **1 point · the largest micro-batch first, then the steps**: on a single rank; N need not be a power of two, and a
#   micro-batch that needs exactly the budget fits.
# - **0.5 points · several ranks**: 2 to 8 of them.
# - **0.5 points · refusing what cannot be planned**: a `ValueError` with a reason, in any words, if not even one sample
#   fits, or if the ranks cannot share the recipe's batch evenly.
#
# All arguments are positive whole numbers.


# %% exercise="plan_run"
def plan_run(recipe_batch, memory_budget, fixed, per_sample, world_size):
    """Micro-batch size, accumulation steps and effective batch, as a dictionary."""
    ### BEGIN SOLUTION
    share, left = divmod(recipe_batch, world_size)
    if left:
        raise ValueError(f"{world_size} ranks cannot share {recipe_batch} samples evenly")
    for size in range(share, 0, -1):
        if share % size == 0 and fixed + per_sample * size <= memory_budget:
            return {"micro_batch_size": size, "accumulation_steps": share // size, "effective_batch": recipe_batch}
    raise ValueError(f"one sample needs {fixed + per_sample} bytes, the budget is {memory_budget}")
    ### END SOLUTION


# %% check="plan_run"
check(plan_run)

# %% [markdown]
# <details><summary>Hint</summary>
#
# How many of the recipe's samples does each rank read for one update? As in unit 02, take the first size, from the largest
# down, that divides this number and fits.
# </details>

# %% [markdown]
# ## What to remember
#
# - **Save right after an update**, before the next window begins. What waits in `.grad` is in no `state_dict`.
# - A run's future depends on **model, optimizer, schedule, scaler, position, order and every source of random numbers**.
#   With all of them a resumed run is the same **to the last bit**. Test that.
# - Write a new checkpoint next to the old one, then **rename** it.
# - Log **once per update**, over its whole window. Log numbers, not tensors.
# - **B first, then N.** N need not be a power of two. Smaller pieces cost throughput; more pieces of the same size do not.
#
# <details><summary>References</summary>
#
# - GPT-NeoX, [Fix gas checkpoint resuming](https://github.com/EleutherAI/gpt-neox/pull/308); transformers on [gradients that a
#   save in mid-window loses](https://github.com/huggingface/transformers/issues/22143)
# - Llama Team 2024, [The Llama 3 Herd of Models](https://arxiv.org/abs/2407.21783): what interrupts a large run
# - Young 1974, A First Order Approximation to the Optimum Checkpoint Interval, Communications of the ACM 17(9)
# - torch on [saving and loading](https://docs.pytorch.org/docs/stable/notes/serialization.html) and on
#   [reproducibility](https://docs.pytorch.org/docs/stable/notes/randomness.html)
# - The claims of this unit are rows 31, 35 and 36 of [the claims ledger](../docs/claims.md).
# </details>
#
# Next: **[12 · Capstone](12_capstone.ipynb)**
