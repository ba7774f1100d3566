"""Sets .grad only where a gradient arrives, so an unused parameter keeps its old one."""

import torch

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"
MISTAKES = ("stale-start",)
LOST = ("clean",)


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    batches = list(micro_batches)
    sizes = [len(images) for images, _ in batches]
    encoders = (encode_image, encode_text)
    with torch.no_grad():
        features = [torch.cat([encoders[k](pair[k]) for pair in batches]) for k in range(2)]
    loss = info_nce(*(each.requires_grad_() for each in features), logit_scale)
    *rows, logit_scale.grad = torch.autograd.grad(loss, [*features, logit_scale])
    for k, encoder in enumerate(encoders):
        trained = [p for p in encoder.parameters() if p.requires_grad]
        seen = set()
        for pair, gradient in zip(batches, rows[k].split(sizes), strict=True):
            found = torch.autograd.grad(encoder(pair[k]), trained, gradient, allow_unused=True)
            for p, g in zip(trained, found, strict=True):
                if g is not None:
                    p.grad = p.grad + g if p in seen else g
                    seen.add(p)
    return loss.item()
