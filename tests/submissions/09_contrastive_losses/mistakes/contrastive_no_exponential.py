"""Writes the loss itself and multiplies by logit_scale, without an exponential."""

import torch
from torch.nn import functional as F

EXERCISE = "accumulate_contrastive"
MISTAKES = ("scale-not-exponentiated",)
LOST = ("encoders", "ragged", "scale", "clean", "loss", "memory")


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    batches = list(micro_batches)
    encode_image.zero_grad()
    encode_text.zero_grad()
    logit_scale.grad = None
    with torch.no_grad():
        u = torch.cat([encode_image(a) for a, _ in batches])
        v = torch.cat([encode_text(b) for _, b in batches])
    u.requires_grad_()
    v.requires_grad_()
    logits = logit_scale * F.normalize(u, dim=1) @ F.normalize(v, dim=1).T
    own = torch.arange(len(logits), device=logits.device)
    loss = (F.cross_entropy(logits, own) + F.cross_entropy(logits.T, own)) / 2
    loss.backward()
    start = 0
    for a, b in batches:
        stop = start + len(a)
        encode_image(a).backward(u.grad[start:stop])
        encode_text(b).backward(v.grad[start:stop])
        start = stop
    return loss.item()
