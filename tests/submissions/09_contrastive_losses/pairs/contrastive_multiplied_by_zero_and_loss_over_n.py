"""Multiplies old gradients by zero, which infinity survives, and returns the loss divided by the number of micro-batches."""

import torch

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"
MISTAKES = ("loss-scaled-in-log",)
LOST = ("clean", "loss")


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    window = list(micro_batches)
    for parameter in (*encode_image.parameters(), *encode_text.parameters(), logit_scale):
        if parameter.grad is not None:
            parameter.grad.mul_(0)
    with torch.no_grad():
        u = torch.cat([encode_image(images) for images, _ in window])
        v = torch.cat([encode_text(texts) for _, texts in window])
    u.requires_grad_()
    v.requires_grad_()
    loss = info_nce(u, v, logit_scale)
    loss.backward()
    sizes = [len(images) for images, _ in window]
    for (images, texts), gu, gv in zip(window, u.grad.split(sizes), v.grad.split(sizes), strict=True):
        encode_image(images).backward(gu)
        encode_text(texts).backward(gv)
    return loss.item() / len(window)
