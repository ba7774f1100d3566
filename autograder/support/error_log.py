"""A file to which faults of the marker are written, for whoever mends them."""

from __future__ import annotations

import os
import tempfile
from datetime import datetime
from pathlib import Path

from autograder.support.edition import edition

FILE_NAME = "marker-errors.log"


def log_error(text: str, folder: Path | None = None) -> Path | None:
    """Append a text to the log, with the time and the edition of the marker; return the path of the log.

    Args:
        text: what happened, usually a traceback.
        folder: that holds the log; by default ``.gradaccum`` in the home folder, or one for temporary files if that cannot be
            written to.

    Returns:
        None if the text could be written nowhere.
    """
    folders = [folder] if folder else [Path.home() / ".gradaccum", Path(tempfile.gettempdir()) / f"gradaccum-{os.getuid()}"]
    entry = f"{datetime.now():%Y-%m-%d %H:%M:%S}, gradaccum {edition()}\n{text.rstrip()}\n\n"
    for place in folders:
        try:
            place.mkdir(parents=True, exist_ok=True)
            with open(place / FILE_NAME, "a", encoding="utf-8", errors="backslashreplace") as log:
                log.write(entry)
            return place / FILE_NAME
        except OSError:
            continue
    return None
