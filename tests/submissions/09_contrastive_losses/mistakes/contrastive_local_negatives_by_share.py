"""The losses of the micro-batches, each by its share of the pairs."""

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"
MISTAKES = ("local-negatives",)
LOST = ("encoders", "ragged", "scale", "clean", "loss", "memory")


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    for parameter in [*encode_image.parameters(), *encode_text.parameters(), logit_scale]:
        parameter.grad = None
    batches = list(micro_batches)
    pairs = sum(len(images) for images, _ in batches)
    total = 0.0
    for images, texts in batches:
        loss = len(images) / pairs * info_nce(encode_image(images), encode_text(texts), logit_scale)
        loss.backward()
        total += loss.item()
    return total
