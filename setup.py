"""What pyproject.toml cannot say.

``solutions/``, a folder of its own in a clone, is part of a package once installed. The project's addresses are those that
notebooks carry as well.
"""

import tomllib
from pathlib import Path

from setuptools import find_packages, setup

SOLUTIONS = "autograder.publishing.solutions"  # autograder.publishing.nbgrader_course looks for it
ORIGIN = tomllib.loads(Path("autograder/publishing/origin.toml").read_text(encoding="utf-8"))
ADDRESSES = {"Repository": "{repository}", "Changelog": "{repository}/blob/main/CHANGELOG.md"} if ORIGIN["repository"] else {}
ADDRESSES |= {"Documentation": "{site}"} if ORIGIN["site"] else {}

setup(
    packages=[*find_packages(include=["gradaccum*", "autograder*"]), SOLUTIONS],
    package_dir={SOLUTIONS: "solutions"},
    project_urls={label: address.format_map(ORIGIN) for label, address in ADDRESSES.items()},
)
