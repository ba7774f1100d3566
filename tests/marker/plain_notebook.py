"""A notebook of code cells, as plain data."""

from __future__ import annotations


def notebook(*sources: str | tuple[str, dict], unit: str | None = None) -> dict:
    """A notebook of code cells; a cell may come with its nbgrader metadata."""
    cells = []
    for source in sources:
        source, roles = (source, None) if isinstance(source, str) else source
        metadata = {"nbgrader": roles} if roles else {}
        cells.append({"cell_type": "code", "metadata": metadata, "source": source, "outputs": [], "execution_count": None})
    metadata = {"gradaccum": {"unit": unit}} if unit else {}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 4}
