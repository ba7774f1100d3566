"""The pictures of explorables at every setting, drawn once and kept under a key of their source."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, fields
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from io import BytesIO
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import grimp
from PIL import Image
from tqdm import tqdm

from autograder.support.atomic_files import write_atomically
from gradaccum import phenomena
from gradaccum.drawing import as_png, new_figure
from gradaccum.notebook.explore import listing_html
from gradaccum.threads import one_thread


@dataclass(frozen=True)
class State:
    """What an explorable shows at one setting: the name of the picture's file, the caption, and code as HTML or nothing."""

    picture: str
    caption: str
    code: str


def all_settings(name: str) -> list[Any]:
    """The settings of an explorable, the last control changing fastest."""
    settings = phenomena.load(name).Settings
    return [settings(*values) for values in itertools.product(*(phenomena.offered(one).values() for one in fields(settings)))]


def draw_all(names: Sequence[str], folder: Path) -> dict[str, list[State]]:
    """The states of these explorables in the order of :func:`all_settings`; only those missing in ``folder`` are drawn.

    Afterwards the folder holds nothing else.
    """
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {name: [folder / f"{_key(name, place)}.json" for place in range(len(all_settings(name)))] for name in names}
    missing = [(name, place) for name, files in wanted.items() for place, file in enumerate(files) if not file.exists()]
    chunks = [missing[start : start + 8] for start in range(0, len(missing), 8)]
    with (
        ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool,
        tqdm(total=len(missing), desc="drawing explorables", unit="picture", disable=not missing) as progress,
    ):
        for chunk in as_completed([pool.submit(_draw, chunk, folder) for chunk in chunks]):
            progress.update(chunk.result())
    states = {name: [State(**json.loads(file.read_text())) for file in files] for name, files in wanted.items()}
    kept = {file.name for files in wanted.values() for file in files}
    kept |= {state.picture for explorable in states.values() for state in explorable}
    for file in folder.iterdir():
        if file.name not in kept:
            file.unlink()
    return states


def _draw(chunk: Sequence[tuple[str, int]], folder: Path) -> int:
    """Write the states of some settings into the folder; returns how many."""
    for name, place in chunk:
        phenomenon, settings = phenomena.load(name), all_settings(name)[place]
        figure = new_figure(*phenomenon.SIZE)
        with one_thread():
            result = phenomenon.compute(settings)
            phenomenon.draw(result, figure)
        code = listing_html(phenomenon.code(result), phenomenon.max_lines()) if hasattr(phenomenon, "code") else ""
        state = State(_keep(as_png(figure), folder), phenomenon.describe(result), code)
        write_atomically(folder / f"{_key(name, place)}.json", json.dumps(vars(state)))
    return len(chunk)


def _keep(png: bytes, folder: Path) -> str:
    """The name of the file that holds this picture as lossless WebP, two thirds of a PNG; equal pictures share one."""
    file = folder / f"{sha256(png).hexdigest()[:16]}.webp"
    if not file.exists():
        unfinished = file.with_suffix(f".{os.getpid()}")  # another process may draw the same
        Image.open(BytesIO(png)).convert("RGB").save(unfinished, "webp", lossless=True, method=2, quality=50)
        unfinished.replace(file)
    return file.name


def _key(name: str, place: int) -> str:
    return f"{name}-{_source_digest(name)}-{place}"


@cache
def _source_digest(name: str) -> str:
    """Twelve hexadecimal digits that depend on this module, on all that an explorable imports and on libraries that draw it."""
    module = f"{phenomena.__name__}.{name}"
    modules = {module, listing_html.__module__, *_imports().find_upstream_modules(module)}
    root = Path(__file__).parents[1]
    files = [Path(__file__), *(_file(root / one.replace(".", "/")) for one in sorted(modules))]
    libraries = "".join(version(library) for library in ("torch", "matplotlib", "pillow"))
    return sha256(b"".join(file.read_bytes() for file in files) + libraries.encode()).hexdigest()[:12]


@cache
def _imports() -> grimp.ImportGraph:
    return grimp.build_graph("gradaccum")


def _file(module: Path) -> Path:
    return module / "__init__.py" if module.is_dir() else module.with_suffix(".py")
