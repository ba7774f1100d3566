"""Caches all features, then encodes each micro-batch again among them and sends the whole loss backward."""

import torch

from gradaccum.contrastive import info_nce

STYLE = "a contrastive trainer (OpenCLIP)"
REPORT = "encoders' gradients come out as the large batch's, that of logit_scale N times too large"
SOURCE = "claims 29"
PREDICTED = ("temperature-times-n",)
EXERCISE = "accumulate_contrastive"
MISTAKES = ("temperature-times-n",)
LOST = ("scale",)


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    accum_images, accum_texts, features = [], [], {"image": [], "text": []}
    for images, texts in micro_batches:
        with torch.no_grad():
            features["image"].append(encode_image(images))
            features["text"].append(encode_text(texts))
        accum_images.append(images)
        accum_texts.append(texts)
    for parameter in [*encode_image.parameters(), *encode_text.parameters(), logit_scale]:
        parameter.grad = None
    for j in range(len(accum_images)):
        out = {"image": encode_image(accum_images[j]), "text": encode_text(accum_texts[j])}
        inputs = {key: torch.cat(features[key][:j] + [out[key]] + features[key][j + 1 :]) for key in out}
        total_loss = info_nce(inputs["image"], inputs["text"], logit_scale)
        total_loss.backward()
    return total_loss.item()
