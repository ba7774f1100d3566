"""What the course adds to nbgrader; `nbgrader_config.py` of a class names these classes."""

from __future__ import annotations

from nbgrader.preprocessors import NbGraderPreprocessor


class ForgetDuplicates(NbGraderPreprocessor):
    """Let the copy of a cell, as it arises when a student splits or copies one, be an ordinary cell.

    Runs after nbgrader's DeduplicateIds, which leaves such a cell with empty metadata. Later steps (nbgrader 0.9) take
    these for an outdated format and stop: not this submission but the whole class stays unmarked.
    """

    def preprocess_cell(self, cell, resources, cell_index):
        if not cell.metadata.get("nbgrader", True):
            del cell.metadata["nbgrader"]
        return cell, resources
