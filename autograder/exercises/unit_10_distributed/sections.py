"""Sections of this unit that show certain mistakes, whichever exercise they were made in."""

SHOWN = {
    "no_sync": ("sync-around-backward-only", "sync-wrong-one", "tail-not-synced", "windows-not-synced"),
    "DistributedDataParallel": ("rank-sum", "rank-divided-twice", "never-sync"),
}
"""By heading, as it stands in the notebook, the slugs of mistakes."""
