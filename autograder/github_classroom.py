"""The public path of :func:`main`, which the GitHub workflow runs as ``python -m autograder.github_classroom``."""

from autograder.hosts.github_classroom import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
