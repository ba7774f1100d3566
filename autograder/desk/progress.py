"""``show_progress()``: a student's own progress through the course, from the verdicts of their checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from autograder.contract.exercise import Exercise
from autograder.contract.units import UNITS
from autograder.desk.results import Result, forget, results, results_file
from autograder.exercises import exercises_of
from gradaccum.theme import FAINT, GREEN, GREY, VERMILLION, text_color


@dataclass(frozen=True)
class UnitProgress:
    """One unit: its graded exercises, and the results of those that have been tried."""

    unit: str
    exercises: tuple[Exercise, ...]
    results: Mapping[str, Result]

    @property
    def title(self) -> str:
        """What the unit is called in the course."""
        words = self.unit[3:].replace("micro_batch", "micro-batch").replace("_", " ")
        return f"{self.unit[:2]} · {words.capitalize()}"

    @property
    def score(self) -> float:
        return sum(result.score for result in self.results.values())

    @property
    def max_score(self) -> float:
        return sum(exercise.max_score for exercise in self.exercises)

    @property
    def done(self) -> bool:
        return all(exercise.id in self.results and self.results[exercise.id].passed for exercise in self.exercises)


@dataclass(frozen=True)
class Progress:
    """All units of the course; a table in a notebook, plain lines elsewhere."""

    units: tuple[UnitProgress, ...]

    @property
    def next(self) -> UnitProgress | None:
        """The first unit that is not done."""
        return next((one for one in self.units if not one.done), None)

    def __str__(self) -> str:
        return "\n".join([*(f"{line[0]:<36}{line[1]}" for line in self._lines()), "", self.advice()])

    def __repr__(self) -> str:
        return str(self)

    def advice(self) -> str:
        """A sentence on what to do now."""
        if self.next is None:
            return "Everything is solved."
        left = [exercise.id for exercise in self.next.exercises if not _passed(self.next, exercise)]
        return f"Next: {self.next.title}: {', '.join(left)}."

    def as_html(self) -> str:
        """The table: a bar for each unit, a mark for each exercise, and what is next."""
        score, most = sum(one.score for one in self.units), sum(one.max_score for one in self.units)
        rows = "".join(_row(one, one is self.next) for one in self.units)
        together = f"<b>{score:g} of {most:g} points.</b> {escape(self.advice())}"
        return (
            f'<div style="max-width:900px;font-size:14px;line-height:1.5"><p style="margin:0 0 8px">{together}</p>'
            f'<table style="border-collapse:collapse;table-layout:fixed;width:100%;margin:0"><tbody>{rows}</tbody></table>'
            "</div>"
        )

    def _lines(self) -> Iterator[tuple[str, str]]:
        for one in self.units:
            yield one.unit, f"{one.score:g} of {one.max_score:g} points"
            for exercise in one.exercises:
                yield f"  {exercise.id}", f"{_sign(one, exercise)[0]} {_points(one, exercise)}"

    def _ipython_display_(self) -> None:
        from gradaccum import still

        bundle = still.widget_view(_panel(self)) | {"text/html": self.as_html(), "text/plain": str(self)}
        still.show(bundle)


def show_progress() -> Progress:
    """Your results in all units: the best verdict that each ``check`` has shown you so far, on this computer."""
    return progress(results())


def progress(known: Mapping[str, Result]) -> Progress:
    """The progress that these results amount to; practice exercises do not count."""
    units = []
    for unit in UNITS:
        if exercises := tuple(exercise for exercise in exercises_of(unit) if exercise.graded):
            units.append(UnitProgress(unit, exercises, {e.id: known[e.id] for e in exercises if e.id in known}))
    return Progress(tuple(units))


def _panel(shown: Progress) -> Any:
    """The table, with a button that asks once and then forgets everything."""
    import ipywidgets as widgets

    from gradaccum import still

    table = widgets.HTML(shown.as_html())
    reset, really, keep = (
        widgets.Button(description=text, layout={"width": "max-content"})
        for text in ("Reset my progress", "Forget all results", "Keep them")
    )
    message = widgets.HTML()
    asking = widgets.HBox([really, keep], layout={"display": "none"})

    def ask(asked: bool) -> None:
        asking.layout.display, reset.layout.display = ("flex", "none") if asked else ("none", "inline-flex")

    def forget_all(_: object) -> None:
        try:
            forget()
            message.value = '<div role="alert">Forgotten. Your notebooks are as they were.</div>'
        except OSError as error:
            message.value = (
                f'<div role="alert">{escape(str(results_file()))} cannot be removed: {escape(str(error.strerror))}</div>'
            )
        table.value = show_progress().as_html()
        ask(False)

    reset.on_click(lambda _: ask(True))
    keep.on_click(lambda _: ask(False))
    really.on_click(forget_all)
    panel = widgets.VBox([table, reset, asking, message])
    panel.add_class(still.LIVE)
    return panel


def _row(one: UnitProgress, is_next: bool) -> str:
    link = f'<a href="{one.unit}.ipynb">{escape(one.title)}</a>'
    share = one.score / one.max_score
    style = f"background:{GREEN if one.done else VERMILLION};width:{100 * share:.0f}%;height:8px;border-radius:3px"
    bar = f'<div style="background:{FAINT};border-radius:3px"><div style="{style}"></div></div>'
    marks = "".join(_mark(one, exercise) for exercise in one.exercises)
    cells = (
        (f"width:33%;font-weight:{600 if is_next else 400}", f"{link}{'&nbsp;←' if is_next else ''}"),
        ("width:12%", bar),
        ("width:10%;white-space:nowrap;text-align:right", f"{one.score:g} / {one.max_score:g}"),
        ("width:45%", marks),
    )
    return (
        "<tr>" + "".join(f'<td style="text-align:left;padding:3px 10px;{style}">{html}</td>' for style, html in cells) + "</tr>"
    )


def _mark(one: UnitProgress, exercise: Exercise) -> str:
    sign, color = _sign(one, exercise)
    sign = f'<span style="color:{text_color(color)};font-weight:600">{sign}</span>'
    said = f'{sign}&nbsp;<code style="font-size:12px">{exercise.id}</code>'
    return f'<span style="display:inline-block;margin-right:12px" title="{_points(one, exercise)}">{said}</span>'


def _sign(one: UnitProgress, exercise: Exercise) -> tuple[str, str]:
    if exercise.id not in one.results:
        return "○", GREY
    return ("✓", GREEN) if _passed(one, exercise) else ("✗", VERMILLION)


def _passed(one: UnitProgress, exercise: Exercise) -> bool:
    return exercise.id in one.results and one.results[exercise.id].passed


def _points(one: UnitProgress, exercise: Exercise) -> str:
    result = one.results.get(exercise.id)
    return f"{result.score if result else 0:g} of {exercise.max_score:g} points"
