"""fastai's Learner with the GradientAccumulation callback, which counts samples: here one to a micro-batch."""

from common import TinyModel, loader, loss_of, watched
from fastai.basics import DataLoaders, Learner
from fastai.callback.training import GradientAccumulation

model = TinyModel()


def train():
    data = DataLoaders(loader(), [])
    learner = Learner(data, model, loss_func=loss_of, cbs=GradientAccumulation(n_acc=4))
    with learner.no_bar(), learner.no_logging():
        learner.fit(2)


watched(model, train, accumulation_steps=4)
