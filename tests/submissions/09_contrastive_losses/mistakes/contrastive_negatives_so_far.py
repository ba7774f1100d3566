"""A memory of the features that came before; those to come are unknown."""

import torch

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"
MISTAKES = ("negatives-so-far",)
LOST = ("encoders", "ragged", "scale", "clean", "loss", "memory")


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    for parameter in [*encode_image.parameters(), *encode_text.parameters(), logit_scale]:
        parameter.grad = None
    batches, image_memory, text_memory, losses = list(micro_batches), [], [], []
    for images, texts in batches:
        image_features, text_features = encode_image(images), encode_text(texts)
        image_memory.append(image_features.detach())
        text_memory.append(text_features.detach())
        loss = info_nce(
            torch.cat([*image_memory[:-1], image_features]), torch.cat([*text_memory[:-1], text_features]), logit_scale
        )
        (loss / len(batches)).backward()
        losses.append(loss.item())
    return sum(losses) / len(losses)
