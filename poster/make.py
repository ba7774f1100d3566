"""Draw the poster: ``docs/poster.pdf`` and ``docs/poster.png``. Every matrix on it is read from a run of the loop beside it.

python poster/make.py
"""

from __future__ import annotations

import argparse
import inspect
import math
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

import torch
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.figure import Figure
from torch import Tensor, nn
from torch.nn.functional import mse_loss
from torch.nn.parallel import DistributedDataParallel

import gradaccum
from gradaccum.drawing import draw_fingerprint, new_figure
from gradaccum.fingerprint import Fingerprint, expected, fingerprint
from gradaccum.loops import GALLERY
from gradaccum.loops.contrastive import info_nce
from gradaccum.loops.gallery import without_annotations
from gradaccum.problems import Problem
from gradaccum.ranks import on_ranks
from gradaccum.theme import BLUE, GREEN, GREY, VERMILLION
from gradaccum.watching.seen import Seen

sys.path.insert(0, str(Path(__file__).parent))
import loops

DOCS = Path(__file__).parents[1] / "docs"
N = 4
SIZES = (3, 3, 3, 1, 3, 2)
"""Samples of each micro-batch: ragged, and the last window holds two of them."""

TARGETS = ((5, 2), (7, 1), (3, 3), (1, 4), (6, 6), (2, 1))
"""Tokens to be learned in each sequence of each micro-batch."""

WRONG = {
    "no-scale": "no division: N times too long",
    "mean-of-means": "a small micro-batch counts as much as a full one",
    "tail-scale": "the leftover window is divided by N all the same",
    "tail-dropped": "the leftover window never reaches the parameters",
    "zero-every": "cleared inside the window: only its last micro-batch is left",
    "never-zero": "never cleared: every update repeats the earlier ones",
    "step-every": "a step after every micro-batch: nothing accumulates",
    "off-by-one-early": "k % N == 0, counted from 0: the first window holds one",
}


# What the loops are run on


def perceptron() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 4))


def samples(sizes: tuple[int, ...] = SIZES, seed: int = 1) -> list[tuple[Tensor, Tensor]]:
    random = torch.Generator().manual_seed(seed)
    return [(torch.randn(size, 6, generator=random), torch.randn(size, 4, generator=random)) for size in sizes]


def sequences() -> list[tuple[Tensor, Tensor]]:
    """Tokens ``(2, 7)`` and targets, -100 after the end of a sequence."""
    random = torch.Generator().manual_seed(1)
    found = []
    for lengths in TARGETS:
        x, y = (torch.randint(11, (len(lengths), 7), generator=random) for _ in range(2))
        found.append((x, y.masked_fill(torch.arange(7) >= torch.tensor(lengths)[:, None], -100)))
    return found


def seen_of_plain() -> Seen:
    model = perceptron()
    with gradaccum.watch(model, N) as seen:
        loops.plain(model, mse_loss, torch.optim.SGD(model.parameters(), 0.1), samples(), N)
    return seen


def seen_of_tokens() -> Seen:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(11, 12), nn.Tanh(), nn.Linear(12, 11))
    with gradaccum.watch(model, N) as seen:
        loops.tokens(model, torch.optim.AdamW(model.parameters()), sequences(), N)
    return seen


def seen_of_mixed_precision() -> Seen:
    model, scaler = perceptron(), torch.amp.GradScaler("cpu", init_scale=1024.0)
    with gradaccum.watch(model, N) as seen:
        loops.mixed_precision(model, mse_loss, torch.optim.SGD(model.parameters(), 0.1), scaler, samples(), N, 0.1)
    return seen


def fingerprint_of_ranks() -> Fingerprint:
    """Of two ranks, each with as many samples as the other: rank 0's micro-batches come first in a window."""

    def work(rank: int) -> list[list[list[float]]]:
        model = DistributedDataParallel(perceptron())
        with gradaccum.watch(model, N) as seen:
            loops.ranks(model, mse_loss, torch.optim.SGD(model.parameters(), 0.1), samples((3,) * 6, seed=rank), N)
        joined = seen.joined()
        joined.check()
        return [joined.fingerprint.coefficients.tolist()]

    rows = torch.tensor(on_ranks(2, work)[0][0], dtype=torch.float64)
    return Fingerprint(rows, torch.zeros(len(rows)), torch.ones(len(rows)), (0,) * len(rows), ((0, 3),) * rows.shape[1])


class Contrast(NamedTuple):
    """Which pairs act on which: ``seen[i, j]`` is whether the gradient for image i changes with text j."""

    seen: Tensor
    off: float


def contrast() -> Contrast:
    """Of three micro-batches of four pairs, and how far the gradients are from those of one large batch, relative to these."""
    torch.set_default_dtype(torch.float64)
    try:
        random = torch.Generator().manual_seed(1)
        images, texts = torch.eye(12), torch.randn(12, 5, generator=random)
        whole = gradient(images, texts, 12)
        mine = gradient(images, texts, 4)
        changed = [gradient(images, texts.index_add(0, torch.tensor([j]), torch.ones(1, 5)), 4) for j in range(12)]
        reacts = torch.stack([(other - mine).abs().amax(1) > 1e-12 for other in changed], dim=1)
        return Contrast(reacts, float((mine - whole).norm() / whole.norm()))
    finally:
        torch.set_default_dtype(torch.float32)


def gradient(images: Tensor, texts: Tensor, size: int) -> Tensor:
    """What one update of the loop moves: a row for each image, since each has an input of its own."""
    torch.manual_seed(0)
    encode_image, encode_text = nn.Linear(12, 3, bias=False), nn.Linear(5, 3, bias=False)
    scale = torch.tensor(0.7).requires_grad_()
    before = encode_image.weight.detach().clone()
    loader = list(zip(images.split(size), texts.split(size), strict=True))
    optimizer = torch.optim.SGD([*encode_image.parameters(), *encode_text.parameters(), scale], 1.0)
    loops.contrastive(encode_image, encode_text, scale, info_nce, optimizer, loader, len(loader))
    return (before - encode_image.weight.detach()).T


# The page

WIDTH, HEIGHT = 16.54, 11.69
"""Inches of an A3 page."""

DPI = 200

LEFT, COLUMN = 0.45, 5.3
CODE = {"family": "monospace", "fontsize": 8.4, "va": "top", "linespacing": 1.24}


def poster() -> Figure:
    """The page. A right loop that is not right after all is an error."""
    figure = new_figure(WIDTH, HEIGHT)
    figure.set_dpi(DPI)
    _heading(figure)
    plain, tokens, mixed = seen_of_plain(), seen_of_tokens(), seen_of_mixed_precision()
    for seen in (plain, tokens, mixed):
        seen.check()
    top, middle = 10.55, 6.98
    _panel(figure, 0, top, "Plain", loops.plain, plain.fingerprint, "3, 3, 3, 1 and 3, 2 samples: each weighs the same")
    _panel(figure, 1, top, "Tokens", loops.tokens, tokens.fingerprint, "7, 8, 6, 5 and 12, 3 tokens: each weighs the same")
    _panel(
        figure, 2, top, "Mixed precision, clipping", loops.mixed_precision, mixed.fingerprint, "as plain; then clipped, once"
    )
    _panel(
        figure,
        0,
        middle,
        "Several ranks",
        loops.ranks,
        fingerprint_of_ranks(),
        "2 ranks × 4, then 2 ranks × 2, of 3 samples each; one all-reduce each",
    )
    _contrast_panel(figure, 1, middle, contrast())
    _how_to_read(figure, 2, middle)
    _wrong(figure, 3.38)
    return figure


def _text(figure: Figure, x: float, y: float, text: str, **style: object) -> None:
    """Put a text on the page, in inches from its lower left corner."""
    figure.text(x / WIDTH, y / HEIGHT, text, **style)


def _axes(figure: Figure, x: float, y: float, width: float, height: float) -> Axes:
    return figure.add_axes((x / WIDTH, y / HEIGHT, width / WIDTH, height / HEIGHT))


def _heading(figure: Figure) -> None:
    _text(figure, LEFT, 11.18, "Gradient accumulation, and what each update should hold", fontsize=25, fontweight="bold")
    said = (
        "N micro-batches, one update. A loop is right if every sample (or token, or pair) of a window weighs the same in its "
        "update. Each matrix below was read from a run of the loop above it."
    )
    _text(figure, LEFT, 10.84, said, fontsize=11.5, color=GREY)


def _title(figure: Figure, x: float, y: float, text: str, color: str) -> None:
    _text(figure, x, y, text, fontsize=14, fontweight="bold", color=color, va="top")


def _panel(figure: Figure, column: int, top: float, title: str, loop: object, found: Fingerprint | None, said: str) -> None:
    assert found is not None
    x = LEFT + column * COLUMN
    _title(figure, x, top, f"✓ {title}", GREEN)
    _text(figure, x, top - 0.33, _printed(loop), **CODE)
    width = min(4.9, 0.42 * len(found.columns) + 0.4)
    axes = _axes(figure, x + 0.2, top - 3.22, width, 0.64)
    draw_fingerprint(axes, found, "", peak=1.0)
    _text(figure, x + 0.2, top - 3.27, said, fontsize=9, color=GREY, va="top")


def _printed(loop: object) -> str:
    """The code of a loop without annotations and with its arguments in one line or two."""
    code = without_annotations(inspect.getsource(loop))
    head, _, body = code.partition("):\n")
    head = " ".join(head.split()).replace("( ", "(") + "):"
    wrapped = textwrap.fill(head, 66, subsequent_indent="        ")
    return f"{wrapped}\n{body.rstrip()}"


def _contrast_panel(figure: Figure, column: int, top: float, found: Contrast) -> None:
    x = LEFT + column * COLUMN
    _title(figure, x, top, "✓ Contrastive", GREEN)
    _text(figure, x, top - 0.33, _printed(loops.contrastive), **CODE)
    axes = _axes(figure, x + 0.3, top - 3.35, 0.95, 0.95)
    axes.imshow(found.seen, cmap="Blues", vmin=0, vmax=1.4)
    for edge in (3.5, 7.5):
        axes.axhline(edge, color="white", linewidth=1.2)
        axes.axvline(edge, color="white", linewidth=1.2)
    axes.set(xticks=[], yticks=[])
    axes.set_xlabel("text", fontsize=8)
    axes.set_ylabel("image", fontsize=8)
    negatives = int(found.seen.sum(1).min()) - 1
    assert negatives == 11, "not every image is compared with all texts"
    off = f"up to {found.off:.0e} of their length" if found.off else "to the last bit"
    said = f"""
        Which texts act on which image's gradient:
        in 3 micro-batches of 4 pairs, each image sees
        {negatives} negatives, not 3. The gradients are the
        large batch's {off}.
    """
    _text(figure, x + 1.5, top - 2.55, textwrap.dedent(said).strip(), fontsize=9, color=GREY, va="top", linespacing=1.4)


def _how_to_read(figure: Figure, column: int, top: float) -> None:
    x = LEFT + column * COLUMN
    _title(figure, x, top, "How to read a matrix", BLUE)
    said = """
        One row for each update, one column for each micro-batch. A cell says
        how much of that micro-batch's mean gradient the update holds.

        Freeze the parameters, or watch the run; note what backward() adds to
        .grad, and solve for the numbers. There is no need to read the code.
    """
    _text(figure, x, top - 0.36, textwrap.dedent(said).strip(), fontsize=10, va="top", linespacing=1.45)
    _text(figure, x, top - 1.75, "All five loops use", fontsize=10, va="top")
    _text(figure, x, top - 1.95, _printed(loops.windows), **CODE)
    _text(figure, x, top - 2.82, "Read your own trainer's matrix:", fontsize=10, va="top")
    watch = "with gradaccum.watch(model, accumulation_steps=N) as seen:\n    trainer.train()\nseen.check()"
    _text(figure, x, top - 3.05, watch, **CODE)


def _wrong(figure: Figure, top: float) -> None:
    _title(figure, LEFT, top, "✗ The ones you will meet", VERMILLION)
    said = "plain loops on 3, 3, 3, 1 and 3, 2 samples with N = 4; framed cells are not as due, dashed ones are missing"
    _text(figure, LEFT + 3.05, top - 0.045, said, fontsize=9.5, color=GREY, va="top")
    problem = Problem(seed=5, accumulation_steps=N, epochs=(SIZES,), width=8)
    due = expected(problem)
    across = math.ceil(len(WRONG) / 2)
    width = (WIDTH - 2 * LEFT) / across
    for k, (slug, said) in enumerate(WRONG.items()):
        x, y = LEFT + (k % across) * width, top - 0.42 - (k // across) * 1.3
        found = fingerprint(GALLERY[slug], problem)
        _text(figure, x, y, slug, fontsize=10, fontweight="bold", va="top")
        _text(figure, x, y - 0.18, said, fontsize=8.6, color=GREY, va="top")
        height = 0.265 * min(max(len(found.coefficients), 2), 3.45)
        axes = _axes(figure, x + 0.2, y - 0.63 - height, 2.7, height)
        draw_fingerprint(axes, found, "", due)


def write(folder: Path = DOCS) -> None:
    """Write both files; the same bytes for the same code."""
    figure = poster()
    with rc_context({"pdf.fonttype": 42}):
        FigureCanvasPdf(figure).print_pdf(
            folder / "poster.pdf", metadata={"CreationDate": None, "Title": "Gradient accumulation"}
        )
    FigureCanvasAgg(figure)
    figure.savefig(folder / "poster.png", dpi=DPI, metadata={"Software": None})


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    write()
