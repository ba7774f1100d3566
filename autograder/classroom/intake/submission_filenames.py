"""What the names of submitted files say: those that LMSs and nbgrader's exchange give them, and those that students choose.

Each form of names is taken from the program that writes it: Canvas's ``lib/content_zipper.rb``, Moodle's
``mod/assign/classes/downloader.php``, nbgrader's ``exchange/default/submit.py``, Gradescope's ``submission_metadata.yml``,
Blackboard's Assignment File Download. In each form the student can choose the last part, so the first match of a form counts.
How Canvas and Moodle read the names of feedback files is taken from ``app/models/assignment.rb``
(``generate_comments_from_files``) and ``mod/assign/feedback/file/importziplib.php``: both look for the numbers and ignore the
rest.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from autograder.classroom.intake.student_matching import Claim
from autograder.classroom.students import id_problem
from autograder.contract.units import UNITS, unit_in

JUNK_FOLDERS = {"__macosx", "__pycache__", "node_modules", "venv", "$recycle.bin", "system volume information"}
JUNK_FILES = {"thumbs.db", "desktop.ini", "timestamp.txt", "submission_secret.txt", "submission_metadata.yml"}
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp", ".heic", ".tif", ".tiff", ".ico", ".pyc")

_NOTEBOOK = re.compile(r"\.ipynb(\.txt|\.json)?$", re.IGNORECASE)  # browsers append the type they guess
_ENDING = re.compile(r"\.ipynb(\.txt|\.json)?$|\.(zip|py|md|markdown|rmd|qmd|myst|json|txt)$", re.IGNORECASE)
_COPY = re.compile(r"(?:[ _-]?\((?P<browser>\d{1,4})\)|-(?P<canvas>\d{1,4})|-copy\d*)$", re.IGNORECASE)
_EXCHANGE = re.compile(r"(?P<who>[^+]+)\+(?P<unit>[^+]+)\+(?P<time>\d{4}-\d\d-\d\d \d\d[:_]\d\d[:_][\d.]+ [^+]+)(\+[^+]*)?")
_MOODLE = re.compile(r"(?P<reply>(?P<who>[^_]+)_(?P<number>\d+)_assignsubmission_[a-z]+)(_(?P<rest>.*))?", re.DOTALL)
_CANVAS = re.compile(r"(?P<who>\w*?)(?P<late>_LATE)?_(?P<user>\d{1,18})_(?P<attachment>\d{1,18})_(?P<rest>.+)", re.DOTALL)
_CANVAS_ANONYMOUS = re.compile(r"(?P<late>LATE_)?(?P<who>anon_\w+?)_(?P<attachment>\d{1,18})_(?P<rest>.+)", re.DOTALL)
_BLACKBOARD = re.compile(r"(?P<before>.+?)_attempt_(?P<time>\d{4}(-\d\d){5})(_(?P<rest>.*))?", re.DOTALL)
_BLACKBOARD_NOTE = re.compile(r".+_attempt_\d{4}(-\d\d){5}\.txt", re.DOTALL)
_ANONYMOUS = "comes from an assignment that is marked anonymously; make names visible there, and download it again"
_GRADESCOPE = re.compile(r"submission_(?P<number>\d{1,18})")


def ignore_reason(parts: Iterable[str]) -> str:
    """Why a file with these parts of a path cannot be something a student handed in; empty if it may be."""
    *folders, name = (part.lower() for part in parts)
    if any(folder in JUNK_FOLDERS or re.match(r"\.[^.]", folder) for folder in folders) or name.startswith("."):
        return "belongs to a system, not to a student"
    if name in JUNK_FILES or _BLACKBOARD_NOTE.fullmatch(name):
        return "says something about what was handed in"
    return "is a picture, or compiled" if name.endswith(PICTURES) else ""


def is_notebook(name: str) -> bool:
    """Whether a file is a notebook, by its name."""
    return bool(_NOTEBOOK.search(name))


def ending_removed(name: str) -> str:
    """A name without its ending, if what students hand in may have it."""
    return _ENDING.sub("", name).strip()


def stem(name: str) -> tuple[str, int]:
    """A name without its ending and without what marks it as a copy, and the number of the copy; 0 for the original."""
    text, number = ending_removed(name), 0
    while match := _COPY.search(text):
        number = max(number, int(match["browser"] or match["canvas"] or 0))
        text = text[: match.start()].rstrip()
    return text, number


def strip_lms_decoration(name: str) -> str:
    """What is left of a name without its ending, its unit and what marks a copy; ``-2`` marks one only after the unit."""
    text = re.sub(r"([ _-]?\(\d{1,4}\)|-copy\d*)$", "", ending_removed(name), flags=re.IGNORECASE)
    without_number = re.sub(r"-\d{1,4}$", "", text)
    return "" if not without_unit(without_number) else without_unit(text)


def unit_named(text: str) -> str | None:
    """The unit that a text names, as ``04_training_loop``, ``unit-04-training-loop``, ``Unit 4`` or just ``04``; else None."""
    plain = re.sub(r"[\W_]+", "_", text.lower())
    if unit := unit_in(plain):
        return unit
    match = re.search(r"(?:^|_)unit_?(\d{1,2})(?:_|$)", plain) or re.fullmatch(r"(\d\d)", plain.strip("_"))
    return next((unit for unit in UNITS if match and int(unit[:2]) == int(match[1])), None)


def without_unit(text: str) -> str:
    """A text without the unit it names, and without the characters that joined the two."""
    for unit in UNITS:
        text = re.sub(unit.replace("_", r"[\W_]+"), " ", text, flags=re.IGNORECASE)
    return text.strip(" \t\n_-")


def claims(name: str, gradescope: Mapping[str, Any]) -> tuple[Claim, ...]:
    """The claims in a name that has the form of an LMS or of the exchange; empty for any other name. Several for a group.

    Args:
        name: of a folder, an archive or a file.
        gradescope: what ``submission_metadata.yml`` in the same folder says, by submission.
    """
    # a name may fit both Canvas's form and Blackboard's; Canvas's numbers then come before the time, so they count
    for form in (_exchange, _moodle, _canvas, _blackboard):
        if claim := form(name):
            return (claim,)
    if match := _GRADESCOPE.fullmatch(name):
        return _gradescope(name, int(match["number"]), gradescope.get(name))
    return ()


def utc(text: str) -> datetime | None:
    """A time as nbgrader reads it, converted to UTC, without a time zone; None if the text is not a time."""
    time = None
    with contextlib.suppress(ValueError, OverflowError, AttributeError, TypeError):
        if re.fullmatch(r"[\d-]+ [\d:.]+( UTC)?", text := text.strip()):
            time = datetime.fromisoformat(text.removesuffix(" UTC"))  # most times; importing nbgrader takes a second
        else:
            from nbgrader.utils import parse_utc

            time = parse_utc(text)
    return time if time and 1980 <= time.year < 2200 else None


def _exchange(name: str) -> Claim | None:
    if not (match := _EXCHANGE.fullmatch(name)):
        return None
    time = utc(match["time"].replace("_", ":", 2))
    return Claim(
        match["who"], ids=(match["who"],), derived=match["who"], unit=(match["unit"],), stated=True, time=time, form="exchange"
    )


def _moodle(name: str) -> Claim | None:
    if not (match := _MOODLE.fullmatch(name)):
        return None
    who = match["who"]
    if who == "Participant":
        number = match["number"]
        return Claim(
            f"{who} {number}",
            unit=(match["rest"] or "",),
            form="Moodle",
            refused=_ANONYMOUS,
            reply_prefix=f"{match['reply']}_",
            keys=(number,),
        )
    return Claim(
        who,
        name=who,
        derived=slug(who),
        unit=(match["rest"] or "",),
        form="Moodle",
        reply_prefix=f"{match['reply']}_",
        person=match["number"],
        keys=(match["number"],),
    )


def _canvas(name: str) -> Claim | None:
    if match := _CANVAS_ANONYMOUS.fullmatch(name):
        return Claim(
            match["who"],
            unit=(match["rest"],),
            attempt=int(match["attachment"]),
            form="Canvas",
            refused=_ANONYMOUS,
            reply_prefix=name[: match.start("rest")],
            keys=(match["who"],),
            late=bool(match["late"]),
        )
    if not (match := _CANVAS.fullmatch(name)):
        return None
    who, user = match["who"], match["user"]
    derived, attempt = f"{slug(who)}-{user}", int(match["attachment"])
    return Claim(
        who,
        lms_id=user,
        name=who,
        squashed=True,
        derived=derived,
        unit=(match["rest"],),
        attempt=attempt,
        form="Canvas",
        reply_prefix=name[: match.start("rest")],
        person=user,
        keys=(user,),
        late=bool(match["late"]),
    )


def _blackboard(name: str) -> Claim | None:
    """Read ``COLUMN_USER_attempt_TIME_FILE``. An underscore may belong to the column or to the user's name."""
    if not (match := _BLACKBOARD.fullmatch(name)):
        return None
    words = match["before"].split("_")
    users = tuple("_".join(words[place:]) for place in range(1, len(words)))
    day, hour = match["time"][:10], match["time"][11:].replace("-", ":")
    unit = (match["rest"] or "", *("_".join(words[:place]) for place in range(1, len(words))))
    return Claim(words[-1], ids=users, derived=words[-1], unit=unit, time=utc(f"{day} {hour}"), form="Blackboard")


def _gradescope(name: str, number: int, described: Any) -> tuple[Claim, ...]:
    submitters = described.get(":submitters") if isinstance(described, Mapping) else None
    people = [one for one in submitters if isinstance(one, Mapping)] if isinstance(submitters, list) else []
    if not people:
        problem = f"no submission_metadata.yml beside {name} says whose it is; give Gradescope's export as it came"
        return (Claim(name, form="Gradescope", refused=problem),)
    created = str(described.get(":created_at", ""))
    time = utc(re.sub(r" (?=[+-]\d|Z$)", "", created))  # a numeric time zone is read only without a space before it
    found = []
    for one in people:
        email, sid, full = (str(one.get(key) or "") for key in (":email", ":sid", ":name"))
        ids = tuple(text for text in (sid, email, email.partition("@")[0]) if text)
        derived = next((text for text in (sid, email) if text and not id_problem(text)), slug(full))
        found.append(Claim(full or email, ids=ids, name=full, derived=derived, time=time, attempt=number, form="Gradescope"))
    return tuple(found)


def slug(name: str) -> str:
    """An id made from a name: ``Ada Lovelace`` becomes ``ada-lovelace``."""
    return "-".join(re.findall(r"\w+", name.casefold()))
