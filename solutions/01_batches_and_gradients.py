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
# # 01 · Batches and gradients
#
# **What is the gradient of a batch?**
#
# One word decides it: *mean* or *sum*. Ask the image classifier of `ultralytics` 8.4.190 for an update every 8 images, in
# micro-batches of 2. Its gradient is [four times as long](../docs/trainers.md) as the mean of its micro-batches' gradients.
# Each micro-batch's loss is a mean, and the trainer adds four of them up.
#
# You push 32 samples through a model, call `backward()`, and get *one* gradient. Which of the 32 does it belong to? Would it
# differ if you pushed them through one at a time?
#
# The answer is one line of mathematics, and gradient accumulation is nothing but that line.
#
# *About 40 minutes, 10 points. You should have trained a PyTorch model before, if only by following a tutorial.*

# %% [markdown]
# ## Predict

# %%
from gradaccum.predict import predict

predict(
    "The loss of a batch of 8 samples is the mean of the samples' losses. You ask for the gradient of each sample's own loss, "
    "one at a time, and get 8 gradients. What is the gradient of the batch?",
    choices=(
        "their average",
        "their sum",
        "roughly their average, as long as the model is nearly linear",
        "that of the sample with the largest loss",
    ),
    answer="their average",
    because="The batch's loss is an average, and the derivative of an average is the average of the derivatives. This is "
    "exact, whatever the model does to each sample.",
)

# %% [markdown]
# ## The setting
#
# A `Problem` is a small regression task made from a seed: a model, a loss and data. Here is one with a single batch of four
# samples. `x[i : i + 1]` is sample `i` as a batch of one.

# %%
from functools import partial

import torch
from torch.nn import functional as F

from autograder.check import check
from gradaccum.explore import explore
from gradaccum.problems import Problem

# %%
problem = Problem(seed=3, epochs=((4,),))  # one epoch with one batch of 4 samples
model, loss_fn = problem.build_model(), problem.loss_fn
[(x, y)] = problem.batches()

for i in range(len(x)):
    print(f"sample {i}: loss {loss_fn(model(x[i : i + 1]), y[i : i + 1]).item():.4f}")
print(f"the batch: loss {loss_fn(model(x), y).item():.4f}")

# %% [markdown]
# The last number is the average of the four above it: `loss_fn(prediction, target)` **averages over the samples it is given**.
# Most losses in PyTorch do the same (`reduction="mean"` is their default), and in this course every loss does unless we say
# otherwise.

# %% [markdown]
# ## Explore: gradients of samples
#
# Here the model is only $w x + b$, so a gradient is an arrow with two components. On the left are the data: the batch's
# points are filled, and lines show their errors. In the middle each of these points has a blue arrow, its gradient; the
# thick arrow is their average, and the circle is what `backward()` gives for the whole batch. On the right are the averages
# of 200 batches of this size.
#
# 1. Do all arrows point the same way? Choose other batches: does the thick arrow ever miss the circle?
# 2. Press **One sample** and choose other batches. Which samples have long arrows?
# 3. Press **Break**. What goes wrong when the gradients are added up and not divided?
# 4. Press **Reset** and go through the batch sizes. What happens to the cloud on the right?

# %%
explore("sample_gradients")

# %% [markdown]
# <details><summary>What you should have seen</summary>
#
# 1. No, some even point the other way. The thick arrow never misses.
# 2. Those with large errors, far from $x = 0$.
# 3. The direction is right, but the arrow is B times too long.
# 4. It shrinks around the gradient of all samples. A larger batch does not have a *different* gradient; it has a less random
#    one. That is why people want large batches.
# </details>

# %% [markdown]
# ## Why: one line of mathematics
#
# Let $\ell_i$ be the loss of sample $i$, $\theta$ the parameters, and $n$ the number of samples. The batch's loss is
#
# $$L = \frac1n \sum_{i=1}^n \ell_i, \qquad\text{so}\qquad \nabla_\theta L = \frac1n \sum_{i=1}^n \nabla_\theta\, \ell_i .$$
#
# A sum may be differentiated term by term. The model can be as nonlinear as it likes: the *averaging* is linear, and it
# comes last. So it makes no difference whether the samples pass through the model together, in pieces or one at a time, as
# long as the model treats each sample on its own, all samples weigh the same, and **the parameters do not move in the
# meantime**.

# %% [markdown]
# ## Two ways to ask for a gradient
#
# You know `loss.backward()`. It returns nothing: it **adds** each gradient to what the parameter's `.grad` holds. Its sibling
# `torch.autograd.grad(loss, parameters)` **returns** the gradients, one for each parameter in the list, and touches no `.grad`.
#
# The model below has two special parameters. `shift` is *frozen*: `requires_grad=False`, so training leaves it alone, and
# asking for its gradient is an error. `unused` could be trained, but the loss does not depend on it: with `allow_unused=True`
# its gradient is returned as `None`, and otherwise asking for it is an error too.

# %%
odd_model = Problem(seed=3, epochs=((4,),), extras=True).build_model()
trainable = {name: p for name, p in odd_model.named_parameters() if p.requires_grad}
loss = loss_fn(odd_model(x), y)
gradients = torch.autograd.grad(loss, list(trainable.values()), allow_unused=True)

for name, p in odd_model.named_parameters():
    print(f"{name:16} {tuple(p.shape)!s:8} trainable: {p.requires_grad!s:5}  .grad: {p.grad}")
print("gradients:", [g if g is None else tuple(g.shape) for g in gradients])

# %% [markdown]
# ## Exercise 1 · `batch_gradient`
#
# *Difficulty ●●○ · about 8 minutes · 3 points*
#
# Write `batch_gradient(model, loss_fn, x, y)`. It **measures** and changes nothing: it returns a dictionary from the names in
# `model.named_parameters()` to the gradient of `loss_fn(model(x), y)`, a tensor of the parameter's shape and dtype. `loss_fn`
# takes the prediction first and the target second; it averages over the samples or, in some checks, adds them up.
#
# What earns points:
#
# - **1 point · the gradient of the batch loss**: every trainable parameter has its gradient, under its name, even for a
#   batch of one sample.
# - **1 point · models with frozen and unused parameters**: a frozen parameter is not in the dictionary. An unused one may be
#   left out, or be zero or `None`.
# - **1 point · leaving parameters, .grad and mode as they were**: they stay the same to the last bit, as do `requires_grad`,
#   `x` and `y`. Each call takes the gradient anew. No hook and no attribute stays on the model, and you do not seed
#   torch. Before the call `.grad` may hold anything, infinity included, and none of it may be in what you return. The
#   model, and each of its layers, may be in training or in evaluation mode, which matters to layers such as dropout: take
#   the gradient in the mode you find.


# %% exercise="batch_gradient"
def batch_gradient(model, loss_fn, x, y):
    """Gradient of the batch loss by name of each trainable parameter. Changes nothing."""
    ### BEGIN SOLUTION
    trainable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    loss = loss_fn(model(x), y)
    gradients = torch.autograd.grad(loss, list(trainable.values()), allow_unused=True)
    return {name: g for name, g in zip(trainable, gradients, strict=True) if g is not None}
    ### END SOLUTION


# %% check="batch_gradient"
check(batch_gradient)

# %% [markdown]
# <details><summary>Hint 1: which of the two ways</summary>
#
# One of the two ways to ask for a gradient writes to `.grad`, and the other does not. Which one suits a function that changes
# nothing?
# </details>
#
# <details><summary>Hint 2: names</summary>
#
# `torch.autograd.grad` returns gradients in the order of your list, without names. If you build that list from a dictionary of
# trainable parameters, as the cell above does, its keys are the names in the same order.
# </details>

# %% [markdown]
# ## Adding is not averaging
#
# What happens to the rule if a loss *adds up* its samples, with `reduction="sum"`? Each number is the first component of a
# gradient.


# %%
def first_component(loss):
    return torch.autograd.grad(loss, model.head.weight)[0].flatten()[0].item()


for reduction in ("mean", "sum"):
    loss = partial(F.mse_loss, reduction=reduction)
    one_by_one = [loss(model(x[i : i + 1]), y[i : i + 1]) for i in range(4)]
    average = sum(map(first_component, one_by_one)) / 4
    batch = first_component(loss(model(x), y))
    ratio = batch / average
    print(f"{reduction:4}   average {average:8.4f}   batch {batch:8.4f}   ratio {ratio:.1f}")

# %% [markdown]
# With a loss that adds, the batch's gradient is the **sum** of the samples' gradients, here four times as long as their
# average. (That average is itself twice as long as with `mean`: this loss also adds up the two outputs of each sample.) So "the
# gradient of the batch" and "the average of the samples' gradients" are the same only if the loss averages. The next exercise
# asks for the second.

# %% [markdown]
# ## Exercise 2 · `average_sample_gradients`
#
# *Difficulty ●●○ · about 8 minutes · 3 points*
#
# Write `average_sample_gradients(model, loss_fn, x, y)`. It takes, for every sample, the gradient of its own loss,
# `loss_fn(model(x[i : i + 1]), y[i : i + 1])`, and returns the average of these gradients, as a dictionary like that of
# exercise 1. You may call your `batch_gradient`. Models here have no frozen or unused parameters.
#
# What earns points:
#
# - **1 point · the mean of the sample gradients**: for a `loss_fn` that averages, where it equals the gradient of the batch,
#   even for a batch of one sample.
# - **1 point · the same for a loss_fn that adds its samples**: there the two differ, so the gradient of the batch will not do.
# - **1 point · leaving parameters, .grad and mode as they were**: as in exercise 1. A layer may draw random numbers in
#   training mode, as dropout does: let it draw new ones for every sample.
#
# Neither speed nor memory counts.


# %% exercise="average_sample_gradients"
def average_sample_gradients(model, loss_fn, x, y):
    """Average of the gradients of the samples' own losses, by name. Changes nothing."""
    ### BEGIN SOLUTION
    each = [batch_gradient(model, loss_fn, x[i : i + 1], y[i : i + 1]) for i in range(len(x))]
    return {name: torch.stack([gradient[name] for gradient in each]).mean(0) for name in each[0]}
    ### END SOLUTION


# %% check="average_sample_gradients"
check(average_sample_gradients)

# %% [markdown]
# <details><summary>Hint 1: one sample</summary>
#
# What does `batch_gradient(model, loss_fn, x[:1], y[:1])` return? Do that for every sample, and keep the results in a list.
# </details>
#
# <details><summary>Hint 2: averaging dictionaries</summary>
#
# All the dictionaries have the same keys. For one key, collect that entry of every dictionary in a list;
# `torch.stack(list_of_tensors).mean(0)` is their average.
# </details>

# %% [markdown]
# ## One update
#
# Plain stochastic gradient descent moves every parameter against its gradient, $\theta \leftarrow \theta - \eta\, \nabla L$,
# where $\eta$ is the learning rate, `lr` in code. Two mistakes are easy to make, and neither raises an error.

# %%
w = torch.tensor([1.0], requires_grad=True)
kept = {"w": w}  # something else, for instance a model, holds the same tensor

w = w - 0.1 * 3.0
print(f"a new tensor, named w; the model's own is still {kept['w'].item():.1f}")

with torch.no_grad():
    kept["w"] -= 0.1 * 3.0
print(f"written in place; the model's own is now {kept['w'].item():.1f}")

# %% [markdown]
# **First**, `w = w - ...` makes a *new* tensor and leaves the model's as it was. `w -= ...` writes into the model's own
# tensor. It has to happen inside `torch.no_grad()`, as in an optimizer's `step()`: autograd refuses to record an in-place
# change of a parameter.
#
# **Second**, `backward()` adds to what is in `.grad`. Here the gradient of the same batch is taken twice; you see one
# component of it:

# %%
for call in (1, 2):
    loss_fn(model(x), y).backward()
    print(f"after backward no. {call}: {model.head.bias.grad[0].item():.4f}")
model.zero_grad()
print(f"after zero_grad():    {model.head.bias.grad}")

# %% [markdown]
# What you leave in `.grad` joins the next gradient. Two units from now you will use this on purpose. An update that has to
# stand on its own must clear `.grad` first: `model.zero_grad()`, or `p.grad = None` for each parameter.

# %% [markdown]
# ## Exercise 3 · `sgd_step`
#
# *Difficulty ●●○ · about 8 minutes · 4 points*
#
# Write `sgd_step(model, loss_fn, x, y, lr)`: one plain update of the model's own parameters by `lr` times the gradient of
# `loss_fn(model(x), y)`, whether `loss_fn` averages over the samples or adds them up. It returns the loss of the batch
# **before** the update, as a number or a tensor with one element.
#
# What earns points:
#
# - **1 point · the update**: every parameter, even one that two layers share, has moved by minus `lr` times its gradient.
#   This holds for a batch of one sample, and in a second call with another `lr`. The model is in the mode it was in,
#   training or evaluation, and so is each of its layers. No hook and no attribute stays on the model, `x` and `y` stay as
#   they are, and you do not seed torch.
# - **1 point · models with frozen and unused parameters**: these parameters do not move, and nothing breaks.
# - **1 point · clean gradients before and after**: `.grad` of any parameter may hold anything when you are called, infinity
#   included; none of it joins in. When you return, `.grad` of every trainable parameter, used or unused, is `None` or zero.
# - **1 point · the returned loss**: that of the whole batch, at the parameters and in the mode you were given.


# %% exercise="sgd_step"
def sgd_step(model, loss_fn, x, y, lr):
    """One plain SGD update in place; returns the loss before it. No old gradient joins in."""
    ### BEGIN SOLUTION
    model.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            if p.grad is not None:
                p -= lr * p.grad
    model.zero_grad()
    return loss.item()
    ### END SOLUTION


# %% check="sgd_step"
check(sgd_step)

# %% [markdown]
# <details><summary>Hint 1: the order</summary>
#
# Compute the loss, take its gradient, move the parameters, and make sure, first and last, that `.grad` is clean: write these
# five steps down in order before you write code.
# </details>
#
# <details><summary>Hint 2: parameters without a gradient</summary>
#
# If you cleared everything first, `backward()` leaves the `.grad` of a frozen or unused parameter at `None`. Skip those.
# </details>

# %% [markdown]
# ## One for the road
#
# Not graded.
# %%
predict(
    "Llama 2 with 7 billion parameters averages about 1,000 sequences in an update. You could keep the gradient of each "
    "sequence and average them at the end. How much memory would that take, with 4 bytes for each component?",
    choices=("about 27 gigabytes", "about 270 gigabytes", "about 2.7 terabytes", "about 27 terabytes"),
    answer="about 27 terabytes",
    because=lambda: (
        f"One gradient has as many components as the model has parameters: 6.74e9 × 4 bytes = {6.74e9 * 4 / 1e9:.0f} GB. "
        f"A thousand of them take {1000 * 6.74e9 * 4 / 1e12:.0f} TB. backward() needs room for one: it adds each gradient to "
        ".grad and forgets it. That is why adding matters so much in this course."
    ),
)

# %% [markdown]
# ## What to remember
#
# - The gradient of a batch is the **average of its samples' gradients**. This is exact if the loss averages and the samples do
#   not see each other.
# - Samples may pass through **together or one at a time**, as long as the parameters stay where they are.
# - If a loss adds, the gradient adds: with $n$ samples **the sum is $n$ times as long as the mean**.
# - A larger batch has a **less random** gradient, not a different one.
# - `backward()` **adds** to `.grad`, and `torch.autograd.grad` **returns** gradients. "In place" means in the model's own
#   tensor.
#
# <details><summary>References</summary>
#
# - PyTorch: [how autograd works](https://pytorch.org/docs/stable/notes/autograd.html),
#   [the function `torch.autograd.grad`](https://pytorch.org/docs/stable/generated/torch.autograd.grad.html)
# - [The claims ledger](../docs/claims.md): row 3, `backward()` adds; row 14, the variance of a gradient
# - [Real trainers](../docs/trainers.md): "a classifier's losses are added up"
# </details>
#
# If the samples may come one at a time, why do we bother with batches at all, and what stops us from making them huge? **[02 ·
# Memory limits](02_memory_limits.ipynb)**
