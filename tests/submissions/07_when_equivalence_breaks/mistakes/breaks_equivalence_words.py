"""Answers in words. No named mistake."""

EXERCISE = "breaks_equivalence"
MISTAKES = ()
LOST = ("layers", "updates", "clipping and losses")


def breaks_equivalence():
    return {
        "linear": "no",
        "batchnorm-training": "yes",
        "batchnorm-eval": "no",
        "layernorm": "no",
        "groupnorm": "no",
        "momentum": "no",
        "adamw": "no",
        "weight-decay": "no",
        "step-per-micro-batch": "yes",
        "clip-per-window": "no",
        "clip-per-micro-batch": "yes",
        "contrastive-loss": "yes",
    }
