"""Compares micro-batches of different sizes with their own pairs only."""

import torch

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"
MISTAKES = ("local-negatives",)
LOST = ("ragged", "scale", "loss")


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    batches = list(micro_batches)
    encode_image.zero_grad()
    encode_text.zero_grad()
    logit_scale.grad = None
    sizes = [len(a) for a, _ in batches]
    if len(set(sizes)) > 1:
        losses = []
        for a, b in batches:
            loss = info_nce(encode_image(a), encode_text(b), logit_scale) / len(batches)
            loss.backward()
            losses.append(loss.item())
        return sum(losses)
    with torch.no_grad():
        u = torch.cat([encode_image(a) for a, _ in batches])
        v = torch.cat([encode_text(b) for _, b in batches])
    loss = info_nce(u.requires_grad_(), v.requires_grad_(), logit_scale)
    loss.backward()
    for (a, b), of_images, of_texts in zip(batches, u.grad.split(sizes), v.grad.split(sizes), strict=True):
        encode_image(a).backward(of_images)
        encode_text(b).backward(of_texts)
    return loss.item()
