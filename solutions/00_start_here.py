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
# # Start here
#
# **Your model fits into memory. The batch your recipe asks for does not. What now?**
#
# You cut the batch into pieces that fit, add up their gradients, and update once. That is **gradient accumulation**. It takes
# about five lines of code, and people who write such lines for a living get them wrong:
#
# - In **October 2024** the trainer of the `transformers` library turned out to give every piece the same weight, however many
#   tokens it held. The maintainers [explained the mistake](https://huggingface.co/blog/gradient_accumulation) and [repaired
#   it](https://github.com/huggingface/transformers/pull/34191). The repair brought [the next
#   one](https://github.com/huggingface/transformers/issues/34263): users reported losses 5 to 10 times as high as before.
# - In **January 2025** the library's version 4.48.0 did not divide the losses of many language models at all: [a condition was
#   the wrong way round](https://github.com/huggingface/transformers/issues/35663).
# - **Today** some released trainers still get it wrong. We ran the trainers of ten libraries and [recorded what their
#   updates hold](../docs/trainers.md).
#
# None of these loops raised an error, and all of them trained. This course teaches you to write the five lines and to see at a
# glance what a wrong loop computes instead. On this page you try everything once. *About 15 minutes, no points.*

# %% [markdown]
# ## The words
#
# | word | meaning |
# |---|---|
# | **micro-batch** | the **B** samples of one forward and backward pass |
# | **window** | the **N** micro-batches between two updates; N is also called the number of accumulation steps |
# | **leftover** | a last window with fewer than N micro-batches |
# | **ragged** | describes micro-batches of unequal size |
# | **update** | one `optimizer.step()` |
# | **effective batch size** | the number of samples an update averages over: B × N on one device |

# %% [markdown]
# ## How a unit works
#
# Every unit asks one question and answers it by experiment. You **predict**, you **explore** a live picture, you write a
# function in an **exercise**, and you **check** it. At the end the unit says what to **remember**. You may leave out text that
# is folded away and sections called a stretch; the times do not include them.
#
# - Run a cell with **Shift + Enter**, and go from top to bottom.
# - Where it says `raise NotImplementedError`, put your own code in place of that line.
# - Run and read the other code cells. To try something out, insert cells of your own wherever you like.
# - If things get muddled, restart the kernel (the round arrow) and run the cells again.
#
# The units:
#
# | | question | points |
# |---|---|---|
# | [01 · Batches and gradients](01_batches_and_gradients.ipynb) | what is the gradient of a batch? | 10 |
# | [02 · Memory limits](02_memory_limits.ipynb) | why can't the batch simply be larger? | 10 |
# | [03 · Accumulate](03_accumulate.ipynb) | are B = 8, N = 1 and B = 2, N = 4 the same? | 10 |
# | [04 · Training loop](04_training_loop.ipynb) | where do `step` and `zero_grad` go? | 10 |
# | [05 · Learning rate](05_learning_rate.ipynb) | what changes when the effective batch changes? | 10 |
# | [06 · Mixed precision and clipping](06_mixed_precision_and_clipping.ipynb) | what must happen once per window? | 10 |
# | [07 · When equivalence breaks](07_when_equivalence_breaks.ipynb) | is it really the same as a large batch? | 10 |
# | [08 · Unequal micro-batches](08_unequal_micro_batches.ipynb) | why is the mean of means wrong? | 10 |
# | [09 · Contrastive losses](09_contrastive_losses.ipynb) | what if the loss does not decompose? | 10 |
# | [10 · Distributed](10_distributed.ipynb) | how do ranks and windows multiply? | 10 |
# | [11 · Running it](11_running_it.ipynb) | how do you stop, resume, watch and plan a run? | 10 |
# | [12 · Capstone](12_capstone.ipynb) | can you train a small GPT inside a memory budget? | 20 |
# | [13 · In the wild](13_in_the_wild.ipynb) | what is in the updates of a trainer that you did not write? | 10 |

# %% [markdown]
# ## Your machine
#
# You need no GPU for this course. If you have one, most checks use it.

# %%
import torch

from autograder.check import check
from autograder.devices import pick_device
from autograder.progress import show_progress
from gradaccum.explore import explore
from gradaccum.loops import GALLERY
from gradaccum.predict import predict
from gradaccum.problems import Problem
from gradaccum.showing import show_fingerprint

# %%
device = pick_device()
threads = f"threads: {torch.get_num_threads()}"
details = torch.cuda.get_device_name() if device == "cuda" else threads
print(f"torch {torch.__version__} on {device} ({details})")

# %% [markdown]
# ## A run to keep in mind
#
# The models in this course are tiny and run in an instant. Keep one real run in mind to see what is at stake: **Llama 2 with 7
# billion parameters**, whose authors averaged every update over [4 million tokens](https://arxiv.org/abs/2307.09288), in
# sequences of 4,096.

# %%
parameters = 6.74e9
sequences = 4 * 2**20 // 4096  # in an update, with 4 × 2²⁰ tokens for "4 million"
print(f"sequences in an update: {sequences:,}")
print(f"weights, gradients and AdamW's state: {16 * parameters / 1e9:.0f} GB")  # 16 bytes each
print("memory of a large GPU: 80 GB")

# %% [markdown]
# ## Predict
#
# Before most pictures there is a question. Choose, commit, then look; your guesses are not counted. The code of a question is
# folded away because it contains the answer. Run the folded cell all the same.

# %%
predict(
    "Four micro-batches, one update. Their gradients are g1, g2, g3 and g4. "
    "What should the update use, if it is to act like one large batch?",
    choices=("g1 + g2 + g3 + g4", "(g1 + g2 + g3 + g4) / 4", "g4, the latest", "the largest of them"),
    answer="(g1 + g2 + g3 + g4) / 4",
    because="A large batch averages over its samples, so accumulation has to average as well. "
    "The sum would point in the same direction and be four times as long.",
)

# %% [markdown]
# ## Explore: a loop in one picture
#
# You will meet this picture everywhere. It is the **fingerprint** of a training loop, with **one row for each update and one
# column for each micro-batch**. Each cell says how much of that micro-batch's gradient went into that update.
#
# Read a row aloud: *update 1 used a quarter of each of micro-batches 1 to 4.* Then change N and the number of micro-batches.
#
# 1. What do the numbers in a row add up to, whatever you choose?
# 2. When does the last row look different from the others?

# %%
explore("fingerprint_reading")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. To 1, always: an update is an average.
# 2. When N does not divide the number of micro-batches. The last window then has fewer, so each of them weighs more.
# </details>

# %% [markdown]
# ## A wrong loop in the same picture
#
# This loop updates after every micro-batch. Cells that differ from those of a right loop are framed. Read its rows: does any
# hold more than one micro-batch?

# %%
one_window = Problem(accumulation_steps=4, epochs=((2, 2, 2, 2),))  # N = 4; one epoch: 4 × 2 samples
show_fingerprint(GALLERY["step-every"], one_window)

# %% [markdown]
# A fingerprint does not depend on what the code looks like: we run the loop and measure what `.grad` holds at each update. So
# you may write a loop in any way that computes the right thing.

# %% [markdown]
# ## What `check` says
#
# The `check` below every exercise runs your function on small problems and shows a verdict: your points, what is missing, and
# one hint. Run it as often as you like. In a class, the same check marks your work, on problems with other numbers.
#
# One rule holds in every exercise: unless it says otherwise, your function changes neither what it is given nor torch's
# settings, such as the default dtype. It leaves no hook or attribute on a model, and does not seed torch.
# A function that has not ended after some seconds is stopped, and what the check would have tried next earns nothing.
#
# Here is a wrong answer to the practice exercise below, and its verdict:


# %%
def average_gradients(gradients):  # WRONG: adds up and never divides
    return torch.stack(gradients).sum(0)


check(average_gradients)

# %% [markdown]
# ## Exercise · `average_gradients`
#
# *Difficulty ●○○ · about 2 minutes · for practice, not counted*
#
# Now you. Write `average_gradients(gradients)`. It is given a list of tensors of the same shape and dtype, and
# returns their mean in that dtype.
#
# What earns points:
#
# - **1 point · the mean**: right for lists of one to five gradients.


# %% exercise="average_gradients"
def average_gradients(gradients):
    """The mean of a list of tensors of the same shape."""
    ### BEGIN SOLUTION
    return torch.stack(gradients).mean(0)
    ### END SOLUTION


# %% check="average_gradients"
check(average_gradients)

# %% [markdown]
# <details><summary>Hint 1</summary>
#
# `torch.stack(gradients)` makes one tensor of them, with a new first dimension. The wrong version above sums over it.
# </details>
#
# <details><summary>Hint 2</summary>
#
# Tensors have a method `mean` that is used in the same way as `sum`.
# </details>

# %% [markdown]
# Hints like these come in steps. Try again after each, and open the next one only when you are stuck.

# %% [markdown]
# ## Your progress
#
# The best verdict for each exercise is kept on this computer, for you alone. Come back and run this cell again whenever you
# have finished something. It also says what comes next.

# %%
show_progress()

# %% [markdown]
# ## What to remember
#
# - Predict, explore, write, check. **A verdict says what your code computes**, not only that it is wrong.
# - A loop's fingerprint has a row for each update and a column for each micro-batch. **A right loop's rows add up to 1.**
# - Any code that computes the right numbers is right.
#
# <details><summary>What we checked</summary>
#
# Texts on gradient accumulation make claims that contradict each other. We turned 40 of them into experiments that could come
# out either way, and collected the results in [the claims ledger](../docs/claims.md). The units refer to its rows.
# </details>
#
# Begin with **[01 · Batches and gradients](01_batches_and_gradients.ipynb)**
