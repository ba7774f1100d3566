"""Sections of this unit that show certain mistakes, whichever exercise they were made in."""

SHOWN = {
    "Tensors and storages": ("counts-twice", "sizes-merged", "views-cut-short", "parameters-by-shape"),
    "Four kinds of bytes": ("line-through-zero", "fixed-forgotten", "fixed-for-each"),
}
"""By heading, as it stands in the notebook, the slugs of mistakes."""
