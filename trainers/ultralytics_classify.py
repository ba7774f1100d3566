"""ultralytics' trainer: an image classifier, two images to a micro-batch, eight (nbs) to an update, four left."""

import os
from pathlib import Path

import numpy as np
from common import let_torchvision_load, scratch, watched
from PIL import Image

let_torchvision_load()
os.environ |= {"YOLO_OFFLINE": "true", "YOLO_AUTOINSTALL": "false", "YOLO_CONFIG_DIR": scratch()}
from ultralytics.models.yolo.classify import ClassificationTrainer
from ultralytics.nn.tasks import ClassificationModel

pixels = np.random.default_rng(1).integers(0, 255, (20, 64, 64, 3), dtype=np.uint8)
images = scratch()
for k, one in enumerate(pixels):
    for part in ("train", "val"):
        folder = Path(images, part, "ab"[k % 2])
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(one).save(folder / f"{k}.png")

model = ClassificationModel("yolo11n-cls.yaml", nc=2, verbose=False)


class Trainer(ClassificationTrainer):
    def get_model(self, cfg=None, weights=None, verbose=True):
        return model


def train():
    options = {
        **{"model": "yolo11n-cls.yaml", "data": images, "epochs": 2, "batch": 2, "nbs": 8, "imgsz": 64, "warmup_epochs": 0},
        **{"optimizer": "SGD", "workers": 0, "device": "cpu", "amp": False, "val": False, "plots": False, "save": False},
        **{"project": scratch(), "verbose": False},
    }
    Trainer(overrides=options).train()


watched(model, train, accumulation_steps=4)
