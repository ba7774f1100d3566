"""torch.autograd.grad into buffers of its own, one encoder after the other."""

import torch

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"


def add_gradients(encode, inputs, pulls, buffers):
    parameters = list(buffers)
    for x, pull in zip(inputs, pulls):
        gradients = torch.autograd.grad(encode(x), parameters, grad_outputs=pull, allow_unused=True)
        for parameter, gradient in zip(parameters, gradients):
            if gradient is not None:
                buffers[parameter] += gradient


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    images, texts = zip(*micro_batches)
    sizes = [len(x) for x in images]
    with torch.no_grad():
        features = [torch.cat([encode_image(x) for x in images]), torch.cat([encode_text(x) for x in texts])]
    for one in features:
        one.requires_grad_(True)
    loss = info_nce(*features, logit_scale)
    *pulls, scale_gradient = torch.autograd.grad(loss, [*features, logit_scale])
    for encode, inputs, pull in zip((encode_image, encode_text), (images, texts), pulls):
        buffers = {p: torch.zeros_like(p) for p in encode.parameters() if p.requires_grad}
        add_gradients(encode, inputs, pull.split(sizes), buffers)
        for parameter, buffer in buffers.items():
            parameter.grad = buffer
    logit_scale.grad = scale_gradient
    return loss.item()
