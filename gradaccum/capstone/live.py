"""Watch a training run while it lasts: losses against the best there can be, and bytes against the budget."""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from html import escape
from typing import Any

import ipywidgets as widgets
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gradaccum import still
from gradaccum.capstone.budget import COPIES, ceiling
from gradaccum.capstone.config import LARGE, MIB, SMALL, Config
from gradaccum.capstone.model import CharGPT, token_loss
from gradaccum.capstone.run import History, Run
from gradaccum.capstone.text import LETTERS, encode, floor, log_lines
from gradaccum.drawing import DPI, LABEL, Style, as_svg, erase, new_figure, tidy
from gradaccum.recording import LiveBytes
from gradaccum.theme import BLUE, CAPTION, GREEN, GREY, PANEL_STYLE, SCROLLS, VERMILLION, title
from gradaccum.threads import one_thread

SIZE = (9.6, 3.5)
PAUSE = 1.0
"""Seconds between two pictures; drawing one takes a twentieth of that."""

NOT_YET = "Nothing has been trained yet. Press Train."

NEW_LINES = 256
"""Lines of another log, never trained on, by which a finished run is measured."""


@dataclass(frozen=True)
class Progress:
    """A run so far.

    Attributes:
        config, history: what is trained, and what it has entered.
        peak: the most bytes alive at once until now.
        new_loss: mean loss per token of a finished run on new lines; else None.
        written: lines that the finished model makes up.
        allocated: on CUDA, what ``torch.cuda.max_memory_allocated`` says; else None.
    """

    config: Config
    history: History
    peak: int
    new_loss: float | None = None
    written: tuple[str, ...] = ()
    allocated: int | None = None

    @property
    def fixed(self) -> int:
        """Bytes of weights, gradients and optimizer state, and of the copies a run may make of them."""
        return ceiling(self.config) - self.config.budget

    @property
    def within(self) -> bool:
        """Whether no more was alive at once than the budget and what is fixed."""
        return self.peak <= ceiling(self.config)


def live_run(train: Callable[[Config], History], pick: Callable[[Config], int]) -> LiveRun:
    """A panel with a button that picks a micro-batch size, trains, and shows how it goes.

    Args:
        train: called with the config of the chosen size.
        pick: finds the micro-batch size for a config.
    """
    return LiveRun(train, pick)


class LiveRun(widgets.VBox):
    """The panel.

    Attributes:
        progress: the run as it was last looked at, or None.
        error: what ended it, or None.
    """

    def __init__(self, train: Callable[[Config], History], pick: Callable[[Config], int]) -> None:
        self._train, self._pick = train, pick
        self.progress: Progress | None = None
        self.error: BaseException | None = None
        self._figure = new_figure(*SIZE)
        presets = {"small, for a CPU": SMALL}
        if torch.cuda.is_available():
            presets["large, for a GPU"] = LARGE.with_(device="cuda")
        self._preset = widgets.Dropdown(
            options=list(presets.items()), description="Run", layout={"width": "auto"}, style={"description_width": "initial"}
        )
        self._button = widgets.Button(description="Train", layout={"width": "auto"})
        self._button.on_click(lambda _: self.start())
        self._picture, self._words = widgets.HTML(), widgets.HTML()
        self._picture.add_class(SCROLLS)
        self._draw(Progress(SMALL, History(), 0), NOT_YET)
        self._say(NOT_YET)
        row = widgets.HBox([self._preset, self._button], layout={"grid_gap": "4px 12px"})
        super().__init__([widgets.HTML(title("Your training run") + PANEL_STYLE), row, self._picture, self._words])
        self.add_class(still.LIVE)

    def start(self, config: Config | None = None) -> None:
        """Train with the chosen config, or this one; errors are shown in words."""
        self._button.disabled, self.error = True, None
        try:
            self._run(config or self._preset.value)
        except NotImplementedError as error:  # of a stub; torch raises it as well, for what it cannot do
            name = traceback.extract_tb(error.__traceback__)[-1].name
            stub = name in ("pick_micro_batch_size", "train_window", "train")
            self.error = None if stub else error
            self._say(f"{name} is not written yet." if stub else f"The run ended with NotImplementedError: {error}", wrong=True)
        except (Exception, KeyboardInterrupt) as error:
            self.error = error
            self._say(f"The run ended with {type(error).__name__}" + (f": {error}" if str(error) else "."), wrong=True)
        finally:
            self._button.disabled = False

    def _run(self, config: Config) -> None:
        size = self._pick(config)
        self._say(f"Micro-batches of {size} lines. Training …")
        runs: list[Run] = []
        self._drawn = time.monotonic()
        with LiveBytes() as live:

            def watch(run: Run) -> None:
                runs.append(run)
                run.history.listeners.append(lambda history: self._look(config, history, live))

            config = config.with_(micro_batch_size=size, watch=watch)
            if config.device == "cuda":
                torch.cuda.reset_peak_memory_stats()
            with one_thread() if config.device == "cpu" else nullcontext():
                history = self._train(config)
        if not runs:
            raise RuntimeError("train never called config.build()")
        self._show(finished(config, history, live.peak, runs[-1].model))

    def _look(self, config: Config, history: History, live: LiveBytes) -> None:
        if time.monotonic() - self._drawn >= PAUSE:
            self._show(Progress(config, history, live.peak))
            self._drawn = time.monotonic()

    def _show(self, progress: Progress) -> None:
        self.progress = progress
        caption = describe(progress)
        self._draw(progress, caption)
        lines = "".join(f"<li><code>{escape(line)}</code></li>" for line in progress.written)
        made_up = f"<details><summary>Lines that it makes up</summary><ul>{lines}</ul></details>" if lines else ""
        self._words.value = _paragraph(caption) + (made_up or _NOT_YET_WRITTEN)

    def _draw(self, progress: Progress, caption: str) -> None:
        erase(self._figure)
        draw(progress, self._figure)
        self._picture.value = as_svg(self._figure, caption)

    def _say(self, text: str, wrong: bool = False) -> None:
        self._words.value = _paragraph(text, wrong) + _NOT_YET_WRITTEN

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        """The live panel, and for pages without a kernel the last picture."""
        plain = describe(self.progress) if self.progress else "A training run; its button needs a kernel."
        page = {"text/html": self._picture.value + self._words.value, "text/plain": plain}
        return still.widget_view(self) | page

    def _ipython_display_(self) -> None:
        still.show(self._repr_mimebundle_())


def finished(config: Config, history: History, peak: int, model: CharGPT) -> Progress:
    """A run at its end, measured on new lines."""
    allocated = torch.cuda.max_memory_allocated() if config.device == "cuda" else None
    lines = [line.text[: config.longest] for line in log_lines(config.seed + 1, NEW_LINES)]
    x, y = encode(lines, config.device)
    with torch.no_grad():
        parts = [(token_loss(model(a), b), int((b >= 0).sum())) for a, b in zip(x.split(16), y.split(16), strict=True)]
    loss = float(sum(loss * tokens for loss, tokens in parts) / sum(tokens for _, tokens in parts))
    written = tuple(model.write(torch.Generator().manual_seed(config.seed)))
    return Progress(config, history, peak, loss, written, allocated)


def describe(progress: Progress) -> str:
    """The numbers of a run, in two or three sentences."""
    config, history = progress.config, progress.history
    size, n = config.micro_batch_size, config.accumulation_steps
    rate = sum(history.tokens) / history.seconds[-1]
    best, need = floor(config.text), (progress.peak - progress.fixed + COPIES * _weights(config)) / MIB
    said = (
        f"Update {history.updates} of {config.updates}, {config.effective_batch} lines each (B={size}, N={n}): loss "
        f"{history.losses[-1]:.3f} per token, where a perfect model pays {best:.3f}; {rate:,.0f} tokens per second. "
        f"At its peak the run held {progress.peak / MIB:.1f} MiB, about {max(need, 0):.1f} of it in activations, "
        f"which is {'within' if progress.within else 'over'} their budget of {config.budget / MIB:.3g}."
    )
    if progress.allocated:
        said += f" torch.cuda.max_memory_allocated says {progress.allocated / MIB:.1f} MiB."
    if progress.new_loss is not None:
        said += f" On {NEW_LINES} new lines the loss is {progress.new_loss:.3f}, after {history.seconds[-1]:.0f} seconds."
    return said


def _weights(config: Config) -> int:
    return sum(p.nbytes for p in config.build_model().parameters())


def draw(progress: Progress, figure: Figure) -> None:
    """Losses on the left, bytes on the right."""
    _draw_losses(figure.add_axes((0.06, 0.15, 0.6, 0.75)), progress)
    _draw_bytes(figure.add_axes((0.75, 0.15, 0.235, 0.75)), progress)


def _draw_losses(axes: Axes, progress: Progress) -> None:
    history, config = progress.history, progress.config
    tidy(axes, "Loss per token", "updates", "", y_away=38)
    best, guess = floor(config.text), math.log(len(LETTERS))
    axes.axhline(best, color=GREEN, linestyle="--", linewidth=1.4)
    axes.text(0.01 * config.updates, best * 1.06, f"a perfect model: {best:.2f}", color=GREEN, fontsize=9)
    axes.plot(range(1, history.updates + 1), history.losses, color=BLUE, linewidth=1.2)
    axes.set_yscale("log")
    axes.minorticks_off()
    axes.set(xlim=(0, config.updates), ylim=(0.18, 1.3 * guess))
    axes.set_yticks([0.2, 0.5, 1, 2, 4], ["0.2", "0.5", "1", "2", "4"])


def _draw_bytes(axes: Axes, progress: Progress) -> None:
    tidy(axes, "Most bytes alive, MiB", "", "", y_away=38)
    limit, color = ceiling(progress.config) / MIB, BLUE if progress.within else VERMILLION
    if progress.peak:
        axes.bar([0], [progress.peak / MIB], width=0.5, color=color, hatch="" if progress.within else "///")
        axes.text(0, progress.peak / MIB, f"{progress.peak / MIB:.1f}", ha="center", va="bottom", fontsize=9, color=color)
    axes.axhline(limit, color=VERMILLION, linestyle="--", linewidth=1.4)
    top = max(1.3 * limit, 1.15 * progress.peak / MIB)
    place: Style = {"ha": "right", "va": "bottom", "bbox": LABEL}
    axes.text(0.58, limit + 0.02 * top, f"allowed in all: {limit:.1f}", fontsize=9, color=VERMILLION, **place)
    axes.set(xlim=(-0.6, 0.6), ylim=(0, top), xticks=[])
    axes.text(0, -0.02 * top, "this run", ha="center", va="top", fontsize=9, color=GREY)


_NOT_YET_WRITTEN = "<div>&nbsp;</div>"
"""The place of the lines that a finished model makes up, so that nothing moves when they come."""


def _paragraph(text: str, wrong: bool = False) -> str:
    edge = f"border-left:4px solid {VERMILLION};padding-left:10px;" if wrong else ""
    role = 'role="alert"' if wrong else 'aria-live="polite"'
    return f'<p {role} style="{edge}max-width:{round(DPI * SIZE[0])}px;{CAPTION}">{escape(text)}</p>'
