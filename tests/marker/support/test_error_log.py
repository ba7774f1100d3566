"""The log of faults of the marker."""

from __future__ import annotations

from pathlib import Path

from autograder.support.error_log import FILE_NAME, log_error


def test_entries_are_appended_with_the_edition(tmp_path):
    assert log_error("first\n", tmp_path) == log_error("second \ud800", tmp_path) == tmp_path / FILE_NAME
    text = (tmp_path / FILE_NAME).read_text()
    assert text.index("first") < text.index("second")
    assert text.count("gradaccum") == 2


def test_log_is_elsewhere_if_the_home_folder_cannot_be_written_to(monkeypatch, tmp_path):
    (tmp_path / "home").write_text("a file")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    log = log_error("text")
    assert Path(tmp_path) in log.parents
    assert "text" in log.read_text()


def test_no_log_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    assert log_error("text", tmp_path / "file") is None
