"""The window's loss goes backward, and once more."""

import torch

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"
MISTAKES = ("gradient-doubled",)
LOST = ("encoders", "ragged", "scale", "clean", "memory")


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
    loss = info_nce(u, v, logit_scale)
    loss.backward(retain_graph=True)
    loss.backward()
    start = 0
    for a, b in batches:
        stop = start + len(a)
        encode_image(a).backward(u.grad[start:stop])
        encode_text(b).backward(v.grad[start:stop])
        start = stop
    return loss.item()
