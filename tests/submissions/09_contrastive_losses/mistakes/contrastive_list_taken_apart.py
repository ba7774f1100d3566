"""Takes each micro-batch off the list that it was given once it has been encoded for the last time."""

import torch

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"
MISTAKES = ()
LOST = ("encoders", "clean", "memory")


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    for parameter in [*encode_image.parameters(), *encode_text.parameters(), logit_scale]:
        parameter.grad = None
    left = micro_batches if isinstance(micro_batches, list) else list(micro_batches)
    with torch.no_grad():
        caches = zip(*((encode_image(images), encode_text(texts)) for images, texts in left), strict=True)
        image_cache, text_cache = map(list, caches)
    sizes = [len(features) for features in image_cache]
    leaves = [torch.cat(cache).requires_grad_() for cache in (image_cache, text_cache)]
    loss = info_nce(*leaves, logit_scale)
    loss.backward()
    of_images, of_texts = (list(leaf.grad.split(sizes)) for leaf in leaves)
    while left:
        images, texts = left.pop(0)
        encode_image(images).backward(of_images.pop(0))
        encode_text(texts).backward(of_texts.pop(0))
    return loss.item()
