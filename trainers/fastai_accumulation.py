"""fastai's Learner with the GradientAccumulation callback, which counts samples, and an optimizer of torch's."""

from functools import partial

import torch
from common import TinyModel, loader, loss_of, watched
from fastai.basics import DataLoaders, Learner
from fastai.callback.training import GradientAccumulation
from fastai.optimizer import OptimWrapper

model = TinyModel()


def train():
    data = DataLoaders(loader(), [])
    optimizer = partial(OptimWrapper, opt=torch.optim.AdamW)
    learner = Learner(data, model, loss_func=loss_of, opt_func=optimizer, cbs=GradientAccumulation(n_acc=4))
    with learner.no_bar(), learner.no_logging():
        learner.fit(2)


watched(model, train, accumulation_steps=4)
