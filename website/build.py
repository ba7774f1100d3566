"""Build the site: python -m website.build [FOLDER]."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils

from autograder.support.edition import PACKAGES, source_digest
from gradaccum import phenomena
from website.markup import data_script
from website.pictures import draw_all

HERE = Path(__file__).parent
ROOT = HERE.parent
SOURCES = ("course", "docs", "tests/submissions", "trainers", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
"""What pages are made of, or link to."""


def build(site: Path, work: Path, units: str = "*.ipynb", explorables: Sequence[str] | None = None) -> None:
    """Write the site to the folder ``site``, which is replaced.

    Args:
        site: where the pages go.
        work: a folder for what the next build can use again.
        units: a glob pattern of the notebooks that are run; the others are shown as they are handed out.
        explorables: which ones are drawn, all of them if None. Pages must show no other.

    Raises:
        RuntimeError: Sphinx has found a fault, such as a link that leads nowhere; it has said what and where.
    """
    names = phenomena.names() if explorables is None else explorables
    states = draw_all(names, work / "pictures")
    shutil.rmtree(site, ignore_errors=True)
    (site / "explorables").mkdir(parents=True)
    for name in names:
        (site / "explorables" / f"{name}.js").write_text(data_script(name, states[name]), encoding="utf-8")
        for picture in {state.picture for state in states[name]}:
            shutil.copyfile(work / "pictures" / picture, site / "explorables" / picture)
    _prepare_kernels(work / "kernels")
    sources = _gather(work / "sources")
    settings = {
        "nb_execution_excludepatterns": [
            f"course/{path.name}" for path in (ROOT / "course").iterdir() if not path.match(units)
        ],
        "nb_execution_cache_path": str(
            work / f"executed-{source_digest([*(ROOT / one for one in PACKAGES), HERE / 'kernels'])}"
        ),
        "explorables": states,
    }
    with patch_docutils(), docutils_namespace():
        app = Sphinx(sources, HERE, site, work / "doctrees", "html", settings, warningiserror=True)
        app.build(force_all=True)
    for file in (*(site / "_static").rglob("*.map"), site / "_static" / "webpack-macros.html"):  # only for work on the theme
        file.unlink()
    if app.statuscode:
        raise RuntimeError(f"{app._warncount} warnings of Sphinx, see above")


def _gather(folder: Path) -> Path:
    """A folder with copies of all sources, laid out as in the repository, and the site's own pages at its top."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(HERE / "pages", folder)
    for name in SOURCES:
        copy = folder / name
        copy.parent.mkdir(exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        else:
            shutil.copy2(ROOT / name, copy)
    return folder


def _prepare_kernels(folder: Path) -> None:
    """Let kernels import what explorables and predictions are on the site, and keep nobody's progress."""
    startup = folder / "profile_default" / "startup" / "site.py"
    startup.parent.mkdir(parents=True, exist_ok=True)
    startup.write_text("from website.kernels.on_page import replace_widgets\n\nreplace_widgets()\n")
    os.environ |= {
        "IPYTHONDIR": str(folder),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        "GRADACCUM_RESULTS": str(folder / "results.json"),
        "OMP_NUM_THREADS": "1",
    }


if __name__ == "__main__":
    build(Path(*sys.argv[1:] or [ROOT / "site"]), ROOT / "build" / "site")
