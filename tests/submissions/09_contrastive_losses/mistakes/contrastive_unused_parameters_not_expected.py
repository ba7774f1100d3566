"""Takes every parameter to have a gradient, which those that are frozen or never used do not."""

import torch

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"
MISTAKES = ()
LOST = ("ragged",)


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    logit_scale.grad = None
    batches = list(micro_batches)
    with torch.no_grad():
        image_cache = [encode_image(images) for images, _ in batches]
        text_cache = [encode_text(texts) for _, texts in batches]
    leaves = [torch.cat(cache).requires_grad_() for cache in (image_cache, text_cache)]
    loss = info_nce(*leaves, logit_scale)
    loss.backward()
    sizes = [len(features) for features in image_cache]
    for k, encoder in enumerate((encode_image, encode_text)):
        parameters = list(encoder.parameters())
        total = [torch.zeros_like(parameter) for parameter in parameters]
        for pair, asked in zip(batches, leaves[k].grad.split(sizes)):
            for kept, gradient in zip(total, torch.autograd.grad(encoder(pair[k]), parameters, asked)):
                kept += gradient
        for parameter, kept in zip(parameters, total):
            parameter.grad = kept
    return loss.item()
