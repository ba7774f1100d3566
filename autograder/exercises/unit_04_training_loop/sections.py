"""Sections of this unit that show certain mistakes, whichever exercise they were made in."""

SHOWN = {
    "Explore: loop timeline": ("zero-before-step", "never-zero", "stale-start", "one-big-batch"),
    "Clearing too early": ("zero-every",),
    "Updating too early": ("step-every", "off-by-one-early", "off-by-one-late"),
    "Explore: missing 1/N": ("no-scale", "double-scale", "lr-scaled-too"),
    "Cutting a stream into windows": ("epoch-prefetched", "same-batch-repeated"),
    "A leftover that is lost": ("tail-dropped", "tail-stale", "tail-scale", "short-epoch-no-step"),
    "Explore: the gallery": ("retained-graph", "detached", "grad-disabled", "eval-mode"),
}
"""By heading, as it stands in the notebook, the slugs of mistakes."""
