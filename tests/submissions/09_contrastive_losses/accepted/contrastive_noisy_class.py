"""A class with state, prints, type hints and asserts; the loss comes back as a tensor."""

import warnings

import torch
from torch import Tensor, nn

from gradaccum.contrastive import info_nce

EXERCISE = "accumulate_contrastive"


class FeatureCache:
    def __init__(self, encode: nn.Module):
        self.encode, self.inputs, self.features = encode, [], []

    def add(self, x: Tensor) -> None:
        self.inputs.append(x)
        with torch.inference_mode(False), torch.no_grad():
            self.features.append(self.encode(x))

    def leaf(self) -> Tensor:
        self.all = nn.Parameter(torch.cat(self.features))
        return self.all

    def finish(self) -> None:
        self.encode.zero_grad()
        for x, pull in zip(self.inputs, self.all.grad.split([len(f) for f in self.features])):
            self.encode(x).backward(gradient=pull)
        print("done with", type(self.encode).__name__)


def accumulate_contrastive(encode_image: nn.Module, encode_text: nn.Module, logit_scale: nn.Parameter, micro_batches) -> Tensor:
    caches = FeatureCache(encode_image), FeatureCache(encode_text)
    for pair in micro_batches:
        for cache, x in zip(caches, pair):
            cache.add(x)
    logit_scale.grad = None
    loss = info_nce(caches[0].leaf(), caches[1].leaf(), logit_scale)
    assert loss.ndim == 0
    loss.backward()
    warnings.warn(f"loss {loss}")
    for cache in caches:
        cache.finish()
    return loss.detach()
