"""Two backward passes for each micro-batch, both with logit_scale."""

import torch

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"
MISTAKES = ("temperature-again",)
LOST = ("scale",)


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    batches = list(micro_batches)
    encode_image.zero_grad()
    encode_text.zero_grad()
    logit_scale.grad = None

    with torch.no_grad():
        us = [encode_image(a) for a, _ in batches]
        vs = [encode_text(b) for _, b in batches]
    for k, (a, b) in enumerate(batches):
        loss = info_nce(torch.cat(us[:k] + [encode_image(a)] + us[k + 1 :]), torch.cat(vs), logit_scale)
        loss.backward()
        loss = info_nce(torch.cat(us), torch.cat(vs[:k] + [encode_text(b)] + vs[k + 1 :]), logit_scale)
        loss.backward()
    return loss.item()
