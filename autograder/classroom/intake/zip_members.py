"""What a zip archive claims about its members: names and times, unchecked, and reasons not to read a member."""

from __future__ import annotations

import contextlib
import re
import stat
import time
import zipfile
from typing import IO

from autograder.classroom.intake.source_files import CHUNK, MAX_DEPTH, TOO_LARGE, not_a_file
from autograder.reading.submissions import MAX_FILE_BYTES

READABLE_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Other ways of compression are rare, and decompressing them may take gigabytes of memory."""

MAX_NAME_LENGTH = 255
"""Characters of a single name: no file system has longer ones, but a zip may."""

_CENTRAL_ENTRY = b"PK\x01\x02"


def member_names(member: zipfile.ZipInfo) -> tuple[str, ...]:
    """The names of the folders that lead to a member, and its own, as the archive gives them."""
    return tuple(re.split(r"[/\\]", _decoded_name(member)))


def safe_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """The names shortened to a path that can be shown and compared: not too deep, not too long, at least one name."""
    return tuple(name[:MAX_NAME_LENGTH] for name in names[-MAX_DEPTH:] if name not in ("", ".")) or ("",)


def member_problem(member: zipfile.ZipInfo) -> str:
    """Why a member must not be read; empty if it may be."""
    names = member_names(member)
    if ".." in names or names[0] == "" or re.match(r"[A-Za-z]:$", names[0]):
        return "has a name that leads out of its archive; ask for the notebook alone"
    if len(names) > MAX_DEPTH or max(map(len, names)) > MAX_NAME_LENGTH:
        return f"is more than {MAX_DEPTH} folders deep, or has a name longer than files can have; ask for the notebook alone"
    mode = member.external_attr >> 16
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return not_a_file(mode)
    if member.flag_bits & 1:
        return "is encrypted; ask for it without a password"
    if member.compress_type not in READABLE_COMPRESSIONS:
        return "is packed in a way that is not read; unpack it, or pack it as a plain zip"
    return TOO_LARGE if member.file_size > MAX_FILE_BYTES else ""


def modified_time(member: zipfile.ZipInfo) -> float:
    """When a member was last changed, in seconds since 1970; 0 if the archive does not say so."""
    try:
        return time.mktime((*member.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return 0.0


def max_entries(file: IO[bytes]) -> int:
    """An upper limit for the number of members of an archive, found without making an object for each."""
    count, tail = 0, b""
    while chunk := file.read(CHUNK):
        count += (tail + chunk).count(_CENTRAL_ENTRY)
        tail = chunk[1 - len(_CENTRAL_ENTRY) :]
    file.seek(0)
    return count


def _decoded_name(member: zipfile.ZipInfo) -> str:
    """The name of a member. macOS writes UTF-8 without saying so, which zipfile decodes as the DOS code page."""
    if not member.flag_bits & 0x800:
        with contextlib.suppress(UnicodeError):
            return member.orig_filename.encode("cp437").decode()
    return member.orig_filename
