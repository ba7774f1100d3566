"""Divides the gradients of features by the pairs of their micro-batch, so where all are equal only the length is wrong."""

import torch

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"
MISTAKES = ()
LOST = ("encoders", "ragged", "clean", "memory")
SAYS = ("of equal size: The encoders' gradient points the right way, but is 0.",)


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    for parameter in [*encode_image.parameters(), *encode_text.parameters(), logit_scale]:
        parameter.grad = None
    batches = list(micro_batches)
    with torch.no_grad():
        image_cache = [encode_image(images) for images, _ in batches]
        text_cache = [encode_text(texts) for _, texts in batches]
    sizes = [len(features) for features in image_cache]
    leaves = [torch.cat(cache).requires_grad_() for cache in (image_cache, text_cache)]
    loss = info_nce(*leaves, logit_scale)
    loss.backward()
    for (images, texts), gi, gt in zip(batches, *(leaf.grad.split(sizes) for leaf in leaves)):
        encode_image(images).backward(gi / len(images))
        encode_text(texts).backward(gt / len(texts))
    return loss.item()
