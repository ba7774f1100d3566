"""Live images among cached texts: the text encoder learns nothing."""

import torch

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"
MISTAKES = ("encoder-not-reached",)
LOST = ("encoders", "ragged", "clean", "memory")


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    for parameter in [*encode_image.parameters(), *encode_text.parameters(), logit_scale]:
        parameter.grad = None
    batches = list(micro_batches)
    with torch.no_grad():
        image_cache = [encode_image(images) for images, _ in batches]
        text_cache = [encode_text(texts) for _, texts in batches]
    text_features = torch.cat(text_cache)
    for k, (images, _) in enumerate(batches):
        image_features = torch.cat([*image_cache[:k], encode_image(images), *image_cache[k + 1 :]])
        scale = logit_scale if k == 0 else logit_scale.detach()
        loss = info_nce(image_features, text_features, scale)
        loss.backward()
    return loss.item()
