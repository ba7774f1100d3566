"""The loss of cached features goes backward, which reaches logit_scale only."""

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
    loss = info_nce(torch.cat(image_cache), torch.cat(text_cache), logit_scale)
    loss.backward()
    return loss.item()
