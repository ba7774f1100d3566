"""The puzzle of unit 04 in its notebook: six unnamed fingerprints and the mistakes to choose from. Needs matplotlib."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from autograder.exercises.unit_04_training_loop.exercises import CANDIDATES, PUZZLE, PUZZLE_PROBLEM
from gradaccum.diagnosis.catalogue import mistake
from gradaccum.fingerprint import fingerprint
from gradaccum.loops import GALLERY
from gradaccum.notebook.showing import Picture, show_fingerprints


def show_puzzle() -> Puzzle:
    """Six fingerprints, A to F, of wrong loops from the gallery."""
    loops = {letter: GALLERY[slug] for letter, slug in PUZZLE.items()}
    return Puzzle(show_fingerprints({letter: fingerprint(loop, PUZZLE_PROBLEM) for letter, loop in loops.items()}))


@dataclass(frozen=True)
class Puzzle:
    """The picture, and below it the mistakes to choose from, each with what it computes."""

    picture: Picture

    def __str__(self) -> str:
        return f"{self.picture.alt}\n\n{self.choices['text/plain']}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        picture = self.picture._repr_mimebundle_()["text/html"]
        return {"text/html": picture + self.choices["text/html"], "text/plain": str(self)}

    @property
    def choices(self) -> dict[str, str]:
        """The mistakes to choose from, as HTML and as text."""
        rows = "".join(
            f'<tr><td style="text-align:left;padding-right:1em"><code style="white-space:nowrap">{slug}</code></td>'
            f'<td style="text-align:left">{escape(mistake(slug).message)}</td></tr>'
            for slug in CANDIDATES
        )
        lines = "\n".join(f"{slug}: {mistake(slug).message}" for slug in CANDIDATES)
        return {"text/html": f'<table style="max-width:60em"><tbody>{rows}</tbody></table>', "text/plain": lines}
