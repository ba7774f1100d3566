"""Takes every mean for a mean over samples."""

EXERCISE = "breaks_equivalence"
MISTAKES = ("contrastive-trusted",)
LOST = ("clipping and losses",)


def breaks_equivalence():
    return {
        "linear": False,
        "batchnorm-training": True,
        "batchnorm-eval": False,
        "layernorm": False,
        "groupnorm": False,
        "momentum": False,
        "adamw": False,
        "weight-decay": False,
        "step-per-micro-batch": True,
        "clip-per-window": False,
        "clip-per-micro-batch": True,
        "contrastive-loss": False,
    }
