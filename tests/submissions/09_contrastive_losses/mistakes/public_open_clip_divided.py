"""The same trainer with the division that users ask for."""

import torch

from gradaccum.contrastive import info_nce

STYLE = "a contrastive trainer with the change its users propose (OpenCLIP)"
REPORT = "users ask whether the loss should not be divided by the number of micro-batches"
SOURCE = "https://github.com/mlfoundations/open_clip/issues/761"
PREDICTED = ("window-loss-over-n",)
EXERCISE = "accumulate_contrastive"
MISTAKES = ("window-loss-over-n",)
LOST = ("encoders", "ragged", "clean", "memory")


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
        (total_loss / len(accum_images)).backward()
    return total_loss.item()
