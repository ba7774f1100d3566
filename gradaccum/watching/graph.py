"""Find losses in the graph of a backward: walk from its root through linear operations to the first that is not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch import Tensor
from torch.autograd.graph import Node

LINEAR = (
    *(
        "Add",
        "Sub",
        "Neg",
        "Mean",
        "Sum",
        "View",
        "UnsafeView",
        "ReshapeAlias",
        "Unsqueeze",
        "Squeeze",
        "Expand",
        "Clone",
        "Alias",
    ),
    *("ToCopy", "Stack", "Cat", "Select", "Slice", "Index", "MaskedSelect", "MaskedFill", "Where", "Transpose", "T", "Permute"),
    *("Split", "SplitWithSizes", "Unbind", "Gather", "Narrow", "Copy", "CopySlices", "Detach", "Repeat", "AsStrided", "Take"),
)
"""Names of linear operations in a graph; a product or a quotient is linear if only its first factor has a graph."""

MAX_NODES = 200
"""Nodes that are looked at from the root of one backward."""

SEEN = "gradaccum.watching"
"""The key that marks, in a node's metadata, a loss that was found as it was computed."""


def mark_as_seen(node: Node) -> None:
    """Remember that this node's loss was found as it was computed."""
    _metadata(node)[SEEN] = True


def is_seen(node: Node) -> bool:
    """Whether this node's loss was found as it was computed."""
    return SEEN in _metadata(node)


def _metadata(node: Node) -> dict[str, Any]:
    metadata: Any = node.metadata  # a dictionary, declared as a method
    return metadata


def in_graph(roots: list[Tensor]) -> list[tuple[Node, str]]:
    """The operations at which the linear part of a graph ends, each with a name, in a fixed order.

    There are none if one of the losses that were found as they were computed is met.
    """
    ends, met = _ends(roots)
    return [] if met else ends


def beside_losses(roots: list[Tensor]) -> list[str]:
    """The names of such operations in a graph in which losses were met that were found as they were computed."""
    ends, met = _ends(roots)
    return [name for _, name in ends] if met else []


def _ends(roots: list[Tensor]) -> tuple[list[tuple[Node, str]], bool]:
    waiting = [root.grad_fn for root in roots if root.grad_fn is not None]
    seen: set[Node] = set()
    ends: list[tuple[Node, str]] = []
    met = False
    while waiting and len(seen) < MAX_NODES:
        node = waiting.pop(0)
        if node in seen:
            continue
        seen.add(node)
        if is_seen(node):
            met = True
            continue
        name = node.name().split("::")[-1].removesuffix("0").removesuffix("1").removesuffix("2").removesuffix("Backward")
        behind = [next_node for next_node, _ in node.next_functions if next_node is not None]
        if name in LINEAR or (name in ("Mul", "Div") and len(behind) == 1):
            waiting += behind
        elif name != "AccumulateGrad":
            ends.append((node, name))
    inner = _behind(node for node, _ in ends)
    return [(node, name) for node, name in ends if node not in inner], met


def _behind(nodes: Iterable[Node]) -> set[Node]:
    """What is behind some nodes, the nearest first: a gradient that arrives there has also come through them."""
    waiting, found = list(nodes), set[Node]()
    while waiting and len(found) < MAX_NODES:
        new = {node for node, _ in waiting.pop(0).next_functions if node is not None} - found
        found |= new
        waiting += new
    return found


def per_token(node: Node, gradient: Tensor) -> Tensor:
    """The gradient that arrives at a node: at a log-softmax summed over classes, because one token there has many values.

    Label smoothing weights these differently, but all tokens alike.
    """
    if "LogSoftmax" not in node.name() or not gradient.dim():
        return gradient
    dim = int(node._saved_dim)  # type: ignore[attr-defined]  # a negative one is shown as it is without its sign
    return gradient.sum(dim if dim < gradient.dim() else dim - 2**64)
