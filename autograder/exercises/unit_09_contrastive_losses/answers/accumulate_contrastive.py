"""Passes the gradients of the cached features to `backward`.

Multiplies the features by those gradients. The gradient of this product is the one that is due, so a plain `backward()`
will do.
"""

import torch

from gradaccum.contrastive import info_nce


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    for parameter in [*encode_image.parameters(), *encode_text.parameters(), logit_scale]:
        parameter.grad = None
    batches = list(micro_batches)
    with torch.no_grad():
        image_cache = [encode_image(images) for images, _ in batches]
        text_cache = [encode_text(texts) for _, texts in batches]
    leaves = [torch.cat(cache).requires_grad_() for cache in (image_cache, text_cache)]
    loss = info_nce(*leaves, logit_scale)
    loss.backward()
    start = 0
    for images, texts in batches:
        end = start + len(images)
        surrogate = (encode_image(images) * leaves[0].grad[start:end]).sum()
        surrogate = surrogate + (encode_text(texts) * leaves[1].grad[start:end]).sum()
        surrogate.backward()
        start = end
    return float(loss)
