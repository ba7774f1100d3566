"""sentence-transformers' trainer with the cached ranking loss: large batches, one to an update, cut up inside the loss."""

from common import watched
from sentence_transformers.losses import CachedMultipleNegativesRankingLoss
from sentence_transformers_tiny import fit, tiny_model

model = tiny_model()
loss = CachedMultipleNegativesRankingLoss(model, mini_batch_size=2)
watched(model, lambda: fit(model, loss, accumulation_steps=1), accumulation_steps=1)
