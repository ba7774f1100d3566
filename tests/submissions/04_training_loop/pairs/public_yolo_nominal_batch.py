"""Sums losses over samples, clears when an epoch begins and updates at multiples of N."""

STYLE = "a detector's trainer before its repair (YOLOv5)"
REPORT = "updates at multiples make steps of irregular size"
SOURCE = "https://github.com/ultralytics/yolov5/pull/3722"
PREDICTED = ("off-by-one-early",)
EXERCISE = "train_epoch"
MISTAKES = ("off-by-one-early", "sum-reduction", "tail-dropped")
LOST = ("full", "leftover", "ragged", "stream", "losses")


def train_epoch(model, loss_fn, optimizer, micro_batches, accumulate):
    losses = []
    optimizer.zero_grad()
    for ni, (images, targets) in enumerate(micro_batches):
        loss = loss_fn(model(images), targets) * images.shape[0]
        loss.backward()
        if ni % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item() / images.shape[0])
    return losses
