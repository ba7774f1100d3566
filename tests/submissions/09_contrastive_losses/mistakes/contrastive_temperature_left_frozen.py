"""Freezes logit_scale after the first micro-batch and leaves it so."""

import torch

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"
LOST = ("encoders", "ragged", "clean", "memory")


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    batches = list(micro_batches)
    for parameter in (*encode_image.parameters(), *encode_text.parameters(), logit_scale):
        parameter.grad = None
    with torch.no_grad():
        cached = [(encode_image(images), encode_text(texts)) for images, texts in batches]
    for k, (images, texts) in enumerate(batches):
        u, v = ([pair[side] for pair in cached] for side in (0, 1))
        u[k], v[k] = encode_image(images), encode_text(texts)
        scale = logit_scale.requires_grad_(k == 0)
        loss = info_nce(torch.cat(u), torch.cat(v), scale)
        loss.backward()
    return loss.item()
