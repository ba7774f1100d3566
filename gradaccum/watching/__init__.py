"""Watch any trainer: which micro-batches are in its updates, and how much of each, without a change to its run.

Two instruments together make the fingerprint. :mod:`~gradaccum.watching.losses` tells how a micro-batch is weighed: the
gradient that arrives at its loss. :mod:`~gradaccum.watching.holdings` tells how much of each backward is in ``.grad`` when an
optimizer updates. A coefficient is the product of the two. :mod:`~gradaccum.watching.watcher` connects them to a run,
:mod:`~gradaccum.watching.matrices` puts the matrices together, and :mod:`~gradaccum.watching.verdict` says what they mean.
"""
