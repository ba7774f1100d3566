"""Trainers of the zoo."""

from __future__ import annotations

import torch
import torch.utils.checkpoint
from torch import nn, optim
from torch.nn import functional as F
from zoo_entries import LM, UNTOLD, N, add, cls, mlp, reg, right, toks, windows

add("ce_mean", lambda m, x, y: F.cross_entropy(m(x), y), cls, mlp)

add(
    "ce_module_nesterov",
    lambda m, x, y: nn.CrossEntropyLoss()(m(x), y),
    cls,
    mlp,
    lambda p: optim.SGD(p, 0.1, momentum=0.9, nesterov=True),
)

add(
    "ce_label_smoothing_adamw",
    lambda m, x, y: F.cross_entropy(m(x), y, label_smoothing=0.1),
    cls,
    mlp,
    lambda p: optim.AdamW(p, 0.01),
)

add("ce_soft_targets", lambda m, x, y: F.cross_entropy(m(x), y.softmax(-1)), reg, mlp)

add("nll_rmsprop", lambda m, x, y: F.nll_loss(m(x).log_softmax(-1), y), cls, mlp, lambda p: optim.RMSprop(p, 0.01))

add("mse_foreach", lambda m, x, y: F.mse_loss(m(x), y), reg, mlp, lambda p: optim.Adam(p, 0.01, foreach=True))

add("mse_fused", lambda m, x, y: nn.MSELoss()(m(x), y), reg, mlp, lambda p: optim.AdamW(p, 0.01, fused=True))

add("l1_adagrad", lambda m, x, y: F.l1_loss(m(x), y), reg, mlp, lambda p: optim.Adagrad(p, 0.01))

add("smooth_l1", lambda m, x, y: F.smooth_l1_loss(m(x), y), reg, mlp)

add("huber", lambda m, x, y: nn.HuberLoss(delta=0.5)(m(x), y), reg, mlp)

add("bce_sigmoid", lambda m, x, y: F.binary_cross_entropy(m(x).sigmoid(), (y > 0).float()), reg, mlp)

add(
    "bce_logits_pos_weight",
    lambda m, x, y: nn.BCEWithLogitsLoss(pos_weight=torch.tensor([1.0, 2.0, 3.0]))(m(x), (y > 0).float()),
    reg,
    mlp,
)

add("kl_batchmean", lambda m, x, y: F.kl_div(m(x).log_softmax(-1), y.softmax(-1), reduction="batchmean"), reg, mlp)

add("cosine_embedding", lambda m, x, y: F.cosine_embedding_loss(m(x), y, torch.ones(len(x))), reg, mlp)

add("multi_margin", lambda m, x, y: F.multi_margin_loss(m(x), y), cls, mlp)

add("triplet", lambda m, x, y: nn.TripletMarginLoss(margin=5.0)(m(x), m(x.flip(1)), m(-x)), cls, mlp)

add("margin_ranking", lambda m, x, y: F.margin_ranking_loss(m(x)[:, 0], m(-x)[:, 0], torch.ones(len(x)), margin=5.0), cls, mlp)

add("gaussian_nll", lambda m, x, y: F.gaussian_nll_loss(m(x)[:, 0], y[:, 0], F.softplus(m(x)[:, 1])), reg, mlp)

add("poisson_nll", lambda m, x, y: F.poisson_nll_loss(m(x), y.abs().round()), reg, mlp)

add(
    "segmentation_ce",
    lambda m, x, y: F.cross_entropy(m(x), y),
    lambda: [(torch.randn(2, 2, 4, 4), torch.randint(0, 3, (2, 4, 4))) for _ in range(8)],
    lambda: nn.Conv2d(2, 3, 3, padding=1),
)

add("handwritten_mse", lambda m, x, y: ((m(x) - y) ** 2).mean(), reg, mlp)

add("handwritten_ce", lambda m, x, y: -(m(x).log_softmax(-1)[torch.arange(len(y)), y]).mean(), cls, mlp)

add("handwritten_logsumexp", lambda m, x, y: (m(x).logsumexp(1) - m(x).gather(1, y[:, None])[:, 0]).sum() / len(y), cls, mlp)

add(
    "reinforce",
    lambda m, x, y: -(torch.distributions.Categorical(logits=m(x)).log_prob(y) * x[:, 0]).mean(),
    cls,
    mlp,
    want=UNTOLD,
)

add("two_losses", lambda m, x, y: F.mse_loss(m(x)[:, :2], y[:, :2]) + 0.5 * F.l1_loss(m(x)[:, 2], y[:, 2]), reg, mlp)

add("scaled_by_constant", lambda m, x, y: 0.3 * F.cross_entropy(m(x), y), cls, mlp)

add("no_accumulation", lambda m, x, y: F.cross_entropy(m(x), y), cls, mlp, n=1)

add(
    "batchnorm",
    lambda m, x, y: F.cross_entropy(m(x), y),
    cls,
    lambda: nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3)),
)

add(
    "dropout",
    lambda m, x, y: F.cross_entropy(m(x), y),
    cls,
    lambda: nn.Sequential(nn.Linear(6, 16), nn.Dropout(0.3), nn.ReLU(), nn.Linear(16, 3)),
)

add("bfloat16_model", lambda m, x, y: F.cross_entropy(m(x.bfloat16()), y), cls, lambda: mlp().bfloat16())

add(
    "infonce_none",
    lambda m, x, y: F.cross_entropy(F.normalize(m(x)) @ F.normalize(m(-x)).T, torch.arange(len(x))),
    cls,
    mlp,
    n=1,
)

add(
    "infonce_accumulated",
    lambda m, x, y: F.cross_entropy(F.normalize(m(x)) @ F.normalize(m(-x)).T, torch.arange(len(x))),
    cls,
    mlp,
)


class SquareFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, p, y):
        ctx.save_for_backward(p - y)
        return ((p - y) ** 2).mean()

    @staticmethod
    def backward(ctx, g):
        (d,) = ctx.saved_tensors
        return g * 2 * d / d.numel(), None


add("custom_autograd_function", lambda m, x, y: SquareFn.apply(m(x), y), reg, mlp, want=UNTOLD)


def ctc(m, x, y, l):
    return F.ctc_loss(m(x).log_softmax(-1).transpose(0, 1), y, torch.full((3,), 8), l)


add(
    "ctc_mean",
    ctc,
    lambda: [(torch.randn(3, 8, 6), torch.randint(1, 5, (3, 3)), torch.tensor([3, 2, 3])) for _ in range(8)],
    lambda: mlp(5),
)


def vae_loss(m, x):
    h = m[0](x)
    mu, lv = h.chunk(2, -1)
    z = mu + torch.randn_like(mu) * (lv / 2).exp()
    return F.mse_loss(m[1](z), x, reduction="sum") / len(x) - 0.5 * (1 + lv - mu**2 - lv.exp()).sum(1).mean()


add(
    "vae", vae_loss, lambda: [(torch.randn(4, 6),) for _ in range(8)], lambda: nn.ModuleList([nn.Linear(6, 4), nn.Linear(2, 6)])
)


class Checkpointed(nn.Module):
    def __init__(s, reentrant):
        super().__init__()
        s.a = mlp(8)
        s.b = nn.Linear(8, 3)
        s.r = reentrant

    def forward(s, x):
        return s.b(torch.utils.checkpoint.checkpoint(s.a, x.requires_grad_(s.r), use_reentrant=s.r))


add("checkpoint_nonreentrant", lambda m, x, y: F.cross_entropy(m(x), y), cls, lambda: Checkpointed(False))

add("checkpoint_reentrant", lambda m, x, y: F.cross_entropy(m(x), y), cls, lambda: Checkpointed(True))


@right
def ce_sum_divided_by_samples(w):
    m = mlp()
    o = optim.SGD(m.parameters(), 0.1)
    d = cls(9, 4)
    d[3] = (d[3][0][:2], d[3][1][:2])
    with w(m, 3):
        for win in windows(d, 3):
            n = sum(len(y) for _, y in win)
            o.zero_grad()
            for x, y in win:
                (F.cross_entropy(m(x), y, reduction="sum") / n).backward()
            o.step()
    return m


@right
def tokens_sum_over_window_total(w):
    m = LM()
    o = optim.AdamW(m.parameters(), 0.01)
    with w(m, N):
        for win in windows(toks()):
            n = sum((y != -100).sum() for _, y in win)
            for x, y in win:
                (F.cross_entropy(m(x).flatten(0, 1), y.flatten(), reduction="sum") / n).backward()
            o.step()
            o.zero_grad()
    return m
