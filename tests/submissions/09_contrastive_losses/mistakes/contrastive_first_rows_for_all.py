"""Forgets to move on to the rows of the next micro-batch."""

import torch

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"
MISTAKES = ("first-rows-for-all",)
LOST = ("encoders", "ragged", "clean", "memory")


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    for parameter in [*encode_image.parameters(), *encode_text.parameters(), logit_scale]:
        parameter.grad = None
    batches = list(micro_batches)
    with torch.no_grad():
        image_features = torch.cat([encode_image(images) for images, _ in batches])
        text_features = torch.cat([encode_text(texts) for _, texts in batches])
    image_features.requires_grad_()
    text_features.requires_grad_()
    loss = info_nce(image_features, text_features, logit_scale)
    loss.backward()
    start = 0
    for images, texts in batches:
        end = start + len(images)
        encode_image(images).backward(image_features.grad[start:end])
        encode_text(texts).backward(text_features.grad[start:end])
    return loss.item()
