"""A pretended GPU, so that a machine without one can test how a device affects marking.

Inside :func:`pretended_cuda` tensors may be put on ``"cuda"``. Their numbers stay in the memory of the CPU, but it is recorded
of each storage where it is supposed to be: ``tensor.device`` says so, results of operations stay there, ``numpy()`` refuses,
and an operation on tensors in both places raises what CUDA raises. Kernels, their rounding, and memory are not pretended.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from unittest.mock import patch

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils import checkpoint
from torch.utils._python_dispatch import TorchDispatchMode

CUDA = torch.device("cuda", 0)
MAY_MIX = {"copy_", "_to_copy", "_foreach_copy_", "index", "index_put_", "index_put", "_index_put_impl_", "_unsafe_index"}
"""Operations that take tensors in both places: copies, and indexing, whose indices may be on the CPU."""

_there: set[int] = set()
"""The storages that are supposed to be on the GPU, as long as they live, also between two blocks."""


@contextmanager
def pretended_cuda() -> Iterator[None]:
    """Pretend that there is a GPU."""
    autocast = torch.amp.autocast_mode.autocast
    enter = autocast.__init__

    def on_the_cpu(self, device_type, *arguments, **keywords):
        enter(self, "cpu" if device_type == "cuda" else device_type, *arguments, **keywords)

    engine = torch.autograd._engine_run_backward

    def run_backward(*arguments, **keywords):
        watched = any(isinstance(mode, _Places) for mode in torch.overrides._get_current_function_mode_stack())
        with nullcontext() if watched else _Places():  # which calls what checkpointing computes again
            return engine(*arguments, **keywords)

    with (
        patch.object(autocast, "__init__", on_the_cpu),
        patch.object(torch.autograd, "_engine_run_backward", run_backward),
        patch.dict(checkpoint._allowed_determinism_checks_to_fns, default=lambda tensor: (tensor.shape, tensor.dtype)),
        patch.object(torch.serialization, "_package_registry", [_IN_FILES, *torch.serialization._package_registry]),
        patch("torch.cuda.amp.common.amp_definitely_not_available", lambda: False),
        patch("torch.cuda.is_available", lambda: True),
        _Results(),
        _Places(),
    ):
        yield


def is_there(tensor: Tensor) -> bool:
    """Whether a tensor is supposed to be on the GPU."""
    return _storage(tensor)._cdata in _there


def _storage(tensor: Tensor) -> torch.UntypedStorage:
    while torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        tensor = torch._C._functorch.get_unwrapped(tensor)
    return tensor.untyped_storage()


def _put(tensor: Tensor, there: bool) -> Tensor:
    storage = _storage(tensor)
    key = storage._cdata
    if there and key not in _there:
        _there.add(key)
        weakref.finalize(storage, _there.discard, key).atexit = False
    elif not there:
        _there.discard(key)
    return tensor


def _tag(storage: torch.UntypedStorage) -> str | None:
    return "cuda:0" if storage._cdata in _there else None


def _restore(storage: torch.UntypedStorage, location: str) -> torch.UntypedStorage | None:
    if not location.startswith("cuda"):
        return None
    _put(torch.empty(0, dtype=torch.uint8).set_(storage), True)
    return storage


_IN_FILES = (0, _tag, _restore)
"""How ``torch.save`` and ``torch.load`` keep where a tensor was. Torch asks the entries of its list in order."""


def _tensors_in(values: Iterable[object]) -> Iterator[Tensor]:
    """The tensors among an operation's arguments or results, which are nested in lists and tuples at most."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors_in(value)


class _Results(TorchDispatchMode):
    """Puts results where the arguments are, and refuses arguments in both places."""

    @classmethod
    def _should_skip_dynamo(cls):  # which would cost more than what is done here
        return False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        given = list(_tensors_in((*args, *kwargs.values())))
        known = {tensor.untyped_storage()._cdata for tensor in given}
        there = any(key in _there for key in known)
        elsewhere = any(tensor.dim() and tensor.untyped_storage()._cdata not in _there for tensor in given)
        if there and elsewhere and func._schema.name.removeprefix("aten::") not in MAY_MIX:
            raise RuntimeError(f"Expected all tensors to be on the same device, but {func} has some on cuda:0 and some on cpu")
        out = func(*args, **kwargs)
        if there:
            for tensor in _tensors_in((out,)):
                if tensor.untyped_storage()._cdata not in known:
                    _put(tensor, True)
        return out


class _Places(TorchFunctionMode):
    """Answers where tensors are, moves them, and makes new ones where they are wanted."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if func in _ASKED:
            return _ASKED[func](args[0], func)
        if func in (Tensor.numpy, Tensor.__array__) and is_there(args[0]) and not kwargs.get("force"):
            raise TypeError("can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() first.")
        if func in _MOVES:
            return _moved(func, args, kwargs)
        if func is Tensor.__deepcopy__:
            return _put(func(*args, **kwargs), is_there(args[0]))
        where = kwargs.get("device")
        if func is torch._C._nn._parse_to:  # what Module.to asks first: device, dtype and more
            device, *more = func(*args, **kwargs)
            return (_device(args[0]) if args and isinstance(args[0], Tensor) else device), *more
        if where is None:
            return func(*args, **kwargs)
        there = torch.device(where).type == "cuda"
        out = func(*args, **kwargs | {"device": "cpu"})
        return _put(out, there) if isinstance(out, Tensor) else out


def _device(tensor: Tensor, get: object = None) -> torch.device:
    return CUDA if is_there(tensor) else torch.device("cpu")


_ASKED = {
    Tensor.device.__get__: _device,
    Tensor.is_cuda.__get__: lambda tensor, get: is_there(tensor),
    Tensor.is_cpu.__get__: lambda tensor, get: not is_there(tensor),
    Tensor.get_device: lambda tensor, get: 0 if is_there(tensor) else -1,
}
_MOVES = {Tensor.to, Tensor.cpu, Tensor.cuda}


def _moved(func, args: tuple, kwargs: dict) -> Tensor:
    """What ``to``, ``cpu`` and ``cuda`` return: a copy if the tensor moves to another place."""
    tensor, *rest = args
    was = is_there(tensor)
    if func is not Tensor.to:
        goes, rest, kwargs = func is Tensor.cuda, [], {}
    elif rest and isinstance(rest[0], Tensor):
        goes, rest = is_there(rest[0]), [rest[0].dtype, *rest[1:]]
    elif rest and isinstance(rest[0], str | torch.device | int):
        goes, rest = torch.device(rest[0]).type == "cuda", rest[1:]
    elif kwargs.get("device") is not None:
        goes = torch.device(kwargs.pop("device")).type == "cuda"
    elif isinstance(kwargs.get("other"), Tensor):
        other = kwargs.pop("other")
        goes, rest = is_there(other), [other.dtype]
    else:
        goes = was
    dtype = next((value for value in [*rest, kwargs.get("dtype")] if isinstance(value, torch.dtype)), tensor.dtype)
    if goes == was and not kwargs.get("copy"):
        return tensor.to(dtype)
    return _put(tensor.to(dtype, copy=True), goes)
