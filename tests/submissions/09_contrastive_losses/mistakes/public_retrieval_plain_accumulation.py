"""Accumulates a contrastive loss as if it were any other."""

from gradaccum.contrastive import info_nce

STYLE = "a video retrieval trainer (CLIP4Clip)"
REPORT = "with plain accumulation a pair is compared with those of its own forward only, and results are poorer"
SOURCE = "https://github.com/ArrowLuo/CLIP4Clip/issues/84"
EXERCISE = "accumulate_contrastive"
MISTAKES = ("local-negatives",)
LOST = ("encoders", "ragged", "scale", "clean", "loss", "memory")


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    batches = list(micro_batches)
    for parameter in [*encode_image.parameters(), *encode_text.parameters(), logit_scale]:
        parameter.grad = None
    total_loss = 0.0
    for video, text in batches:
        loss = info_nce(encode_image(video), encode_text(text), logit_scale)
        if len(batches) > 1:
            loss = loss / len(batches)
        loss.backward()
        total_loss += float(loss)
    return total_loss
