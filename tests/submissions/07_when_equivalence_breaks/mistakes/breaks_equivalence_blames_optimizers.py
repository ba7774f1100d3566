"""Believes what is written about optimizer state."""

EXERCISE = "breaks_equivalence"
MISTAKES = ("optimizer-blamed",)
LOST = ("updates",)


def breaks_equivalence():
    return {
        "linear": False,
        "batchnorm-training": True,
        "batchnorm-eval": False,
        "layernorm": False,
        "groupnorm": False,
        "momentum": True,
        "adamw": True,
        "weight-decay": False,
        "step-per-micro-batch": True,
        "clip-per-window": False,
        "clip-per-micro-batch": True,
        "contrastive-loss": True,
    }
