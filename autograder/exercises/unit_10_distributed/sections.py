"""The sections of this unit's notebook that explain certain mistakes, whichever exercise they were made in."""

SHOWN = {
    "no_sync": ("sync-around-backward-only", "sync-wrong-one", "tail-not-synced", "windows-not-synced"),
    "DistributedDataParallel": ("rank-sum", "rank-divided-twice", "never-sync"),
}
"""Slugs of mistakes by the heading of the section, exactly as it is written in the notebook."""
