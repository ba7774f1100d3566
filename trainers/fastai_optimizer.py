"""fastai's Learner with the GradientAccumulation callback and fastai's own Adam, which is no optimizer of torch's."""

from common import TinyModel, loader, loss_of, watched
from fastai.basics import DataLoaders, Learner
from fastai.callback.training import GradientAccumulation
from fastai.optimizer import Adam

model = TinyModel()


def train():
    data = DataLoaders(loader(), [])
    learner = Learner(data, model, loss_func=loss_of, opt_func=Adam, cbs=GradientAccumulation(n_acc=4))
    with learner.no_bar(), learner.no_logging():
        learner.fit(2)


watched(model, train, accumulation_steps=4)
