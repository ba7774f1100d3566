"""Write ``docs/trainers.md`` and its pictures from what was recorded."""

from __future__ import annotations

import argparse
import json
import tomllib
from typing import Any

import torch
from run import HERE, Run, all_runs

from gradaccum.drawing import as_png, draw_fingerprint, new_figure
from gradaccum.fingerprint import as_fraction
from gradaccum.phenomena.trainers import fingerprint_of
from gradaccum.real_trainers import has_shares

DOCS = HERE.parent / "docs"
PAGE, PICTURES = DOCS / "trainers.md", DOCS / "images" / "trainers"
MAX_CELLS = 4
"""Coefficients of a row that the table shows."""

VERDICTS = {"due": "due", "not due": "**not due**", "cannot tell": "cannot tell"}

HEAD = """# Real trainers

What do the updates of widely used trainers hold? Each script in [`trainers/`](../trainers) trains a tiny model with a library's
public interface on the CPU, on data with leftovers, under [`gradaccum.watch`](watch.md). A cell is how much of one
micro-batch's mean loss is in an update. Due is its share of what the losses of the window count: tokens that have a label, or
samples. A library may document another rule, such as 1/N; the table only says what is in its updates.

`make trainers` runs what is not in [`real_trainers/recorded`](../gradaccum/real_trainers/recorded) yet, each script in an
environment of exactly pinned releases, and writes this page; `make trainers ARGS="lightning --again"`
repeats some runs. All of these used
torch {torch}. {same}
"""

SAME = "Every watched run ended bit for bit where an unwatched run of its script ends: parameters, buffers and random streams."


def write_page() -> None:
    """Write the page, and a picture for each finding."""
    PAGE.write_text(page())
    PICTURES.mkdir(parents=True, exist_ok=True)
    for run in map(run_called, (finding["run"] for finding in texts()["finding"])):
        if has_shares(result_of(run)):
            (PICTURES / _picture(run)).write_bytes(_drawn(result_of(run)))


def page() -> str:
    """The whole page, from recorded results and ``findings.toml``."""
    recorded = [(run, result_of(run)) for run in all_runs() if run.result.is_file()]
    said = texts()
    others = [run.name for run, result in recorded if not result["same_as_unwatched"]]
    same = SAME if not others else f"All ended bit for bit where an unwatched run ends, except {', '.join(others)}."
    versions = sorted({result["torch"] for _, result in recorded})
    parts = [HEAD.format(torch=" and ".join(versions), same=same), _table(recorded), _pairs(said["pair"])]
    parts += ["## Found in current releases", said["before_findings"].strip(), *(_finding(one) for one in said["finding"])]
    parts += ["## Not run here", "\n".join(f"- {one['library']}: {one['reason']}" for one in said["missing"])]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def texts() -> dict[str, Any]:
    return tomllib.loads((HERE / "findings.toml").read_text())


def run_called(name: str) -> Run:
    return next(run for run in all_runs() if run.name == name)


def result_of(run: Run) -> dict[str, Any]:
    return json.loads(run.result.read_text())


def _table(recorded: list[tuple[Run, dict[str, Any]]]) -> str:
    lines = ["| library | script | update | found | due | verdict |", "|---|---|---|---|---|---|"]
    for run, result in recorded:
        library = f"{run.library} {run.version}"
        update, found, due = _rows(result)
        lines.append(f"| {library} | {_link(run)} | {update} | {found} | {due} | {_verdict(result)} |")
    return "\n".join(lines)


def _link(run: Run) -> str:
    return f"[`{run.script}`](../trainers/{run.script}.py)"


def _verdict(result: dict[str, Any]) -> str:
    said = [f"`{mistake['slug']}`: {mistake['message']}" for mistake in result["mistakes"]]
    if result["outcome"] == "cannot tell":
        said = result["notes"]
    return " ".join([VERDICTS[result["outcome"]] + "." * bool(said), *said])


def _rows(result: dict[str, Any]) -> tuple[str, str, str]:
    """Number of the first row that is not due, else of the first; what it holds, and what is due."""
    if not has_shares(result):
        return "", "", ""
    found, due = result["matrices"][0]["found"], result["matrices"][0]["due"]
    wrong = (u for u, rows in enumerate(zip(found, due, strict=True)) if _differ(*rows))
    u = next(wrong, 0)
    shown = [k for k, pair in enumerate(zip(found[u], due[u], strict=True)) if any(abs(value) > 1e-6 for value in pair)]
    return str(u + 1), _cells(found[u], shown), _cells(due[u], shown)


def _differ(found: list[float], due: list[float]) -> bool:
    return any(abs(a - b) > 5e-4 * max(due, default=1) for a, b in zip(found, due, strict=True))


def _cells(row: list[float], shown: list[int]) -> str:
    more = f" … ({len(shown)})" if len(shown) > MAX_CELLS else ""
    return ", ".join(as_fraction(row[k]) or "0" for k in shown[:MAX_CELLS]) + more


def _pairs(pairs: list[dict[str, str]]) -> str:
    lines = ["## Mistakes that were repaired", "", "| report | what was wrong | before | after |", "|---|---|---|---|"]
    for pair in pairs:
        cells = [
            f"{run.library} {run.version}, {_link(run)}: {_short(result_of(run))}"
            for run in map(run_called, (pair["bad"], pair["repaired"]))
        ]
        lines.append(f"| [{pair['title']}]({pair['report']}) | {pair['what']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _short(result: dict[str, Any]) -> str:
    named = " ".join(f"`{mistake['slug']}`" for mistake in result["mistakes"]) or VERDICTS[result["outcome"]]
    return named


def _finding(finding: dict[str, str]) -> str:
    run = run_called(finding["run"])
    result = result_of(run)
    said = " ".join(f"`{mistake['slug']}`: {mistake['message']}" for mistake in result["mistakes"])
    pins = " ".join(f"`{pin}`" for pin in run.pins)
    parts = [f"### {run.library} {run.version}: {finding['title']}", finding["what"].strip()]
    parts += [f"Reported: {finding['report']}."] if "report" in finding else []
    parts += [f"Watching {_link(run)}, with {pins}, says {said}"]
    if has_shares(result):
        parts += [f"![What the updates hold, and what is due]({PICTURES.relative_to(DOCS).as_posix()}/{_picture(run)})"]
    return "\n\n".join(parts)


def _picture(run: Run) -> str:
    return f"{run.library}-{run.script}.png"


def _drawn(result: dict[str, Any]) -> bytes:
    matrix = result["matrices"][0]
    found, due = (fingerprint_of(matrix[name], matrix["counts"]) for name in ("found", "due"))
    rows, columns = found.coefficients.shape
    figure = new_figure(min(0.6 + 0.46 * columns, 10), 0.9 + 0.66 * rows)
    peak = float(torch.maximum(found.coefficients, due.coefficients).max())
    for bottom, one, title in ((0.5, found, "found"), (0.0, due, "due")):
        axes = figure.add_axes((0.05, bottom + 0.01, 0.94, 0.34))
        draw_fingerprint(axes, one, title, due, peak=peak)
    return as_png(figure)


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    write_page()
