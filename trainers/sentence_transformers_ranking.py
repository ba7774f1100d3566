"""sentence-transformers' trainer with the plain ranking loss."""

from common import watched
from sentence_transformers.losses import MultipleNegativesRankingLoss
from sentence_transformers_tiny import fit, tiny_model

model = tiny_model()
watched(model, lambda: fit(model, MultipleNegativesRankingLoss(model)), accumulation_steps=4)
