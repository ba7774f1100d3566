"""Says nothing about optimizers. No named mistake."""

EXERCISE = "breaks_equivalence"
MISTAKES = ()
LOST = ("updates",)


def breaks_equivalence():
    return {
        "linear": False,
        "batchnorm-training": True,
        "batchnorm-eval": False,
        "layernorm": False,
        "groupnorm": False,
        "weight-decay": False,
        "step-per-micro-batch": True,
        "clip-per-window": False,
        "clip-per-micro-batch": True,
        "contrastive-loss": True,
    }
