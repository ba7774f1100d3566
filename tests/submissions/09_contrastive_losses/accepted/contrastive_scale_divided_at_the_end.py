"""Live features among cached ones; the gradient of logit_scale is divided by N at the end."""

import torch

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    encode_image.zero_grad(set_to_none=False)
    encode_text.zero_grad()
    if logit_scale.grad is not None:
        logit_scale.grad.zero_()
    batches = list(micro_batches)
    with torch.no_grad():
        image_cache = [encode_image(images) for images, _ in batches]
        text_cache = [encode_text(texts) for _, texts in batches]
    total = 0.0
    for k, (images, texts) in enumerate(batches):
        image_features = torch.cat([*image_cache[:k], encode_image(images), *image_cache[k + 1 :]])
        text_features = torch.cat([*text_cache[:k], encode_text(texts), *text_cache[k + 1 :]])
        loss = info_nce(image_features, text_features, logit_scale)
        loss.backward()
        total += float(loss)
    logit_scale.grad /= len(batches)
    return total / len(batches)
