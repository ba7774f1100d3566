"""Lets vmap draw the same random numbers for every sample."""

from torch.func import functional_call, grad, vmap

EXERCISE = "average_sample_gradients"
MISTAKES = ()
LOST = ("untouched",)


def average_sample_gradients(model, loss_fn, x, y):
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def loss(own, a, b):
        return loss_fn(functional_call(model, own, (a[None],)), b[None])

    each = vmap(grad(loss), in_dims=(None, 0, 0), randomness="same")(parameters, x, y)
    return {name: gradients.mean(0) for name, gradients in each.items()}
