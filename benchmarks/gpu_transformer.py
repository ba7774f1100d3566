"""What micro-batches of a transformer need and cost on a GPU: bytes, tokens per second, and a clock that is read too early.

    python benchmarks/gpu_transformer.py [--json FILE]

Trains a language model of 300 million parameters on random tokens, with AdamW and bfloat16 autocast. Every update averages over
the same number of sequences; only how they are cut differs. Needs torch, and a GPU with about 40 GB for the largest micro-batch
that is to fit; a size that does not fit is reported so. Exits with 2 where there is no GPU.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import torch
from torch import nn
from torch.nn import functional as F

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from gradaccum.loops import right  # noqa: E402

VOCABULARY, WIDTH, LAYERS, HEADS, LENGTH = 8192, 1024, 22, 16, 1024
SEQUENCES = 128
"""Sequences in every update: 131,072 tokens."""
SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
"""Micro-batch sizes."""
UPDATES = 3
"""Updates that are timed, after one that is not."""
GB = 1e9


class Transformer(nn.Module):
    """A decoder: embeddings, causal blocks with pre-normalization, and the embedding's weight again at the end.

    Called with tokens of shape (B, LENGTH), it returns logits of shape (B, LENGTH, VOCABULARY), in bfloat16.
    """

    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        nn.init.normal_(self.tokens.weight, std=0.02)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, 0.0, "gelu", batch_first=True, norm_first=True)
            for _ in range(LAYERS)
        )
        self.norm = nn.LayerNorm(WIDTH)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(LENGTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cuda", torch.bfloat16):
            h = self.tokens(x) + self.positions.weight
            for block in self.blocks:
                h = block(h, src_mask=self.mask, is_causal=True)
            return self.norm(h) @ self.tokens.weight.T


def loss_fn(logits: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Mean over tokens; (B, LENGTH, VOCABULARY) and (B, LENGTH)."""
    return F.cross_entropy(logits.flatten(0, 1).float(), y.flatten())


def micro_batches(data: torch.Tensor, size: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    for part in data.split(size):
        yield part[:, :-1].contiguous(), part[:, 1:].contiguous()


def measure(size: int) -> dict:
    """Train a fresh model with micro-batches of ``size`` sequences; bytes are ``torch.cuda.max_memory_allocated``."""
    torch.manual_seed(0)
    result: dict = {"size": size, "accumulation_steps": SEQUENCES // size}
    try:
        model = Transformer().cuda()
        result["parameters"] = sum(p.numel() for p in model.parameters())
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
        data = torch.randint(VOCABULARY, (SEQUENCES, LENGTH + 1), device="cuda")
        seconds = []
        for _ in range(1 + UPDATES):
            torch.cuda.synchronize()
            began = perf_counter()
            right(model, loss_fn, optimizer, micro_batches(data, size), SEQUENCES // size)
            torch.cuda.synchronize()
            seconds.append(perf_counter() - began)
        result |= {
            "bytes": torch.cuda.max_memory_allocated(),
            "fixed_bytes": torch.cuda.memory_allocated(),
            "seconds": statistics.median(seconds[1:]),
            "all_seconds": seconds,
        }
        with torch.no_grad():
            result["loss"] = float(loss_fn(model(data[:1, :-1]), data[:1, 1:]))
        result["tokens_per_second"] = SEQUENCES * LENGTH / result["seconds"]
    except torch.OutOfMemoryError as error:
        result["out_of_memory"] = str(error).partition(".")[0]
    return result


def clocks() -> dict:
    """One window of 4 micro-batches of 32; where the clock is read, in seconds from the window's begin."""
    torch.manual_seed(0)
    model = Transformer().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data = torch.randint(VOCABULARY, (128, LENGTH + 1), device="cuda")
    read: dict[str, list[float]] = {
        "after the last backward()": [],
        "after item()": [],
        "after step()": [],
        "after synchronize()": [],
    }
    for _ in range(4):
        torch.cuda.synchronize()
        began = perf_counter()
        for x, y in micro_batches(data, 32):
            loss = loss_fn(model(x), y) / 4
            loss.backward()
        read["after the last backward()"].append(perf_counter() - began)
        loss.item()
        read["after item()"].append(perf_counter() - began)
        optimizer.step()
        read["after step()"].append(perf_counter() - began)
        torch.cuda.synchronize()
        read["after synchronize()"].append(perf_counter() - began)
        optimizer.zero_grad()
    return {where: statistics.median(times[1:]) for where, times in read.items()}


def items() -> dict:
    """Seconds of an update with ``item()`` after every micro-batch and without, small micro-batches, in turns."""
    torch.manual_seed(0)
    model = nn.Sequential(*(part for _ in range(8) for part in (nn.Linear(256, 256), nn.Tanh()))).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    x = torch.randn(64, 256, device="cuda")
    times: dict[str, list[float]] = {"never": [], "every micro-batch": []}
    for _ in range(11):
        for when, found in times.items():
            torch.cuda.synchronize()
            began = perf_counter()
            for _ in range(32):
                loss = F.mse_loss(model(x), x) / 32
                loss.backward()
                if when != "never":
                    loss.item()
            optimizer.step()
            optimizer.zero_grad()
            torch.cuda.synchronize()
            found.append(perf_counter() - began)
    return {when: statistics.median(found[1:]) for when, found in times.items()}


def products(side: int = 8192) -> dict:
    """FLOP per second of a matrix product in float32, TensorFloat-32, bfloat16 and float16."""
    rates = {}
    for name, dtype, tf32 in (
        ("float32", torch.float32, False),
        ("TensorFloat-32", torch.float32, True),
        ("bfloat16", torch.bfloat16, False),
        ("float16", torch.float16, False),
    ):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        a, b = (torch.randn(side, side, device="cuda", dtype=dtype) for _ in range(2))
        seconds = []
        for _ in range(8):
            torch.cuda.synchronize()
            began = perf_counter()
            a @ b
            torch.cuda.synchronize()
            seconds.append(perf_counter() - began)
        rates[name] = 2 * side**3 / statistics.median(seconds[3:])
    torch.backends.cuda.matmul.allow_tf32 = False
    return rates


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write all that was measured into this file")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("benchmarks/gpu_transformer.py: needs a CUDA device, and torch finds none here", file=sys.stderr)
        return 2
    found = {"device": torch.cuda.get_device_name(), "torch": torch.__version__, "sizes": []}
    for name, part in (("products", products), ("items", items), ("clocks", clocks)):
        found[name] = part()
        print(name, found[name], flush=True)
    for size in SIZES:
        gc.collect()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        found["sizes"].append(measure(size))
        print(found["sizes"][-1], flush=True)
        if options.json:
            options.json.write_text(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
