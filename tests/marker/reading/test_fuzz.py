"""Whatever happened to a file, it is either read as a submission with a valid notebook or refused in one line."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path

import nbformat
import pytest
from damages import solved
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.marking.marker import mark_file
from autograder.reading.submissions import SubmissionError, parse_submission
from autograder.released import released_content

UNIT = "04_training_loop"
NOTEBOOKS = {"released": released_content(UNIT), "solved": solved(UNIT)}
FILES = {name: json.dumps(content, indent=1, ensure_ascii=False).encode() for name, content in NOTEBOOKS.items()}

BOUNDED = {"derandomize": True, "deadline": None, "suppress_health_check": list(HealthCheck), "database": None}
FEW_EXAMPLES = settings(max_examples=30, **BOUNDED)
MANY_EXAMPLES = settings(max_examples=120, **BOUNDED)

SURPRISES = [
    b"",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b'"',
    b"\\",
    b"\\ud800",
    b"[",
    b"]",
    b"{",
    b"}",
    b",",
    b"1e999",
    b"NaN",
    b"\r\n",
]

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None)) | st.just("def train_epoch("),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@st.composite
def damaged_bytes(draw) -> bytes:
    """A file with bytes flipped, cut out, inserted or copied."""
    data = FILES[draw(st.sampled_from(sorted(FILES)))]
    for _ in range(draw(st.integers(1, 6))):
        start, stop = sorted((draw(st.integers(0, len(data))), draw(st.integers(0, len(data)))))
        match draw(st.sampled_from(["flip", "cut", "cut a little", "insert", "splice"])):
            case "flip":
                data = (
                    data[:start]
                    + bytes(byte ^ draw(st.integers(1, 255)) for byte in data[start : start + 1])
                    + data[start + 1 :]
                )
            case "cut":
                data = data[:start] + data[stop:]
            case "cut a little":
                data = data[:start] + data[start + draw(st.integers(1, 40)) :]
            case "insert":
                data = data[:start] + draw(st.sampled_from(SURPRISES) | st.binary(max_size=20)) + data[start:]
            case "splice":
                data = data[:start] + data[stop : stop + 2000] + data[start:]
    return data


@st.composite
def damaged_json(draw) -> bytes:
    """A notebook, still valid JSON, with parts removed, duplicated, of another type or replaced by anything."""
    content = copy.deepcopy(NOTEBOOKS[draw(st.sampled_from(sorted(NOTEBOOKS)))])
    for _ in range(draw(st.integers(1, 8))):
        places = [place for place in _places(content) if len(place) > 0]
        if not places:
            break
        chance = random.Random(draw(st.integers(0, 2**32)))
        depth = chance.choice(sorted({len(place) for place in places}))  # otherwise nearly all would be leaves
        *path, last = chance.choice([place for place in places if len(place) == depth])
        holder = content
        for key in path:
            holder = holder[key]
        match draw(st.sampled_from(["drop", "duplicate", "retype", "replace", "replace"])):
            case "drop":
                del holder[last]
            case "duplicate":
                twin = copy.deepcopy(holder[last])
                holder.insert(last, twin) if isinstance(holder, list) else holder.update({f"{last}2": twin})
            case "retype":
                holder[last] = draw(st.sampled_from([json.dumps, lambda node: [node], lambda node: {"a": node}]))(holder[last])
            case "replace":
                holder[last] = draw(anything)
    return json.dumps(content).encode()


def _places(node: object, path: tuple = ()):
    """The path of a node and of all nodes in it: the keys and indices that lead to each."""
    yield path
    for key, inner in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        yield from _places(inner, (*path, key))


def is_one_line(complaint: str) -> None:
    assert complaint.splitlines() == [complaint]
    complaint.encode()


def parses_or_is_refused(data: bytes) -> None:
    for name in (f"{UNIT}.ipynb", "homework.ipynb", f"{UNIT}.py", "notes.txt"):
        try:
            submission = parse_submission(Path(name), data)
        except SubmissionError as error:
            is_one_line(str(error))
            continue
        for cell in submission.cells:
            f"{cell.name}{cell.source}".encode()
        if submission.notebook is not None:
            nbformat.validate(submission.notebook, relax_add_props=False)
            nbformat.writes(submission.notebook).encode()
            assert [cell.metadata for cell in submission.notebook.cells if cell.metadata] == [
                cell["metadata"] for cell in released_content(submission.unit)["cells"] if cell["metadata"]
            ]


@pytest.mark.slow
@FEW_EXAMPLES
@given(damaged_bytes())
def test_a_file_with_damaged_bytes_is_read_or_refused(data):
    parses_or_is_refused(data)


@pytest.mark.slow
@FEW_EXAMPLES
@given(anything)
def test_any_json_is_read_or_refused(content):
    parses_or_is_refused(json.dumps(content).encode())


@FEW_EXAMPLES
@given(st.binary())
def test_any_bytes_are_read_or_refused(data):
    parses_or_is_refused(data)


@pytest.mark.slow
@MANY_EXAMPLES
@given(damaged_bytes())
def test_many_files_with_damaged_bytes_are_read_or_refused(data):
    parses_or_is_refused(data)


@pytest.mark.slow
@MANY_EXAMPLES
@given(damaged_json())
def test_many_notebooks_with_damaged_parts_are_read_or_refused(data):
    parses_or_is_refused(data)


@pytest.mark.slow
@settings(max_examples=6, **BOUNDED)
@given(damaged_bytes() | damaged_json())
def test_a_damaged_file_is_marked_or_refused(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("fuzz") / f"{UNIT}.ipynb"
    path.write_bytes(data)
    try:
        marks = mark_file(path)
    except SubmissionError as error:
        is_one_line(str(error))
    else:
        assert 0 <= marks.score <= marks.max_score
        json.dumps(marks.as_json()).encode()
