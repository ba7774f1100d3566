"""Small, seeded, deterministic problems whose samples are sequences of tokens of unequal length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gradaccum.problems.ingredients import LossFn, MicroBatch, TrainingGate, seeded_generator
from gradaccum.problems.problem import Problem

VOCABULARY = 20
"""Tokens there are; 0 begins a sequence, pads its end, and is never predicted. With few tokens short
micro-batches would repeat themselves, and a fingerprint needs gradients that are independent."""

IGNORE_INDEX = -100
"""What torch's cross-entropy leaves out unless told otherwise."""

COUNTED = ("tokens", "positions", "sequences")
PADDING_TOO = "padding too"


@dataclass(frozen=True, kw_only=True)
class TokenProblem(Problem):
    """Next-token prediction; sequences are padded to the longest of their micro-batch, and padding is not to be predicted.

    A micro-batch is a pair of whole numbers, inputs ``(sequences, positions)`` and targets of the same shape; a target that is
    ``ignore_index`` does not count. ``epochs`` follows from the lengths, whatever is given for it.

    Attributes:
        lengths: for each epoch, for each micro-batch, the number of tokens of each of its sequences.
        ignore_index: what stands in ``targets`` where there is nothing to predict.
        zero_counts: whether token 0 is to be predicted as well: as the first of every sequence.
        weigh_by: what ``epochs`` counts in each micro-batch: its ``"tokens"``, padding included its ``"positions"``, or its
            ``"sequences"``.
        mean_over: what the loss is averaged over, one of these as well, or ``"padding too"``: then padding, if ``ignore_index``
            is a token, is to be predicted like any other.
        prompt: positions before the first token of every sequence that are not to be predicted either, as of a question whose
            answer is learnt.
        repeated: whether the last micro-batch of each epoch is a copy of the first, whose lengths it must have.
    """

    lengths: tuple[tuple[tuple[int, ...], ...], ...]
    ignore_index: int = IGNORE_INDEX
    zero_counts: bool = False
    weigh_by: str = "tokens"
    mean_over: str = "tokens"
    prompt: int = 0
    repeated: bool = False

    def __post_init__(self) -> None:
        if any(min(sequences, default=-1) < 0 for epoch in self.lengths for sequences in epoch):
            raise ValueError(f"every micro-batch needs sequences of at least 0 tokens, not {self.lengths}")
        if self.weigh_by not in COUNTED or self.mean_over not in (*COUNTED, PADDING_TOO):
            raise ValueError(f"there are {', '.join(COUNTED)} to count, not {self.weigh_by!r} or {self.mean_over!r}")
        if self.repeated and any(epoch[0] != epoch[-1] for epoch in self.lengths):
            raise ValueError(f"a last micro-batch that repeats the first has its lengths, which is not so in {self.lengths}")
        counts = tuple(tuple(counted(sequences, self.weigh_by) for sequences in epoch) for epoch in self.lengths)
        object.__setattr__(self, "epochs", counts)

    def new_model(self) -> TokenModel:
        """A model whose weights and place are yet to be set."""
        return TokenModel(self.width, self.depth, self.extras, self.gated, self.coupled, self.loud)

    @property
    def loss_fn(self) -> LossFn:
        """Cross-entropy of logits ``(sequences, positions, vocabulary)``, averaged over what ``mean_over`` says."""
        return partial(token_loss, ignore_index=self.ignore_index, mean_over=self.mean_over)

    def batches(self, epoch: int = 0) -> list[MicroBatch]:
        """The micro-batches of one epoch: inputs and targets, each ``(sequences, positions)``."""
        generator = seeded_generator(self.seed, 1 + epoch + 1000 * self.rank)
        found = [self._padded(sequences, generator) for sequences in self.lengths[epoch]]
        if self.repeated:
            inputs, targets = found[0]
            found[-1] = inputs.clone(), targets.clone()
        return found

    def _padded(self, sequences: Sequence[int], generator: torch.Generator) -> MicroBatch:
        shape = len(sequences), self.prompt + padded_length(sequences)
        targets = torch.randint(1, VOCABULARY, shape, generator=generator, device="cpu")
        targets[targets == self.ignore_index] = VOCABULARY - 1 - self.ignore_index
        if self.zero_counts:
            targets[:, 0] = 0
        inputs = F.pad(targets, (1, -1))  # token 0 begins a sequence; each position is to predict the next token
        positions = torch.arange(shape[1])
        padding = positions >= self.prompt + torch.tensor(sequences)[:, None]
        inputs = inputs.masked_fill(padding, 0)
        targets = targets.masked_fill(padding | (positions < self.prompt), self.ignore_index)
        return inputs.to(self.device), targets.to(self.device)


def one_large_batch(micro_batches: Sequence[MicroBatch], ignore_index: int = IGNORE_INDEX) -> MicroBatch:
    """The sequences of several micro-batches as one, padded to the longest of them all."""
    longest = max(inputs.shape[1] for inputs, _ in micro_batches)
    inputs = [F.pad(inputs, (0, longest - inputs.shape[1])) for inputs, _ in micro_batches]
    targets = [F.pad(targets, (0, longest - targets.shape[1]), value=ignore_index) for _, targets in micro_batches]
    return torch.cat(inputs), torch.cat(targets)


def padded_length(sequences: Sequence[int]) -> int:
    """Positions of each sequence in a micro-batch: the longest decides, and there is at least one."""
    return max(1, *sequences)


def counted(sequences: Sequence[int], what: str) -> int:
    """How many tokens, positions or sequences a micro-batch with sequences of these lengths has."""
    return {
        "tokens": sum(sequences),
        "positions": len(sequences) * padded_length(sequences),
        "sequences": len(sequences),
    }[what]


def token_loss(logits: Tensor, targets: Tensor, ignore_index: int = IGNORE_INDEX, mean_over: str = "tokens") -> Tensor:
    """Cross-entropy, by default a mean over the tokens of a micro-batch: not a number if it has none.

    Args:
        logits: ``(sequences, positions, vocabulary)``.
        targets: ``(sequences, positions)``.
        ignore_index: of targets that do not count.
        mean_over: see :class:`TokenProblem`.
    """
    flat = logits.flatten(0, 1), targets.flatten()
    if mean_over == PADDING_TOO:
        return F.cross_entropy(*flat)
    if mean_over == "tokens":
        return F.cross_entropy(*flat, ignore_index=ignore_index)
    count = targets.numel() if mean_over == "positions" else len(targets)
    return F.cross_entropy(*flat, ignore_index=ignore_index, reduction="sum") / count


class TokenModel(nn.Module):
    """A small language model: the mean of the embeddings so far, tanh layers, one logit for each token of the vocabulary."""

    def __init__(self, width: int, depth: int, extras: bool, gated: bool, coupled: bool = False, loud: float = 1.0):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width)
        self.hidden = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.gate = TrainingGate() if gated else nn.Identity()
        self.coupled, self.loud = coupled, loud
        self.head = nn.Linear(width, VOCABULARY)
        if extras:
            self.shift = nn.Parameter(torch.zeros(width), requires_grad=False)
            self.unused = nn.Parameter(torch.zeros(3))

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits ``(sequences, positions, vocabulary)`` for whole numbers ``(sequences, positions)``."""
        embedded = self.embedding(tokens)
        together = 1 + embedded.square().mean() if self.coupled else 1  # of the input, see ProbeModel
        so_far = torch.arange(1, tokens.shape[1] + 1, device=tokens.device, dtype=embedded.dtype)[:, None]
        x = embedded + embedded.cumsum(1) / so_far
        for layer in self.hidden:
            x = torch.tanh(layer(x))
        if hasattr(self, "shift"):
            x = x + self.shift
        return self.head(self.gate(x)) * (together * self.loud)
