"""Sections of this unit that show certain mistakes, whichever exercise they were made in."""

SHOWN = {
    "Explore: order of operations": (
        "clip-per-micro-batch",
        "not-clipped",
        "clip-too-early",
        "clip-before-unscale",
        "unscale-missing",
        "unscale-each",
        "scaler-step-every",
        "scaler-update-every",
    ),
    "Clipping": ("clip-by-value", "clip-per-parameter", "clip-always", "norm-after-clip"),
    "Where to clip, and at what threshold?": ("threshold-too-high", "threshold-too-low"),
}
"""By heading, as it stands in the notebook, the slugs of mistakes."""
