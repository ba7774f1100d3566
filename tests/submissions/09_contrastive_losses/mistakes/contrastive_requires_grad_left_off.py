"""Switches the encoders off and forgets to switch a bias on again."""

import torch

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"
MISTAKES = ()
LOST = ("encoders", "ragged", "clean", "memory")


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    for parameter in [*encode_image.parameters(), *encode_text.parameters(), logit_scale]:
        parameter.grad = None
    batches = list(micro_batches)
    with torch.no_grad():
        image_cache = [encode_image(images) for images, _ in batches]
        text_cache = [encode_text(texts) for _, texts in batches]
    handle = logit_scale.register_hook(lambda gradient: gradient / len(batches))
    try:
        for k, (images, texts) in enumerate(batches):
            image_features = torch.cat([*image_cache[:k], encode_image(images), *image_cache[k + 1 :]])
            text_features = torch.cat([*text_cache[:k], encode_text(texts), *text_cache[k + 1 :]])
            loss = info_nce(image_features, text_features, logit_scale)
            loss.backward()
    finally:
        handle.remove()
    next(p for p in encode_image.parameters() if p.requires_grad).requires_grad_(False)
    return loss.detach()
