"""Text in the cells of CSV files that instructors open in a spreadsheet."""

from __future__ import annotations


def formula_safe(text: str) -> str:
    """A text that spreadsheets do not read as a formula: an apostrophe is put in front of one that they might.

    Source: OWASP, "CSV Injection" (https://owasp.org/www-community/attacks/CSV_Injection).
    """
    return f"'{text}" if text.lstrip(" \ufeff").startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else text
