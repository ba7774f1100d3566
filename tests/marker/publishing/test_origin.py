"""Notebooks carry badges, addresses and a cell that installs the course if it is known where the course is published."""

from __future__ import annotations

import re
import subprocess
import sys
from types import ModuleType

import nbformat
import pytest

from autograder.publishing.nbgrader_course import SOLUTIONS
from autograder.publishing.origin import Origin, published_origin
from autograder.publishing.solution_script import source_notebook, unit_scripts

pytestmark = pytest.mark.slow

ROOT = SOLUTIONS.parent
SCRIPTS = unit_scripts(SOLUTIONS)
EVERY_UNIT = pytest.mark.parametrize("unit", SCRIPTS)
ON_GITHUB = Origin(repository="https://github.com/somebody/course", package="gradaccum")
WITH_SITE = Origin(repository="https://github.com/somebody/course", site="https://somebody.example/course")


@EVERY_UNIT
def test_only_an_installing_cell_is_added_to_the_cells_of_a_unit(unit):
    plain, published = (source_notebook(SCRIPTS[unit], origin) for origin in (Origin(), ON_GITHUB))
    nbformat.validate(published)
    ids = [cell.id for cell in published.cells]
    assert ids.pop(1) == "install"
    assert ids == [cell.id for cell in plain.cells]
    assert published.cells[1].metadata.nbgrader.locked


@EVERY_UNIT
def test_badges_of_a_unit_open_its_own_notebook(unit):
    first = source_notebook(SCRIPTS[unit], ON_GITHUB).cells[0].source
    targets = re.findall(r"\[!\[Open in (\w+)\]\(https://\S+\)\]\((https://\S+)\)", first)
    assert [host for host, _ in targets] == ["Colab", "Kaggle", "Binder"]
    assert all("somebody/course" in target and target.endswith(f"course/{unit}.ipynb") for _, target in targets)


def test_repository_on_another_code_host_gives_no_badges():
    assert Origin(repository="https://gitlab.com/somebody/course").badges("03_accumulate") == ""


@EVERY_UNIT
@pytest.mark.parametrize(
    ("origin", "start", "ending"),
    [
        (ON_GITHUB, "https://github.com/somebody/course/blob/main/", "md"),
        (WITH_SITE, "https://somebody.example/course/", "html"),
    ],
    ids=["repository", "site"],
)
def test_links_to_guides_lead_to_pages_that_there_are(unit, origin, start, ending):
    plain, published = (source_notebook(SCRIPTS[unit], one) for one in (Origin(), origin))
    due = re.findall(r"\]\(\.\./(docs/\w+)\.md", prose(plain))
    assert re.findall(rf"\]\({start}(docs/\w+)\.{ending}", prose(published)) == due
    assert "](../" not in prose(published)
    assert [page for page in due if not (ROOT / f"{page}.md").is_file()] == []


@EVERY_UNIT
@pytest.mark.parametrize("origin", [ON_GITHUB, WITH_SITE], ids=["repository", "site"])
def test_pages_of_the_site_link_to_each_other_and_ask_no_other_host_for_images(unit, origin):
    plain, published = (prose(source_notebook(SCRIPTS[unit], one)) for one in (Origin(), origin))
    shown = origin.without_addresses(published)
    assert "![" not in shown
    assert re.sub(r"\n\n\[Open in Colab\].*\n.*\n.*", "", shown) == plain


def test_course_whose_place_is_unknown_says_nothing_of_it():
    origin = Origin()
    assert (origin.badges("03_accumulate"), origin.install_cell()) == ("", "")
    assert origin.with_addresses("[a guide](../docs/gpu.md)") == "[a guide](../docs/gpu.md)"


def test_addresses_of_this_copy_can_be_read():
    assert isinstance(published_origin(), Origin)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('repository = "github.com/somebody/course"', "repository = 'github.com/somebody/course': write an address"),
        ('repository = "https://github.com/somebody/course/"', "no slash at its end"),
        ('site = "https://somebody.example/?page=1"', "site = 'https://somebody.example/?page=1': write an address"),
        ('package = "--index-url http://example.org gradaccum"', "write one name or address that pip can install"),
        ('packages = "gradaccum"', "packages: only repository, site, package can stand here"),
        ("package = 3", "package: only repository, site, package can stand here"),
        ("package = gradaccum", "line 1"),
    ],
)
def test_mistake_in_the_file_of_addresses_is_explained(text, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        Origin.read(text)


@pytest.mark.parametrize("host", ["colab", "kaggle", "elsewhere"])
def test_where_the_course_is_installed_the_cell_starts_no_process(host, monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("a process is started")

    monkeypatch.setattr(subprocess, "run", refuse)
    if host == "colab":
        monkeypatch.setitem(sys.modules, "google.colab", ModuleType("google.colab"))
    if host == "kaggle":
        monkeypatch.setenv("KAGGLE_KERNEL_RUN_TYPE", "Interactive")
    names: dict = {}
    exec(ON_GITHUB.install_cell(), names)
    assert names["on_a_host"] == (host != "elsewhere")


def prose(notebook: nbformat.NotebookNode) -> str:
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
