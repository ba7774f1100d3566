"""Walks through the micro-batches twice."""

import torch

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"
MISTAKES = ("stream-spent",)
LOST = ("ragged",)


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    for parameter in [*encode_image.parameters(), *encode_text.parameters(), logit_scale]:
        parameter.grad = None
    image_cache, text_cache = [], []
    with torch.no_grad():
        for images, texts in micro_batches:
            image_cache.append(encode_image(images))
            text_cache.append(encode_text(texts))
    leaves = [torch.cat(cache).requires_grad_() for cache in (image_cache, text_cache)]
    loss = info_nce(*leaves, logit_scale)
    loss.backward()
    start = 0
    for images, texts in micro_batches:
        end = start + len(images)
        encode_image(images).backward(leaves[0].grad[start:end])
        encode_text(texts).backward(leaves[1].grad[start:end])
        start = end
    return loss.item()
