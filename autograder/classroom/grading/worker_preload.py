"""What workers of a class need, for the process that they are forked from; only multiprocessing's fork server imports this."""

from autograder.support.garbage_collection import collection_paused, freeze_objects

with collection_paused():
    import nbformat  # noqa: F401

    import autograder.classroom.grading.marks_store
    import autograder.marking.marked_notebook  # noqa: F401

freeze_objects()
