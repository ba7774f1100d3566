"""Sends twice the gradient through the features, and returns nothing."""

import torch

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"
MISTAKES = ("gradient-doubled",)
LOST = ("encoders", "ragged", "clean", "loss", "memory")


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    batches = list(micro_batches)
    encode_image.zero_grad()
    encode_text.zero_grad()
    logit_scale.grad = None
    with torch.no_grad():
        u = torch.cat([encode_image(a) for a, _ in batches])
        v = torch.cat([encode_text(b) for _, b in batches])
    loss = info_nce(u.requires_grad_(), v.requires_grad_(), logit_scale)
    loss.backward()
    sizes = [len(a) for a, _ in batches]
    for (a, b), of_images, of_texts in zip(batches, u.grad.split(sizes), v.grad.split(sizes), strict=True):
        encode_image(a).backward(2 * of_images)
        encode_text(b).backward(2 * of_texts)
