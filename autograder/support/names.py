"""Names as options of a command give them: separated by commas, and an option may be given several times."""

from __future__ import annotations

from collections.abc import Iterable


def names_in(texts: Iterable[str] | None) -> list[str]:
    """The names in comma-separated lists, without blanks around them."""
    return [name.strip() for text in texts or () for name in text.split(",") if name.strip()]
