"""Divides the cached features by their length and forgets to do so in the second pass."""

import torch
from torch.nn import functional as F

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"
MISTAKES = ("features-differ",)
LOST = ("encoders", "ragged", "clean", "memory")


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    batches = list(micro_batches)
    encode_image.zero_grad()
    encode_text.zero_grad()
    logit_scale.grad = None
    with torch.no_grad():
        u = F.normalize(torch.cat([encode_image(a) for a, _ in batches]), dim=1)
        v = F.normalize(torch.cat([encode_text(b) for _, b in batches]), dim=1)
    u.requires_grad_()
    v.requires_grad_()
    loss = info_nce(u, v, logit_scale)
    loss.backward()
    start = 0
    for a, b in batches:
        stop = start + len(a)
        encode_image(a).backward(u.grad[start:stop])
        encode_text(b).backward(v.grad[start:stop])
        start = stop
    return loss.item()
