"""Caches features with their graphs, so all of these are alive at once."""

import torch

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"
MISTAKES = ("one-big-batch",)
LOST = ("memory",)


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    for parameter in [*encode_image.parameters(), *encode_text.parameters(), logit_scale]:
        parameter.grad = None
    images, texts = [], []
    for x, y in micro_batches:
        images.append(encode_image(x))
        texts.append(encode_text(y))
    loss = info_nce(torch.cat(images), torch.cat(texts), logit_scale)
    loss.backward()
    return loss.item()
