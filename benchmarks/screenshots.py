"""The pictures of the README and of docs/: an explorable, the verdict of a wrong loop, and a class report.

python benchmarks/screenshots.py [DIR]

They are taken in a real JupyterLab, and go to docs/images/ unless a directory is named. Chromium is needed (on Debian:
apt-get install chromium). Pictures have two pixels for each of the page's, and as many colours as fit into a palette, so that
they are sharp and small.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from PIL import Image, ImageChops, ImageOps

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("browser", "marker", "notebooks")]

from jupyterlab_session import chromium, notebook_in, running_browser, running_lab  # noqa: E402
from playwright.sync_api import Browser, Page  # noqa: E402

SCALE, MARGIN = 2, 6

EXPLORABLE = ["from gradaccum.notebook.explore import explore", 'explore("timeline")']
VERDICT = [
    "from autograder.desk.check import check",
    """\
def train_epoch(model, loss_fn, optimizer, micro_batches, accumulation_steps):
    losses = []
    optimizer.zero_grad()
    for i, (x, y) in enumerate(micro_batches):
        loss = loss_fn(model(x), y)
        loss.backward()
        losses.append(loss.item())
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
    return losses""",
    "check(train_epoch)",
]


PICTURES = {
    "explorable": (EXPLORABLE, [".gradaccum-panel"]),
    "verdict": (VERDICT, [".jp-Cell >> nth=1", ".jp-Cell >> nth=2"]),
}
"""For each picture the code cells of a notebook, and what is cut out of its page."""

REPORT = {"report": ["header", "section >> nth=0"], "report_mistake": ["article >> nth=0"], "report_map": [".heat"]}
"""For each picture what is cut out of the page of a class report."""


def main(folder: Path) -> None:
    """Take all pictures and say how large they are."""
    if chromium() is None:
        sys.exit("chromium is missing: apt-get install chromium")
    screen = {"device_scale_factor": SCALE, "viewport": {"width": 1280, "height": 1600}}
    with ExitStack() as stack:
        root, home = (Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(2))
        lab, browser = stack.enter_context(running_lab(root, home)), stack.enter_context(running_browser())
        for name, (cells, parts) in PICTURES.items():
            notebook = new_notebook(cells=[new_code_cell(source) for source in cells])
            notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
            nbformat.write(notebook, root / f"{name}.ipynb")
            with notebook_in(browser.new_page(**screen), lab, f"{name}.ipynb") as page:
                page.run_all()
                page.page.evaluate("jupyterapp.shell.currentWidget.content.activeCellIndex = 0")  # which has a frame
                save(photograph(page.page, parts), folder / f"{name}.png")
        photograph_report(browser, folder)


def photograph_report(browser: Browser, folder: Path) -> None:
    """The report on a class of 24 that has handed in two units: real verdicts, dealt out by chance."""
    from sample_class import dealt_class

    from autograder.classroom.report.class_report import class_report
    from autograder.classroom.report.page import report_html

    report = class_report(dealt_class(("03_accumulate", "04_training_loop"), 24, seed=2, each=3))
    page = browser.new_page(device_scale_factor=SCALE, viewport={"width": 1000, "height": 3000})
    page.set_content(report_html(report, datetime(2026, 11, 20, 18, 0)))
    page.set_viewport_size({"width": 1000, "height": page.evaluate("document.body.scrollHeight")})
    for name, parts in REPORT.items():
        save(photograph(page, parts), folder / f"{name}.png")


def photograph(page: Page, parts: list[str]) -> Image.Image:
    """The smallest rectangle with these parts of the page, and a margin, once two looks at it show the same."""
    before, now = b"", _look(page, parts)
    while now != before:
        page.wait_for_timeout(500)
        before, now = now, _look(page, parts)
    return without_blank_edges(Image.open(io.BytesIO(now)).convert("RGB"))


def _look(page: Page, parts: list[str]) -> bytes:
    boxes = [page.locator(f"{part} >> visible=true").first.bounding_box() for part in parts]
    left, top = (min(box[side] for box in boxes) for side in ("x", "y"))
    right = max(box["x"] + box["width"] for box in boxes)
    bottom = max(box["y"] + box["height"] for box in boxes)
    clip = {"x": left - 1, "y": top - 1, "width": right - left + 2, "height": bottom - top + 2}  # borders lie on pixels' edges
    return page.screenshot(clip=clip)


def without_blank_edges(picture: Image.Image) -> Image.Image:
    """The part of a picture that is not blank, and a margin."""
    filled = ImageChops.difference(picture, Image.new("RGB", picture.size, "white")).getbbox()
    return ImageOps.expand(picture.crop(filled), SCALE * MARGIN, "white")


def save(picture: Image.Image, file: Path) -> None:
    """Write a picture with a palette."""
    file.parent.mkdir(parents=True, exist_ok=True)
    colours = picture.quantize(128, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    colours.save(file, optimize=True)
    print(f"{file}: {picture.width} × {picture.height} pixels, {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="DIR", nargs="?", type=Path, default=ROOT / "docs" / "images")
    main(parser.parse_args().folder)
