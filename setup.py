"""What pyproject.toml cannot say.

``solutions/``, a folder of its own in a clone, is part of a package once installed. The project's addresses are those of the
repository whose workflow builds it, so that a copy of the course names itself.
"""

import os

from setuptools import find_packages, setup

SOLUTIONS = "autograder.publishing.solutions"  # autograder.publishing.nbgrader_course looks for it
REPOSITORY = "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}"  # variables of GitHub's workflows
URL = REPOSITORY.format_map(os.environ) if "GITHUB_REPOSITORY" in os.environ else ""

setup(
    packages=[*find_packages(include=["gradaccum*", "autograder*"]), SOLUTIONS],
    package_dir={SOLUTIONS: "solutions"},
    project_urls={"Repository": URL, "Changelog": f"{URL}/blob/main/CHANGELOG.md"} if URL else {},
)
