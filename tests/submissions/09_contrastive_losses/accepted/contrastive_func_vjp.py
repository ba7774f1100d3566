"""torch.func: vector-Jacobian products of functional calls."""

import torch

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"


def pull_back(encode, inputs, pulls):
    parameters = {name: p.detach() for name, p in encode.named_parameters() if p.requires_grad}
    total = {name: torch.zeros_like(p) for name, p in parameters.items()}
    for x, pull in zip(inputs, pulls):
        _, vjp = torch.func.vjp(lambda p: torch.func.functional_call(encode, p, (x,)), parameters)
        (gradients,) = vjp(pull)
        total = {name: total[name] + gradients[name] for name in total}
    for name, parameter in encode.named_parameters():
        if name in total:
            parameter.grad = total[name]


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    images, texts = map(list, zip(*micro_batches))
    with torch.no_grad():
        features = [torch.cat([encode(x) for x in xs]) for encode, xs in ((encode_image, images), (encode_text, texts))]
    loss_of = torch.func.grad_and_value(info_nce, argnums=(0, 1, 2))
    (for_images, for_texts, for_scale), loss = loss_of(*features, logit_scale.detach())
    pull_back(encode_image, images, for_images.split([len(x) for x in images]))
    pull_back(encode_text, texts, for_texts.split([len(x) for x in texts]))
    logit_scale.grad = for_scale
    return loss.item()
