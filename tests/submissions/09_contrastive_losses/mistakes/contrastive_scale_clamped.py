"""Clamps logit_scale in place, as CLIP's training does after an update."""

import math

import torch

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"
MISTAKES = ()
LOST = ("encoders",)


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    batches = list(micro_batches)
    for p in (*encode_image.parameters(), *encode_text.parameters(), logit_scale):
        p.grad = None
    with torch.no_grad():
        us, vs = [encode_image(images) for images, _ in batches], [encode_text(texts) for _, texts in batches]
    u, v = torch.cat(us).requires_grad_(), torch.cat(vs).requires_grad_()
    loss = info_nce(u, v, logit_scale)
    loss.backward()
    sizes = [len(part) for part in us]
    for (images, texts), gu, gv in zip(batches, u.grad.split(sizes), v.grad.split(sizes), strict=True):
        encode_image(images).backward(gu)
        encode_text(texts).backward(gv)
    with torch.no_grad():
        logit_scale.clamp_(0, math.log(100))
    return loss.item()
