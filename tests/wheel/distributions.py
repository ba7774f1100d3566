"""What installed distributions need."""

from __future__ import annotations

import contextlib
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def applies(requirement: Requirement, extra: str = "") -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def needed_by(*lines: str) -> set[str]:
    """The distributions that these requirements name, and all that they require."""
    found: set[tuple[str, str]] = set()
    waiting = [*map(Requirement, lines)]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        for extra in {"", *requirement.extras} - {extra for known, extra in found if known == name}:
            found.add((name, extra))
            with contextlib.suppress(metadata.PackageNotFoundError):
                waiting += [needed for needed in map(Requirement, metadata.requires(name) or []) if applies(needed, extra)]
    return {name for name, _ in found}
