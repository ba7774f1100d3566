"""Sections of this unit that show certain mistakes, whichever exercise they were made in."""

SHOWN = {
    "`backward()` adds": ("stale-start", "never-zero", "zero-every"),
    "A sum where a mean is due": ("double-scale", "sum-reduction"),
    "Explore: B×N equivalence": ("no-scale",),
    "Ragged micro-batches": ("mean-of-means",),
}
"""By heading, as it stands in the notebook, the slugs of mistakes."""
