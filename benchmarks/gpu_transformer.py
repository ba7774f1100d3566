"""What micro-batches of a transformer need and cost on a GPU: bytes, tokens per second, and a clock that is read too early.

    python benchmarks/gpu_transformer.py [--write]

Trains a language model of 287 million parameters on random tokens, with AdamW and bfloat16 autocast. Every update averages over
the same number of sequences; only how they are cut differs. With --write, unit 02's explorable and docs/gpu.md show what was
measured; for that all of it has to fit, which needs a GPU with 125 GB. Needs torch and matplotlib. Exits with 2 where there is
no GPU, and with 1 if something that is to be written does not fit.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from table import write_figures  # noqa: E402

from autograder.support.atomic_files import write_atomically  # noqa: E402
from gradaccum.loops import right  # noqa: E402
from gradaccum.phenomena.real_gpu import CUTS, GB, RECORDED, SEQUENCES  # noqa: E402

PAGE = ROOT / "docs" / "gpu.md"
VOCABULARY, WIDTH, LAYERS, HEADS, LENGTH = 8192, 1024, 22, 16, 1024
UPDATES = 3
"""Updates that are timed, after one that is not."""


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


def measure(accumulation_steps: int) -> dict[str, Any]:
    """Train a fresh model whose updates are cut into this many micro-batches; bytes are ``torch.cuda.max_memory_allocated``.

    Raises:
        torch.OutOfMemoryError: it does not fit.
    """
    torch.manual_seed(0)
    size = SEQUENCES // accumulation_steps
    model = Transformer().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data = torch.randint(VOCABULARY, (SEQUENCES, LENGTH + 1), device="cuda")
    seconds = []
    for _ in range(1 + UPDATES):
        torch.cuda.synchronize()
        began = perf_counter()
        right(model, loss_fn, optimizer, micro_batches(data, size), accumulation_steps)
        torch.cuda.synchronize()
        seconds.append(perf_counter() - began)
    update = statistics.median(seconds[1:])
    return {
        "size": size,
        "accumulation_steps": accumulation_steps,
        "bytes": torch.cuda.max_memory_allocated(),
        "seconds": update,
        "tokens_per_second": SEQUENCES * LENGTH / update,
    }


def clocks() -> dict[str, float]:
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


def products(side: int = 8192) -> dict[str, float]:
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


def as_markdown(found: dict[str, Any]) -> str:
    """What was measured, for docs/gpu.md."""
    fastest = max(one["tokens_per_second"] for one in found["sizes"])
    lines = [
        "| micro-batch B | N | memory at its highest | an update | tokens per second | of the fastest |",
        "|---|---|---|---|---|---|",
    ]
    for one in found["sizes"]:
        speed = one["tokens_per_second"]
        lines.append(
            f"| {one['size']} | {one['accumulation_steps']} | {one['bytes'] / GB:.1f} GB | {one['seconds']:.2f} s "
            f"| {speed:,.0f} | {speed / fastest:.0%} |"
        )
    clocks = ", ".join(f"{where} {seconds:.2f} s" for where, seconds in found["clocks"].items())
    rates = ", ".join(f"{name} {rate / 1e12:.0f}" for name, rate in found["products"].items())
    return "\n".join(
        [
            *lines,
            "",
            f"- A window of 4 micro-batches of 32 sequences, by a clock that is read {clocks}.",
            f"- A product of two matrices with 8,192 rows and columns, in TFLOP per second: {rates}.",
            "",
            f"{found['device']}, torch {found['torch']}, {found['date']}; {found['parameters'] / 1e6:.0f} million parameters, "
            "written by `python benchmarks/gpu_transformer.py --write`.",
        ]
    )


def write(found: dict[str, Any], recorded: Path, page: Path) -> None:
    """Put what was measured into the file that the explorable reads and into the page."""
    write_atomically(recorded, json.dumps(found, indent=1) + "\n")
    write_figures("transformer", as_markdown(found), page)


def main() -> int:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the results into the package and into docs/gpu.md")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("benchmarks/gpu_transformer.py: needs a CUDA device, and torch finds none here", file=sys.stderr)
        return 2
    found = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }
    found |= {"parameters": sum(p.numel() for p in Transformer().parameters()), "sizes": [], "clocks": clocks()}
    found["products"] = products()
    for n in CUTS:
        gc.collect()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        try:
            found["sizes"].append(measure(n))
        except torch.OutOfMemoryError as error:
            print(f"N={n}: {str(error).partition('.')[0]}", file=sys.stderr)
        else:
            print(found["sizes"][-1], flush=True)
    print(as_markdown(found))
    if options.write and len(found["sizes"]) < len(CUTS):
        print("nothing is written: the explorable shows all sizes, and some do not fit here", file=sys.stderr)
        return 1
    if options.write:
        write(found, RECORDED, PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
