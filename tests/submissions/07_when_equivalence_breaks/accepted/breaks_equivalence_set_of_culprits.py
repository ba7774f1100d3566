"""Names those that break it; the rest is fine. Answers in another order, as 0 and 1."""

EXERCISE = "breaks_equivalence"


BREAK = {"batchnorm-training", "step-per-micro-batch", "clip-per-micro-batch", "contrastive-loss"}
FINE = {"linear", "batchnorm-eval", "layernorm", "groupnorm", "momentum", "adamw", "weight-decay", "clip-per-window"}


def breaks_equivalence():
    return {key: int(key in BREAK) for key in sorted(BREAK | FINE)}
