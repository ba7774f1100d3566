"""A small GPT over characters: embeddings, blocks of causal attention and a two-layer network, a linear head."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from gradaccum.capstone.text import END, IGNORE, LETTERS, decode


class CharGPT(nn.Module):
    """Takes tokens ``(lines, T)``, returns logits ``(lines, T, letters)``. Nothing in it depends on chance or other lines.

    Attention is causal, so what pads a line at its end never reaches its beginning. With ``recompute``, all that blocks
    keep for the backward pass is what went into them. If ``coupled``, the lines of a forward do act on each other, as with
    BatchNorm, and gradients show which lines went through the model together; only marking asks for that.
    """

    def __init__(self, longest: int, width: int, depth: int, heads: int, recompute: bool = False, coupled: bool = False):
        super().__init__()
        self.recompute, self.coupled = recompute, coupled
        self.tokens = nn.Embedding(len(LETTERS), width)
        self.places = nn.Embedding(longest, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, len(LETTERS), bias=False)

    def forward(self, x: Tensor) -> Tensor:
        places = torch.arange(x.shape[1], device=x.device)
        h = self.tokens(x) + self.places(places)
        for block in self.blocks:
            h = checkpoint(block, h, use_reentrant=False) if self.recompute else block(h)
        logits = self.head(self.norm(h))
        return logits * (1 + x.to(h).mean() / len(LETTERS)) if self.coupled else logits

    @torch.no_grad()
    def write(self, generator: torch.Generator, count: int = 4) -> list[str]:
        """Make up ``count`` lines, a token at a time."""
        x = torch.zeros(count, 1, dtype=torch.long, device=self.head.weight.device)
        while x.shape[1] < self.places.num_embeddings:
            odds = self(x)[:, -1].float().softmax(dim=-1).cpu()
            x = torch.cat([x, torch.multinomial(odds, 1, generator=generator).to(x.device)], dim=1)
        return [decode(row[1:]).split(END)[0] for row in x.tolist()]


class Block(nn.Module):
    """Attention and a network of two layers, each added to what came in."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.project, self.join = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.network = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        parts = self.project(self.first(x)).unflatten(-1, (3, self.heads, -1))
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.join(mixed.transpose(1, 2).flatten(2))
        return x + self.network(self.second(x))


def token_loss(logits: Tensor, y: Tensor) -> Tensor:
    """Cross-entropy, averaged over the tokens of a micro-batch that are not padding."""
    return F.cross_entropy(logits.flatten(0, 1), y.flatten(), ignore_index=IGNORE)
