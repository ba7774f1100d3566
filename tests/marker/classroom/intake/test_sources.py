"""Folders and archives of any kind are listed and read, and hostile ones do no harm."""

from __future__ import annotations

import errno
import os
import stat
import zipfile
from pathlib import Path

import pytest
from handed_in import UNIT, fill, packed, work

from autograder.classroom.intake import sources
from autograder.classroom.intake.source_files import UnreadableFileError
from autograder.classroom.intake.sources import SourceError, opened


def info(name: str, mode: int = 0, packing: int = zipfile.ZIP_DEFLATED) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name)
    member.external_attr, member.compress_type = mode << 16, packing
    return member


HOSTILE_MEMBERS = [
    (info(f"../../ada/{UNIT}.ipynb"), "leads out"),
    (info(f"/tmp/ada/{UNIT}.ipynb"), "leads out"),
    (info(f"..\\ada\\{UNIT}.ipynb"), "leads out"),
    (info(f"C:/ada/{UNIT}.ipynb"), "leads out"),
    (info(f"ada/{UNIT}.ipynb", stat.S_IFLNK | 0o777), "is a link"),
    (info(f"ada/{UNIT}.ipynb", stat.S_IFIFO | 0o600), "is not a file"),
    (info(f"ada/{UNIT}.ipynb", packing=zipfile.ZIP_LZMA), "packed in a way"),
    (info("x/" * 40 + "ada.ipynb"), "folders deep"),
    (info("ada" * 100 + ".ipynb"), "longer than files can have"),
    (info("ada.zip"), "no zip archive"),
]


@pytest.mark.parametrize(("member", "words"), HOSTILE_MEMBERS, ids=lambda value: value if isinstance(value, str) else "")
def test_hostile_members_of_an_archive_are_named_and_not_read(roster_class, tmp_path, member, words):
    intake = roster_class.take(packed(tmp_path / "all.zip", [(member, b"/etc/passwd"), ("bob.ipynb", work())]))
    assert [one.students for one in intake.taken] == [("bob",)]
    assert words in intake.unrecognised[0].reason


def test_an_encrypted_notebook_is_named(roster_class, tmp_path):
    path = packed(tmp_path / "all.zip", {"ada.ipynb": work()})
    data = bytearray(path.read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    assert "is encrypted" in roster_class.take(path).unrecognised[0].reason


def test_a_notebook_that_is_damaged_in_its_archive_is_named(roster_class, tmp_path):
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ada.ipynb", work("unmistakable"))
    path.write_bytes(path.read_bytes().replace(b"unmistakable", b"UNmistakable", 1))
    assert "is damaged in its archive" in roster_class.take(path).unrecognised[0].reason


def test_two_files_of_the_same_name_in_an_archive_are_two_attempts(roster_class, tmp_path):
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = packed(tmp_path / "all.zip", [("ada.ipynb", work("old")), ("ada.ipynb", work("new"))])
    intake = roster_class.take(path)
    assert roster_class.has("ada") == work("new")
    assert [one.file for one in (*intake.older, *intake.taken)] == ["ada.ipynb", "ada.ipynb (number 2 of this name)"]


def test_archives_in_archives_are_read_up_to_a_limit(roster_class, tmp_path):
    content = packed(tmp_path / "0.zip", {f"{UNIT}.ipynb": work()}).read_bytes()
    for depth in range(1, 5):
        path = packed(tmp_path / f"{depth}.zip", {f"{'ada' if depth == 1 else 'x'}.zip": content})
        content = path.read_bytes()
        intake = roster_class.take(path)
        assert len(intake.taken) + len(intake.unchanged) == (depth <= 3)
    assert "too many archives" in intake.unrecognised[0].reason


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ("sources.MAX_UNPACKED_BYTES", "unpacks to more than"),
        ("sources.MAX_FILES_IN_ARCHIVE", "more than 0 files"),
        ("zip_members.MAX_FILE_BYTES", "is larger than"),
    ],
)
def test_an_archive_that_is_too_large_is_named_and_other_files_are_taken(roster_class, tmp_path, monkeypatch, limit, words):
    small = 0 if limit == "sources.MAX_FILES_IN_ARCHIVE" else 10_000
    bomb = packed(tmp_path / "bomb.zip", {f"{UNIT}.ipynb": work("#" + "x" * 100_000)}).read_bytes()
    monkeypatch.setattr(f"autograder.classroom.intake.{limit}", small)
    intake = roster_class.take(packed(tmp_path / "all.zip", {"ada.zip": bomb, "bob.ipynb": work()}))
    assert [one.students for one in intake.taken] == [("bob",)]
    assert words in intake.unrecognised[0].reason


def test_links_and_pipes_in_a_folder_are_not_followed(roster_class, tmp_path):
    fill(tmp_path / "elsewhere", {f"{UNIT}.ipynb": work("secret")})
    source = fill(tmp_path / "s", {"bob.ipynb": work()})
    (source / "ada.ipynb").symlink_to(tmp_path / f"elsewhere/{UNIT}.ipynb")
    (source / "ada").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(source / "chi1.ipynb")
    intake = roster_class.take(source)
    assert [one.students for one in intake.taken] == [("bob",)]
    assert {one.file: one.reason.split(",")[0] for one in intake.unrecognised} == {
        "ada": "is a link",
        "ada.ipynb": "is a link",
        "chi1.ipynb": "is not a file; give a notebook",
    }


def test_a_folder_that_becomes_a_link_while_it_is_read_is_not_followed(tmp_path):
    fill(tmp_path / "elsewhere", {"x.ipynb": work("secret")})
    source = fill(tmp_path / "s", {"ada/x.ipynb": work()})
    with opened(source) as files:
        (source / "ada").rename(tmp_path / "gone")
        (source / "ada").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(UnreadableFileError, match="cannot be read"):
            list(files[0].chunks())


def test_files_and_folders_without_permission_to_read_are_named(roster_class, monkeypatch):
    really_open = os.open

    def refuse(path, *arguments, **options):
        if path in ("ada.ipynb", "bob"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return really_open(path, *arguments, **options)

    monkeypatch.setattr(sources.os, "open", refuse)
    lines = [str(one) for one in roster_class.take({"ada.ipynb": work(), "bob/x.ipynb": work()}).unrecognised]
    assert [line.split("; ")[0] for line in lines] == [
        "ada.ipynb: cannot be read: Permission denied",
        "bob/: the folder cannot be opened: Permission denied",
    ]


def test_a_source_without_permission_to_read_is_refused(roster_class, tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(sources.os, "listdir", refuse)
    with pytest.raises(SourceError, match="cannot be read: Permission denied"):
        roster_class.take(fill(tmp_path / "s", {"ada.ipynb": work()}))


def test_names_with_control_characters_are_reported_in_one_printable_line(roster_class, tmp_path):
    source = fill(tmp_path / "s", {"a\x1b[31m\nb.ipynb": work()})
    (Path(os.fsdecode(os.fsencode(source) + b"/\xff.ipynb"))).write_bytes(work())
    lines = [str(one) for one in roster_class.take(source).unrecognised]
    assert [line.split(":")[0] for line in lines] == ["a b.ipynb", "\\udcff.ipynb"]
    assert all(line.isprintable() for line in lines)


def test_names_in_archives_made_on_macos_are_decoded(roster_class, tmp_path):
    path = packed(tmp_path / "all.zip", {"So\u0308ren Z\u0307ak.ipynb": work()})
    data = bytearray(path.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 7), (b"PK\x01\x02", 9)):
        data[data.index(signature) + flags] &= ~8  # as if it did not say that names are UTF-8
    path.write_bytes(data)
    assert [one.students for one in roster_class.take(path).taken] == [("s-1",)]


@pytest.mark.parametrize("content", [None, b"not a zip"])
def test_a_source_that_is_neither_folder_nor_zip_is_refused(roster_class, tmp_path, content):
    if content:
        (tmp_path / "all.zip").write_bytes(content)
    with pytest.raises(SourceError, match=r"all\.zip: "):
        roster_class.take(tmp_path / "all.zip")
