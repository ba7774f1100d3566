"""Caches gradients of features, and runs every forward twice with the same random numbers."""

import torch

from gradaccum.contrastive import info_nce

STYLE = "a dense retriever's gradient cache (GradCache)"
REPORT = "dropout makes both passes differ unless the second one starts from the random state of the first"
SOURCE = "https://github.com/luyug/GC-DPR/issues/12"
EXERCISE = "accumulate_contrastive"


class RandContext:
    """The state of torch's random numbers at a forward, to run the forward again with the same."""

    def __init__(self):
        self.state = torch.get_rng_state()

    def __enter__(self):
        self.fork = torch.random.fork_rng(devices=[])
        self.fork.__enter__()
        torch.set_rng_state(self.state)

    def __exit__(self, *error):
        return self.fork.__exit__(*error)


def accumulate_contrastive(encode_image, encode_text, logit_scale, micro_batches):
    for parameter in [*encode_image.parameters(), *encode_text.parameters(), logit_scale]:
        parameter.grad = None
    cache = []
    for images, texts in micro_batches:
        for encoder, batch in ((encode_image, images), (encode_text, texts)):
            context = RandContext()
            with torch.no_grad():
                cache.append((encoder, batch, context, encoder(batch)))
    reps = [features.requires_grad_() for *_, features in cache]
    loss = info_nce(torch.cat(reps[::2]), torch.cat(reps[1::2]), logit_scale)
    loss.backward()
    for encoder, batch, context, features in cache:
        with context:
            surrogate = torch.dot(encoder(batch).flatten(), features.grad.flatten())
        surrogate.backward()
    return loss.item()
