"""Walks through the micro-batches once for the images and once for the texts, which a generator has no more."""

import torch

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"
MISTAKES = ("stream-spent",)
LOST = ("ragged",)


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    for parameter in [*encode_image.parameters(), *encode_text.parameters(), logit_scale]:
        parameter.grad = None
    with torch.no_grad():
        image_features = torch.cat([encode_image(images) for images, _ in micro_batches])
        text_features = torch.cat([encode_text(texts) for _, texts in micro_batches])
    image_features.requires_grad_()
    text_features.requires_grad_()
    loss = info_nce(image_features, text_features, logit_scale)
    loss.backward()
    start = 0
    for images, texts in micro_batches:
        end = start + len(images)
        encode_image(images).backward(image_features.grad[start:end])
        encode_text(texts).backward(text_features.grad[start:end])
        start = end
    return loss.item()
