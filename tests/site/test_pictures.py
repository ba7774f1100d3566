"""Pictures are kept between builds, drawn again only when their source has changed, and shared when they are equal."""

from __future__ import annotations

import pytest

from gradaccum import phenomena
from website import pictures
from website.pictures import all_settings, draw_all

pytestmark = pytest.mark.slow


def test_interrupted_build_draws_only_what_is_missing(pictures_of_site):
    whole = draw_all(["equivalence"], pictures_of_site)
    files = sorted(pictures_of_site.glob("*.json"))
    assert len(files) == len(whole["equivalence"]) == len(all_settings("equivalence"))
    before = {file: file.stat().st_mtime_ns for file in files}
    files[3].unlink()
    assert draw_all(["equivalence"], pictures_of_site) == whole
    assert [file for file in files if file.stat().st_mtime_ns != before[file]] == [files[3]]


def test_files_that_no_explorable_needs_are_removed(pictures_of_site):
    (pictures_of_site / "equivalence-0-0.json").write_text("{}")
    states = draw_all(["equivalence"], pictures_of_site)["equivalence"]
    assert {file.name for file in pictures_of_site.glob("*.webp")} == {state.picture for state in states}
    assert len(list(pictures_of_site.glob("*.json"))) == len(states)


def test_states_are_in_the_order_of_settings(pictures_of_site):
    states = draw_all(["fingerprint_reading"], pictures_of_site)["fingerprint_reading"]
    module = phenomena.load("fingerprint_reading")
    assert [state.caption for state in states] == [
        module.describe(module.compute(settings)) for settings in all_settings("fingerprint_reading")
    ]


@pytest.mark.parametrize(
    ("changed", "drawn_again"),
    [("gradaccum.drawing", True), ("gradaccum.phenomena.equivalence", True), ("gradaccum.phenomena.gallery", False)],
)
def test_key_of_a_picture_depends_on_what_its_explorable_imports(monkeypatch, tmp_path, changed, drawn_again):
    before = pictures._source_digest.__wrapped__("equivalence")
    other = tmp_path / "other.py"
    other.write_text("changed = True\n")
    file = pictures._file

    def with_change(module):
        return other if str(module).endswith(changed.replace(".", "/")) else file(module)

    monkeypatch.setattr(pictures, "_file", with_change)
    assert (pictures._source_digest.__wrapped__("equivalence") != before) == drawn_again
