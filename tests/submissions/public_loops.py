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
their loops, written afresh in their style as answers to the course's exercises, and what the marker says of each. The verdict
was predicted from the report before the loop was marked. The loops are the sample submissions `public_*.py` in
[`tests/submissions`](../tests/submissions); `python tests/submissions/public_loops.py` writes this page from them.

An exercise asks for more than a trainer may need: micro-batches may differ in size, an epoch may end with a leftover window,
`.grad` may hold something at the start. Where a trainer relies on such a thing, its verdict names that mistake as well.

What is not heard: dropout that draws other numbers when a feature is computed for the second time. The exercises leave nothing
to chance, so a trainer that saves the random state and one that forgets it get the same verdict.

| in the style of | what the report says | exercise | verdict |
|---|---|---|---|
"""


@dataclass(frozen=True)
class PublicLoop:
    """A sample submission in the style of a public trainer.

    Attributes:
        path: of its file.
        style: which trainer.
        report: what is known to be wrong, or right, with it.
        source: the address of the report, or ``claims N`` for row N of the claims ledger.
        exercise: the function it answers.
        mistakes: slugs of its verdict.
    """

    path: Path
    style: str
    report: str
    source: str
    exercise: str
    mistakes: tuple[str, ...] = ()

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
        if isinstance(node, ast.Assign) and node.targets[0].id in ("STYLE", "REPORT", "SOURCE", "EXERCISE", "MISTAKES")
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
    verdict = "right" if loop.accepted else ", ".join(f"`{slug}`" for slug in loop.mistakes) or "wrong, without a name"
    return f"| {loop.style} | [{loop.report}]({address}) | [{loop.unit[:2]} `{loop.exercise}`]({file}) | {verdict} |"


if __name__ == "__main__":
    main()
