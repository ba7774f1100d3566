"""The page on GPUs shows what was recorded on one, and new results replace it."""

from __future__ import annotations

import json

import gpu_transformer as transformer


def test_the_page_shows_what_is_in_the_package():
    found = json.loads(transformer.RECORDED.read_text())
    assert transformer.as_markdown(found) in transformer.PAGE.read_text()


def test_new_results_replace_those_in_the_package_and_on_the_page(tmp_path):
    found = json.loads(transformer.RECORDED.read_text()) | {"device": "another one"}
    (page := tmp_path / "gpu.md").write_text(transformer.PAGE.read_text())
    transformer.write(found, tmp_path / "recorded.json", page)
    assert json.loads((tmp_path / "recorded.json").read_text()) == found
    assert page.read_text().count("another one, torch") == 1
    assert transformer.PAGE.read_text().partition("<!-- transformer")[0] == page.read_text().partition("<!-- transformer")[0]
