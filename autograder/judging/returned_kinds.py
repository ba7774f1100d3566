"""What a message says of a value that is not of the kind asked for."""

from __future__ import annotations


def returned_instead(kind: object, due: str = "") -> str:
    """The message for a function that returned a value of another kind.

    Args:
        kind: the name of the type of what was returned, or what else says it; a short list in brackets may be a tuple, too.
        due: what was asked for, as in ``"a number"``; empty if the exercise says it best.
    """
    if kind == "NoneType":
        where = f" where {due} was due" if due else ""
        return f"Your function returned nothing (None){where}. Is a return statement missing?"
    if kind == "float" and due == "an integer":
        return "Your function returned a number with a decimal point, such as 4.0, where an integer was due."
    held = str(kind)[1:-1] if str(kind).startswith("[") else ""
    what = f" where {due} was due" if due else ", which is not the kind of value that was asked for"
    return f"Your function returned {f'a sequence with {held}' if held else KINDS.get(str(kind), str(kind)[:40])}{what}."


KINDS = {
    "list that holds None": "a list that holds None",
    "tuple that holds None": "a tuple that holds None",
    "Tensor": "a tensor",
    "bool": "True or False",
    "complex": "a complex number",
    "dict": "a dictionary",
    "float": "a number",
    "function": "a function",
    "generator": "a generator",
    "int": "an integer",
    "list": "a list",
    "set": "a set",
    "str": "a text",
    "tuple": "a tuple",
}
"""Names of types in words."""
