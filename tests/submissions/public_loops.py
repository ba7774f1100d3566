"""Loops in the style of public trainers: ``python tests/submissions/public_loops.py`` writes ``docs/public_loops.md``.

They are the sample submissions whose names begin with ``public_``. What the page says of a loop stands in the loop's own file,
and the verdict is the one that the test of all samples holds the marker to, so nothing on the page is typed.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

SUBMISSIONS = Path(__file__).parent
PAGE = SUBMISSIONS.parent.parent / "docs" / "public_loops.md"
LEDGER = "claims "
"""How a source begins that is a row of the claims ledger, not an address."""

HEAD = """# Public loops

Widely used trainers have had their share of the mistakes this course is about, and bug reports that describe them. Here are
their loops, written afresh in their style as answers to the course's exercises, and what the marker says of each. In bold is
what the report lets one expect. Not all of them are recent: many a trainer has long been mended.

An exercise asks for more than a trainer may need: micro-batches may differ in size, an epoch may end with a leftover window,
`.grad` may hold something at the start. What a loop does wrong there the marker names as well; it is not in bold.

The loops are the sample submissions `public_*.py` in [`tests/submissions`](../tests/submissions/README.md), and
`python tests/submissions/public_loops.py` writes this page from them. Tests see to it that the marker says what stands here.

Dropout that draws other numbers when features are computed for the second time is not heard: the exercises leave nothing to
chance, so a trainer that saves the state of its random numbers and one that forgets it get the same verdict.

| in the style of | what the report says | exercise | verdict |
|---|---|---|---|
"""

NO_REPORT = "no report: "
"""How the report of a trainer begins that nobody seems to have complained about."""


DECLARED = ("STYLE", "REPORT", "SOURCE", "PREDICTED", "EXERCISE", "MISTAKES")


@dataclass(frozen=True)
class PublicLoop:
    """A sample submission in the style of a public trainer.

    Attributes:
        path: of its file.
        style: which trainer.
        report: what is known to be wrong, or right, with it.
        source: the address of the report, or of the trainer if there is none; or ``claims N``, row N of the claims ledger.
        exercise: the function it answers.
        mistakes: slugs of its verdict.
        predicted: those of them that the report lets one expect.
    """

    path: Path
    style: str
    report: str
    source: str
    exercise: str
    mistakes: tuple[str, ...] = ()
    predicted: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        return self.path.parent.parent.name

    @property
    def accepted(self) -> bool:
        return self.path.parent.name == "accepted"


def main() -> None:
    """Write the page."""
    loops = public_loops()
    PAGE.write_text(page(loops), encoding="utf-8")
    print(f"docs/{PAGE.name}: {len(loops)} loops")


def public_loops() -> list[PublicLoop]:
    """All of them, unit by unit, the accepted ones of a unit first.

    Raises:
        ValueError: a file does not say what it has to.
    """
    return [read(path) for path in sorted(SUBMISSIONS.glob("*/*/public_*.py"))]


def read(path: Path) -> PublicLoop:
    """What a file declares.

    Raises:
        ValueError: something is missing.
    """
    declared = {
        node.targets[0].id.lower(): ast.literal_eval(node.value)
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign) and node.targets[0].id in DECLARED
    }
    missing = [name.upper() for name in ("style", "report", "source", "exercise") if not declared.get(name)]
    if missing:
        raise ValueError(f"{path}: a public loop also declares {', '.join(missing)}")
    return PublicLoop(path, **declared)


def page(loops: list[PublicLoop]) -> str:
    """The page as it should be."""
    return HEAD + "".join(f"{_row(loop)}\n" for loop in loops)


def _row(loop: PublicLoop) -> str:
    address = "claims.md" if loop.source.startswith(LEDGER) else loop.source
    file = f"../{loop.path.relative_to(SUBMISSIONS.parent.parent).as_posix()}"
    return f"| {loop.style} | [{loop.report}]({address}) | [{loop.unit[:2]} `{loop.exercise}`]({file}) | {_verdict(loop)} |"


def _verdict(loop: PublicLoop) -> str:
    others = [slug for slug in loop.mistakes if slug not in loop.predicted]
    named = [*(f"**`{slug}`**" for slug in loop.predicted), *(f"`{slug}`" for slug in others)]
    return "right" if loop.accepted else ", ".join(named) or "wrong; it has no name, and the fingerprint shows it"


if __name__ == "__main__":
    main()
