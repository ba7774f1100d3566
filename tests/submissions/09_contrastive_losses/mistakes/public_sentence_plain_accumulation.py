"""Accumulates a contrastive loss as if it were any other."""

from gradaccum.contrastive import info_nce

STYLE = "a trainer of sentence embeddings (SentenceTransformers)"
REPORT = "accumulated batches do not see each other's negatives; losses are merely averaged"
SOURCE = "https://github.com/huggingface/sentence-transformers/pull/1822"
PREDICTED = ("local-negatives",)
EXERCISE = "accumulate_contrastive"
MISTAKES = ("local-negatives",)
LOST = ("encoders", "ragged", "scale", "clean", "loss", "memory")


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    batches = list(micro_batches)
    for parameter in [*encode_image.parameters(), *encode_text.parameters(), logit_scale]:
        parameter.grad = None
    total_loss = 0.0
    for anchors, others in batches:
        loss = info_nce(encode_image(anchors), encode_text(others), logit_scale)
        if len(batches) > 1:
            loss = loss / len(batches)
        loss.backward()
        total_loss += float(loss)
    return total_loss
