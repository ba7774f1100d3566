"""All normalization looks alike."""

EXERCISE = "breaks_equivalence"
MISTAKES = ("sound-layer-blamed",)
LOST = ("layers",)


def breaks_equivalence():
    return {
        "linear": False,
        "batchnorm-training": True,
        "batchnorm-eval": True,
        "layernorm": True,
        "groupnorm": True,
        "momentum": False,
        "adamw": False,
        "weight-decay": False,
        "step-per-micro-batch": True,
        "clip-per-window": False,
        "clip-per-micro-batch": True,
        "contrastive-loss": True,
    }
