"""Own negatives only, and what .grad held before."""

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"
MISTAKES = ("local-negatives", "stale-start")
LOST = ("encoders", "ragged", "scale", "clean", "loss", "memory")


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    batches = list(micro_batches)
    total = 0.0
    for images, texts in batches:
        loss = 1 / len(batches) * info_nce(encode_image(images), encode_text(texts), logit_scale)
        loss.backward()
        total += loss.item()
    return total
