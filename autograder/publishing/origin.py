"""Where the course is published, and what notebooks carry because of it: badges, links into the guides, an installing cell."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

PLACE = Path(__file__).with_name("origin.toml")
"""Where the addresses are written down, in a clone as in a wheel."""

BRANCH = "main"

HOSTS = {
    "Colab": (
        "https://colab.research.google.com/assets/colab-badge.svg",
        "https://colab.research.google.com/github/{path}/blob/{branch}/course/{unit}.ipynb",
    ),
    "Kaggle": (
        "https://kaggle.com/static/images/open-in-kaggle.svg",
        "https://kaggle.com/kernels/welcome?src=https://github.com/{path}/blob/{branch}/course/{unit}.ipynb",
    ),
    "Binder": (
        "https://mybinder.org/badge_logo.svg",
        "https://mybinder.org/v2/gh/{path}/{branch}?urlpath=lab/tree/course/{unit}.ipynb",
    ),
}
"""The image of a badge, and the address that opens a notebook of a repository on GitHub."""

INSTALL_CELL = """\
# Colab and Kaggle come without this course, so it is installed there. Anywhere else, and if it is there, nothing happens.
import os
import sys
from importlib.util import find_spec

on_a_host = "google.colab" in sys.modules or "KAGGLE_KERNEL_RUN_TYPE" in os.environ
if on_a_host and find_spec("gradaccum") is None:
    import subprocess

    print("Installing the course …")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", {package!r}]
    if (done := subprocess.run(pip, capture_output=True, text=True)).returncode:
        raise RuntimeError(f"{{done.stderr}}\\nNot installed. On Kaggle, turn Internet on in the notebook's settings.")"""


@dataclass(frozen=True)
class Origin:
    """Addresses without a slash at their end, and what pip installs; each may be empty, as ``origin.toml`` explains.

    Raises:
        ValueError: one of them is not what it should be.
    """

    repository: str = ""
    site: str = ""
    package: str = ""

    def __post_init__(self) -> None:
        for name in ("repository", "site"):
            if (address := getattr(self, name)) and not re.fullmatch(r"https://[^/?#\s]+(/[^/?#\s]+)*", address):
                raise ValueError(
                    f"{name} = {address!r}: write an address such as https://github.com/OWNER/NAME, no slash at its end"
                )
        if not re.fullmatch(r"([^-\s]\S*)?", self.package):
            raise ValueError(f"package = {self.package!r}: write one name or address that pip can install")

    @classmethod
    def read(cls, text: str) -> Origin:
        """The origin that a file in the form of ``origin.toml`` describes.

        Raises:
            ValueError: it is not such a file, or says something that cannot be.
        """
        said = tomllib.loads(text)
        if unknown := sorted(name for name, value in said.items() if name not in cls.__annotations__ or type(value) is not str):
            raise ValueError(f"{unknown[0]}: only {', '.join(cls.__annotations__)} can stand here, each with a text")
        return cls(**said)

    def badges(self, unit: str) -> str:
        """Markdown of links that open a unit's notebook on hosts; empty unless the repository is on GitHub."""
        address = urlsplit(self.repository)
        if address.netloc != "github.com":
            return ""
        words = {"path": address.path.strip("/"), "branch": BRANCH, "unit": unit}
        return "\n".join(f"[![Open in {host}]({image})]({target.format_map(words)})" for host, (image, target) in HOSTS.items())

    def install_cell(self) -> str:
        """The code that installs the course on Colab and Kaggle; empty if nobody said what to install."""
        return INSTALL_CELL.format(package=self.package) if self.package else ""

    def with_addresses(self, markdown: str) -> str:
        """The text of a notebook's cell, with links into ``docs/`` that do not depend on where the notebook is."""
        if self.site:
            return re.sub(r"\]\(\.\./(docs/\w+)\.md", rf"]({self.site}/\1.html", markdown)
        return markdown.replace("](../docs/", f"]({self.repository}/blob/{BRANCH}/docs/") if self.repository else markdown

    def without_addresses(self, markdown: str) -> str:
        """The reverse of :meth:`with_addresses`, and badges as plain links: for pages of the site, which ask no other host."""
        for start in filter(None, (self.site, self.repository and f"{self.repository}/blob/{BRANCH}")):
            markdown = re.sub(rf"\]\({re.escape(start)}/(docs/\w+)\.(html|md)", r"](../\1.md", markdown)
        return re.sub(r"\[!\[(Open in \w+)\]\([^)]*\)\]\(", r"[\1](", markdown)


@cache
def published_origin() -> Origin:
    """The origin of this copy of the course.

    Raises:
        ValueError: ``origin.toml`` is not as it should be; the message says where and why.
    """
    try:
        return Origin.read(PLACE.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{PLACE}: {error}") from None
