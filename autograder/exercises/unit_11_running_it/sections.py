"""Sections of this unit that show certain mistakes, whichever exercise they were made in."""

SHOWN = {
    "Between two updates": ("mid-window-checkpoint", "checkpoint-overwritten"),
    "Explore: run dashboard": (
        "graph-kept",
        "loss-never-restarted",
        "clock-never-restarted",
        "throughput-of-one-micro-batch",
        "throughput-of-micro-batches",
        "throughput-of-updates",
    ),
    "Powers of two?": ("powers-of-two-only",),
}
"""By heading, as it stands in the notebook, the slugs of mistakes."""
