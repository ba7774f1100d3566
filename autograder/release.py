"""Build ``course/`` from ``solutions/``: ``python -m autograder.release``, or ``make release``.

How to write a solution script is said in :mod:`autograder.solution_script`.
"""
