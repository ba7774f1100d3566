"""The sections of this unit's notebook that explain certain mistakes, whichever exercise they were made in."""

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
    "Stretch: powers of two?": ("powers-of-two-only",),
}
"""Slugs of mistakes by the heading of the section, exactly as it is written in the notebook."""
