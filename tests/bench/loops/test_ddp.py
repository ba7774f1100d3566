"""The gallery of loops on several ranks."""

from __future__ import annotations

import ast
import inspect

import pytest

from gradaccum.loops.ddp import DDP_GALLERY

pytestmark = pytest.mark.slow  # Part II: marked in the whole suite


@pytest.mark.parametrize("slug", DDP_GALLERY)
def test_a_gallery_loop_is_a_short_plain_function_named_after_its_mistake(slug):
    function = ast.parse(inspect.getsource(DDP_GALLERY[slug])).body[0]
    assert function.name.removesuffix("_ddp") == slug.replace("-", "_")
    assert len(ast.unparse(function).splitlines()) <= 16
