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
# # 13 · In the wild
#
# **What is in the updates of a trainer that you did not write?**
#
# In January 2025 TRL's `DPOTrainer` [no longer divided its losses](https://github.com/huggingface/trl/issues/2617). TRL had not
# changed: a new release of transformers had begun to leave the division to trainers like this one.
#
# Most loops that train your models belong to a library, spread over hooks, wrappers and callbacks. Reading them takes days;
# watching them takes one line.
#
# *About 45 minutes, 10 points. You need units [04 · Training loop](04_training_loop.ipynb) and
# [08 · Unequal micro-batches](08_unequal_micro_batches.ipynb).*

# %% [markdown]
# ## Predict
#
# [accelerate](https://huggingface.co/docs/accelerate) is the layer below many other trainers. Here it trains a small
# language model with the loop of its documentation: N = 4, and six micro-batches of 2, 6, 9, 15, 5 and 6 tokens, so a full
# window and a leftover.

# %%
from gradaccum.predict import predict

predict(
    "The first micro-batch has 2 of the 32 tokens in its window. How much of its mean loss is in the first update?",
    choices=("1/16, its share of the tokens", "1/4", "1", "that depends on the optimizer"),
    answer="1/4",
    because="accelerator.backward divides every loss by gradient_accumulation_steps. It sees a number, not what that number "
    "is a mean of. Now see what this does to the leftover.",
)

# %%
import inspect
import textwrap

import torch
from accelerate import Accelerator
from torch.nn import functional as F

import gradaccum
from autograder.check import check
from gradaccum.explore import explore
from gradaccum.real_trainers import releases
from gradaccum.token_problems import TokenProblem
from gradaccum.trainer import Trainer

# %% [markdown]
# ## One line
#
# `gradaccum.watch` takes any trainer's fingerprint while it runs. It hooks into torch, changes nothing, and knows nothing of
# the trainer.

# %%
lengths = (((2,), (2, 4), (1, 8), (7, 8), (5,), (3, 3)),)
texts = TokenProblem(seed=8, accumulation_steps=4, width=8, lengths=lengths)
model = texts.build_model()
optimizer = torch.optim.AdamW(model.parameters())
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=4)

with gradaccum.watch(model, accumulation_steps=4) as seen:
    loader = torch.utils.data.DataLoader(texts.batches(), batch_size=None)
    prepared, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    for x, y in loader:
        with accelerator.accumulate(prepared):
            logits = prepared(x).flatten(0, 1)
            accelerator.backward(F.cross_entropy(logits, y.flatten()))
            optimizer.step()
            optimizer.zero_grad()
seen

# %% [markdown]
# Are these mistakes? Dividing losses by N is documented, so it is a choice. That accelerate also divides the losses of a
# shorter leftover by N is said nowhere. **Due** means that all tokens of a window, or all samples, count equally.

# %% [markdown]
# ## Explore: trainers of released libraries
#
# Here the same line watched trainers of widely used libraries, with tiny models, in one release or several. (`make trainers`
# repeats these runs.) Below each column is the number of tokens or samples in its micro-batch.
#
# 1. It opens on a release of transformers from 2024. What does it divide by? Move through its releases: which are right?
# 2. **transformers bert even** was repaired once. Is it still right in the newest release?
# 3. **transformers llama**, release 1: what do the rows add up to?

# %%
explore("trainers")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. By N, which makes it the mean of means. Releases 3 and 5. In release 4 a condition was the wrong way round. (An epoch
#    has ten micro-batches. In the first two releases the last two wait for the next epoch, and in release 2 they then count
#    too much.)
# 2. No. Its losses are added up again, and never divided.
# 3. To less than 1. It divides by one token too many for each sequence, here one per micro-batch: the first is counted,
#    although it is not a target.
# </details>

# %% [markdown]
# ## Exercise 1 · `name_those_trainers`
#
# *Difficulty ●●○ · about 12 minutes · 3 points*
#
# Write `name_those_trainers(fingerprints)`. It is given a list of fingerprints and returns a list with a name for each of them.
# A fingerprint is a dictionary:
#
# - `"found"`: a list of rows, one for each update. A row is a list of numbers, one for each micro-batch: how much of its mean
#   loss is in the update.
# - `"tokens"`: how many tokens each micro-batch has.
# - `"accumulation_steps"`: N, at least 2. All micro-batches come from one epoch, of two full windows or more; a leftover may
#   follow.
#
# The numbers were measured in float32: they are off by up to one part in a million. The names:
#
# | name | what the trainer does |
# |---|---|
# | `"right"` | each micro-batch weighs its share of the tokens of its window |
# | `"no-scale"` | means are added up and never divided |
# | `"mean-of-means"` | means are divided by the window's number of micro-batches (only if token counts differ in some window) |
# | `"wrong-total"` | sums are divided by a total that is too large: one token too many for each micro-batch |
# | `"tail-scale"` | means are divided by N, also in a shorter leftover (only if all micro-batches have equally many tokens) |
# | `"tail-dropped"` | the leftover is in no update |
# | `"zero-every"` | gradients are cleared before every backward |
# | `"never-zero"` | gradients are never cleared |
# | `"step-every"` | there is an update after every micro-batch |
# | `"off-by-one-early"` | the first update comes after one micro-batch, the others after N more; a leftover is applied |
#
# Each trainer does what its name says and is otherwise right: a micro-batch weighs its share of the tokens that came between
# two updates.

# %% [markdown]
# What earns points, each with several fingerprints whose names must all be right:
#
# - **1 point · full windows**: there is no leftover, and updates come when they should.
# - **1 point · leftover windows**: there is one, of any number of micro-batches below N.
# - **1 point · updates and clearing at the wrong moment**: there may be a leftover as well.
#
# Try your function on `examples`, the first two updates of three recorded trainers, all in the picture above. (They are
# no-scale, wrong-total and mean-of-means.)

# %%
chosen = "trl dpo", "transformers llama", "transformers llama answers"
recorded = [releases()[name][0] for name in chosen]
examples = [release.beginning(2) for release in recorded]
for release, example in zip(recorded, examples, strict=True):
    print(release.name, "tokens", example["tokens"])
    for row in example["found"]:
        print("  ", *(f"{share:.4f}" for share in row))


# %% exercise="name_those_trainers"
def name_those_trainers(fingerprints):
    """The name of each fingerprint, as a list."""
    ### BEGIN SOLUTION
    names = []
    for one in fingerprints:
        rows, tokens, n = one["found"], one["tokens"], one["accumulation_steps"]
        held = [[k for k, share in enumerate(row) if share > 1e-3] for row in rows]
        totals = [sum(tokens[k] for k in inside) for inside in held]
        shares = [(row[k], tokens[k] / total) for row, inside, total in zip(rows, held, totals, strict=True) for k in inside]
        unlike = any(abs(share - due) > 1e-3 for share, due in shares)
        who = {"tail-dropped": len(tokens) - 1 not in held[-1], "step-every": len(rows) == len(tokens)}
        who |= {"zero-every": held[0] == [n - 1], "off-by-one-early": len(held[0]) == 1, "never-zero": 0 in held[-1]}
        sums = {"no-scale": sum(rows[0]) > 1.001, "wrong-total": sum(rows[0]) < 0.999, "tail-scale": sum(rows[-1]) < 0.999}
        questions = who | sums | {"mean-of-means": unlike, "right": True}
        names.append(next(name for name, holds in questions.items() if holds))
    return names
    ### END SOLUTION


# %% check="name_those_trainers"
check(name_those_trainers)

# %% [markdown]
# <details><summary>Hint 1: where to begin</summary>
#
# Which micro-batches does a row hold at all? How many updates are there? Is the first micro-batch in the first row, and in the
# second?
# </details>
#
# <details><summary>Hint 2: what a row adds up to</summary>
#
# Right shares add up to 1; means that are never divided add up to the number of micro-batches in the window. And a leftover
# that is divided by N?
# </details>
#
# <details><summary>Hint 3: measured numbers</summary>
#
# `share == 1 / 4` is rarely true of a measured number. Write `abs(share - 1 / 4) < 1e-3` instead.
# </details>

# %% [markdown]
# ## A trainer with hooks
#
# If you find a mistake in a library, do not edit what pip installed. Trainers have **hooks**: methods that you may override.
# In this small trainer `train` belongs to the library, and the rest are hooks.

# %%
hooks = Trainer.compute_loss, Trainer.backward, Trainer.should_step
for method in (Trainer.train, *hooks):
    print(textwrap.dedent(inspect.getsource(method)))

# %% [markdown]
# There are three more: `on_epoch_begin()` and `on_window_end()` do nothing yet, and `zero_grad()` clears.
# `Trainer(model, optimizer, data, accumulation_steps)` makes a trainer; these four and `epochs` are its attributes. Watch it:

# %%
model = texts.build_model()
optimizer = torch.optim.AdamW(model.parameters())
trainer = Trainer(model, optimizer, texts.batches(), accumulation_steps=4)
with gradaccum.watch(model, accumulation_steps=4) as seen:
    trainer.train()
seen

# %% [markdown]
# ## Exercise 2 · `RepairedTrainer`
#
# *Difficulty ●●○ · about 11 minutes · 3.5 points*
#
# Write a class `RepairedTrainer`, a subclass of `Trainer`, whose updates hold what is due: **in each window, leftover or not,
# the gradient of the cross-entropy averaged over all its tokens**. Targets of −100 do not count as tokens.
#
# Override hooks, as many as you like, and delete the stubs that you do not need. **The library calls its own `train`**: a
# `train` of yours would never run. One trainer is given several epochs: before each, the check assigns `trainer.data`, a list
# of micro-batches, and then has the trainer train for one epoch. Leave the micro-batches as they are. Another trainer of your
# class may train in the meantime. Marking uses plain SGD; some parameters may be frozen or unused.
#
# What earns points, each by comparing the parameters after each epoch with those of one large batch per window:
#
# - **1.5 points · micro-batches with unequal numbers of tokens**: full windows, and N = 1.
# - **1 point · leftover windows**: even where the whole epoch is shorter than a window.
# - **0.5 points · one epoch after the other**: epochs differ in length, and nothing of one reaches the next.
# - **0.5 points · micro-batches and windows without a single token**: a window without tokens changes nothing.


# %% exercise="RepairedTrainer"
class RepairedTrainer(Trainer):
    """A trainer whose updates hold the mean over the tokens of their windows."""

    tokens = 0  # attributes of your own, if you need any

    def compute_loss(self, x, targets):
        """The loss of a micro-batch."""
        ### BEGIN SOLUTION
        self.tokens += (targets != -100).sum().item()
        return F.cross_entropy(self.model(x).flatten(0, 1), targets.flatten(), reduction="sum")
        ### END SOLUTION

    def backward(self, loss):
        """Backpropagate the loss of a micro-batch."""
        ### BEGIN SOLUTION
        loss.backward()
        ### END SOLUTION

    def on_window_end(self):
        """All gradients of a window are in .grad, and the update comes next."""
        ### BEGIN SOLUTION
        for parameter in self.model.parameters():
            if parameter.grad is not None:
                parameter.grad /= max(1, self.tokens)
        self.tokens = 0
        ### END SOLUTION


# %% check="RepairedTrainer"
check(RepairedTrainer)

# %% [markdown]
# <details><summary>Hint 1: who knows the total?</summary>
#
# `compute_loss` sees one micro-batch at a time. The total is known when the window ends, or from `self.data`. Either is
# early enough: dividing a sum of gradients divides each of them.
# </details>
#
# <details><summary>Hint 2: sums</summary>
#
# Let every micro-batch contribute the **sum** over its tokens, and divide once. What does `backward` do to it today?
# </details>
#
# <details><summary>Hint 3: nothing to divide by</summary>
#
# A window without tokens has a gradient of 0 and a total of 0. An unused parameter has no gradient at all.
# </details>

# %% [markdown]
# ## A test for any trainer
#
# The mean of means stayed in releases for years; a test finds it the same day. After the block, `seen` has:
#
# | attribute | what it holds |
# |---|---|
# | `seen.outcome` | `"due"`, `"not due"` or `"cannot tell"` |
# | `seen.mistakes` | what explains a `"not due"`; empty otherwise |
# | `seen.check()` | raises `NotDueError` (an `AssertionError`) or `CannotTellError` (a `RuntimeError`), unless due |
# | `seen.notes` | what else there is to say, as sentences |
# | `seen.fingerprint`, `seen.due` | the two matrices, in `.coefficients`, or `None` |
#
# Watching sees shares, not intentions. Where the tokens of one micro-batch count unequally, it cannot know what is due, and
# says so. A test must not take this for a pass:

# %%
model = texts.build_model()
optimizer = torch.optim.AdamW(model.parameters())
with gradaccum.watch(model, accumulation_steps=4) as seen:
    for x, y in list(texts.batches())[:4]:
        losses = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="none")
        (losses * torch.linspace(0, 1, len(losses))).mean().backward()
    optimizer.step()
print(seen.outcome, *(textwrap.fill(note, 60) for note in seen.notes), sep="\n")

# %% [markdown]
# ## Exercise 3 · `accumulates_right`
#
# *Difficulty ●●○ · about 7 minutes · 3.5 points*
#
# Write the test: `accumulates_right(make_trainer)` returns `True` if the updates of a trainer hold what is due, and `False`
# if they do not or if watching cannot tell. `make_trainer()` builds the same trainer afresh each time. Its `model`,
# `optimizer`, `data`, `accumulation_steps` and `epochs` are attributes, and `train()` trains it, as that of `Trainer` does.
# `accumulation_steps` is the N that was meant. What is due, in each window and in a leftover, is the mean over all its
# tokens.
#
# It is run on more than twenty trainers that you have not seen, built in different ways, with SGD and AdamW. **Nearly every
# wrong one has a twin with the same code that is right on its own data.** So names and source say nothing, and each part earns
# its points only if all of its trainers, wrong and right, are told apart.
#
# What earns points:
#
# - **1 point · what losses are divided by**: nothing, micro-batches, positions, tokens.
# - **1 point · updates and clearing at the wrong moment**: an update after every micro-batch, or too late; clearing before
#   each, or never. N may be 1.
# - **1 point · leftover windows**: divided by N, or not applied, whether after the first epoch or the last.
# - **0.5 points · "cannot tell" is not a pass**: tokens that weigh differently, and a trainer that never updates.


# %% exercise="accumulates_right"
def accumulates_right(make_trainer):
    """Whether the updates of a trainer hold what is due."""
    ### BEGIN SOLUTION
    trainer = make_trainer()
    with gradaccum.watch(trainer.model, accumulation_steps=trainer.accumulation_steps) as seen:
        trainer.train()
    return seen.outcome == "due"
    ### END SOLUTION


# %% check="accumulates_right"
check(accumulates_right)

# %% [markdown]
# <details><summary>Hint 1: something to try it on</summary>
#
# You have two trainers, `Trainer` and yours. A function that makes one is a `make_trainer`. Should both pass?
# </details>
#
# <details><summary>Hint 2: when to ask</summary>
#
# What a leftover holds is known when the run is over: ask after the `with` block.
# </details>
#
# <details><summary>Hint 3: three outcomes</summary>
#
# An empty `seen.mistakes` may mean that all is due, or that watching cannot tell.
# </details>

# %% [markdown]
# ## In your own project
#
# gradaccum gives `pytest` a fixture for this, and `gradaccum watch train.py` watches a script as it is. [Watch your own
# trainer](../docs/watch.md) says how, and what watching cannot see.
#
# <details><summary>Mistakes that have been reported, most of them repaired</summary>
#
# - transformers took [the mean of means](https://github.com/huggingface/transformers/pull/34191);
#   [some models were not divided at all](https://github.com/huggingface/transformers/pull/35438);
#   [leftovers waited for the next epoch](https://github.com/huggingface/transformers/pull/34511);
#   [a condition was the wrong way round](https://github.com/huggingface/transformers/pull/35651);
#   [targets were counted before the shift](https://github.com/huggingface/transformers/pull/46204);
#   [label smoothing ignored the total](https://github.com/huggingface/transformers/pull/47261);
#   [the losses of T5 and of BERT classifiers are still not divided](https://github.com/huggingface/transformers/issues/47688).
# - Lightning divides [leftovers](https://github.com/Lightning-AI/pytorch-lightning/issues/19987) and
#   [token means](https://github.com/Lightning-AI/pytorch-lightning/issues/20350) by N; both issues are open.
# - accelerate shows [how to count tokens by hand](https://huggingface.co/docs/accelerate/usage_guides/gradient_accumulation).
# </details>

# %% [markdown]
# ## Stretch: what was meant
#
# A trainer was given N = 4 and ignores it: it updates after every micro-batch. (Not graded.)

# %%
predict(
    "You watch it with `gradaccum.watch(model)`, and do not say that N = 4 was meant. What is the outcome?",
    choices=("due", "not due", "cannot tell", "an error"),
    answer="due",
    because="Every update holds all that came since the one before, and that is what counts as its window. Only you can say "
    "that four micro-batches were meant: watch(model, accumulation_steps=4).",
)

# %% [markdown]
# ## What to remember
#
# - **Watch what a trainer does**, whatever its documentation calls it.
# - Read a fingerprint in this order: **who is in a row, what does it add up to, how is it shared?**
# - Test with unequal tokens and a leftover. **On even data many wrong trainers look right.**
# - Repair through **hooks**, and keep a test: the next release may break it again.
# - **"Cannot tell" is not a pass.**
#
# This is the end of the course. Back to **[the start page](00_start_here.ipynb)**, where your points are.
