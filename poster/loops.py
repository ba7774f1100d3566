"""The right loops, as they are printed on the poster. ``make.py`` runs them and reads what their updates hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from itertools import islice

import torch
from torch import Tensor, nn
from torch.amp import GradScaler
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer

Loader = Iterable[tuple[Tensor, Tensor]]
Loss = Callable[..., Tensor]


def windows(loader: Loader, n: int) -> Iterator[list]:
    loader = iter(loader)
    while window := list(islice(loader, n)):
        yield window  # the last may hold fewer


def plain(model: nn.Module, loss_fn: Loss, optimizer: Optimizer, loader: Loader, n: int) -> None:
    for window in windows(loader, n):
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            loss = loss_fn(model(x), y)  # a mean
            (loss * len(x) / samples).backward()
        optimizer.step()
        optimizer.zero_grad()


def tokens(model: nn.Module, optimizer: Optimizer, loader: Loader, n: int) -> None:
    for window in windows(loader, n):
        count = sum((y != -100).sum() for _, y in window)
        for x, y in window:
            logits = model(x).flatten(0, 1)
            loss = cross_entropy(logits, y.flatten(), reduction="sum")
            (loss / count).backward()
        optimizer.step()
        optimizer.zero_grad()


def mixed_precision(
    model: nn.Module, loss_fn: Loss, optimizer: Optimizer, scaler: GradScaler, loader: Loader, n: int, max_norm: float
) -> None:
    for window in windows(loader, n):
        samples = sum(len(x) for x, _ in window)
        for x, y in window:
            with torch.autocast("cpu", torch.bfloat16):
                loss = loss_fn(model(x), y)
            scaler.scale(loss * len(x) / samples).backward()
        scaler.unscale_(optimizer)  # once, then clip once
        clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()


def ranks(ddp: DistributedDataParallel, loss_fn: Loss, optimizer: Optimizer, loader: Loader, n: int) -> None:
    for window in windows(loader, n):
        samples = sum(len(x) for x, _ in window)
        for k, (x, y) in enumerate(window, 1):
            last = k == len(window)
            with nullcontext() if last else ddp.no_sync():
                loss = loss_fn(ddp(x), y)  # forward inside, too
                (loss * len(x) / samples).backward()
        optimizer.step()
        optimizer.zero_grad()


def contrastive(
    encode_image: nn.Module, encode_text: nn.Module, scale: Tensor, info_nce: Loss, optimizer: Optimizer, loader: Loader, n: int
) -> None:
    for window in windows(loader, n):
        with torch.no_grad():
            images = [encode_image(x) for x, _ in window]
            texts = [encode_text(t) for _, t in window]
        for feature in images + texts:
            feature.requires_grad_()
        info_nce(torch.cat(images), torch.cat(texts), scale).backward()
        for (x, t), image, text in zip(window, images, texts):
            encode_image(x).backward(image.grad)
            encode_text(t).backward(text.grad)
        optimizer.step()
        optimizer.zero_grad()
