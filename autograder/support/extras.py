"""What comes with an extra of the package, such as ``gradaccum[classroom]``, and whether it is installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version


class MissingExtraError(RuntimeError):
    """An extra is not installed. One line: what is missing, and how to install it."""


def require_extra(extra: str) -> None:
    """Check that all the distributions of an extra are installed.

    Raises:
        MissingExtraError: some are not.
    """
    if missing := sorted({name for name in _distributions(extra) if not _is_installed(name)}):
        raise MissingExtraError(f"this needs {', '.join(missing)}; install with pip install 'gradaccum[{extra}]'")


def _distributions(extra: str) -> Iterator[str]:
    """The distributions that an extra names; none where the package is used without being installed, as on a GPU machine."""
    from packaging.requirements import Requirement

    if not _is_installed("gradaccum"):
        return
    for requirement in map(Requirement, requires("gradaccum") or ()):
        if (
            requirement.marker
            and requirement.marker.evaluate({"extra": extra})
            and not requirement.marker.evaluate({"extra": ""})
        ):
            if requirement.name == "gradaccum":
                for inner in requirement.extras:
                    yield from _distributions(inner)
            else:
                yield requirement.name


def _is_installed(distribution: str) -> bool:
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True
