"""Build ``course/`` from ``solutions/``: ``python -m autograder.release``, or ``make release``.

How to write ``solutions/NN_name.py``
-------------------------------------
A unit is a jupytext percent script. It begins with this header, and it runs as it stands (``python solutions/NN_name.py``)::

    # ---
    # jupyter:
    #   jupytext:
    #     text_representation:
    #       extension: .py
    #       format_name: percent
    #   kernelspec:
    #     display_name: Python 3 (ipykernel)
    #     language: python
    #     name: python3
    # ---

After it come cells, of five kinds::

    # %% [markdown]
    # ## Prose, one idea per cell

    # %%
    # Code that students read and run but cannot change: imports, explorables, demonstrations.
    from autograder.check import check

    # %% free=true
    # Code that students are invited to change and to delete; marking never relies on it.
    accumulation_steps = 4

    # %% exercise="train_epoch"
    def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
        \"\"\"What the function has to do; signature and docstring are what students are given.\"\"\"
        ### BEGIN SOLUTION
        ...
        ### END SOLUTION

    # %% check="train_epoch"
    check(train_epoch)

* ``exercise="id"`` and ``check="id"`` name an exercise of :data:`autograder.exercise.EXERCISES`. Every exercise of the unit has
  one cell of each, the check after the exercise, and a check cell holds ``check(id)`` and nothing else. Points are never
  written down here: they are the exercise's own.
* What stands between ``### BEGIN SOLUTION`` and ``### END SOLUTION`` becomes ``raise NotImplementedError`` in the released
  notebook, with the indentation of the first marker; what stands outside is given to students as it is. So give the body
  one solution region, and let what is left be valid Python.
* A student's function may use what locked cells define, not what a free cell defines.
* Besides these three words a cell may carry jupytext's ``tags=[...]``. Anything else is taken for a typing mistake.
* Wrong code that students are asked to mend stands in a locked cell of its own, beside its fingerprint; the exercise cell
  after it has an ordinary stub.

Everything nbgrader needs (ids, points, locks, checksums) is added by this module. Ids come from exercise ids and headings,
nothing is random and nothing is dated, so the same scripts give the same bytes everywhere.
"""
