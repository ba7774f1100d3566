"""The commands that documents tell their readers to type, and the output that they show."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def shell_lines(page: str) -> list[str]:
    """The lines of a page's blocks of shell commands, in order."""
    return lines_in_blocks(page, "sh")


def lines_in_blocks(page: str, language: str = "") -> list[str]:
    """The lines of a page's fenced blocks in a language; blocks without a language show output."""
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [line for tag, block in blocks if tag == language for line in block.splitlines()]
