"""Uses vmap as the tutorial does, which raises an error as soon as a model in training mode has dropout."""

from torch.func import functional_call, grad, vmap

EXERCISE = "average_sample_gradients"
MISTAKES = ()
LOST = ("mean",)


def average_sample_gradients(model, loss_fn, x, y):
    parameters = {n: p.detach() for n, p in model.named_parameters()}

    def compute_loss(parameters, sample, target):
        return loss_fn(functional_call(model, parameters, (sample.unsqueeze(0),)), target.unsqueeze(0))

    per_sample = vmap(grad(compute_loss), in_dims=(None, 0, 0))(parameters, x, y)
    return {n: g.mean(0) for n, g in per_sample.items()}
