#!/usr/bin/env python3
"""The recipe of camvid.sh in PyTorch: camvid_torch.py FOLDER [SEED [THREADS]].  Needs torch, numpy and Pillow."""
import glob
import os
import random
import sys

import numpy
import torch
from PIL import Image
from torch.nn import functional

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "models"))
import nets  # noqa: E402

CLASSES, VOID, STEPS, BATCH, HEIGHT = 11, 11, 600, 4, 352


def pairs(folder, part):
    """All pictures as (3, 360, 480) from 0 to 1, and their masks."""
    for path in sorted(glob.glob(os.path.join(folder, part, "*.png"))):
        mask = Image.open(os.path.join(folder, part + "annot", os.path.basename(path)))
        photo = numpy.asarray(Image.open(path).convert("RGB"), dtype=numpy.float32) / 255
        yield torch.from_numpy(photo).permute(2, 0, 1), torch.from_numpy(numpy.array(mask)).long()


def batches(data, rng):
    """Epoch after epoch in a random order: windows, half of them flipped."""
    order = []
    while True:
        photos, truths = [], []
        while len(photos) < BATCH:
            if not order:
                order = rng.sample(range(len(data)), len(data))
            photo, truth = data[order.pop()]
            top, flip = rng.randint(0, photo.shape[1] - HEIGHT), rng.random() < 0.5
            photo, truth = photo[:, top:top + HEIGHT], truth[top:top + HEIGHT]
            photos.append(photo.flip(2) if flip else photo)
            truths.append(truth.flip(1) if flip else truth)
        yield torch.stack(photos).contiguous(memory_format=torch.channels_last), torch.stack(truths)


def evaluate(net, data):
    """(mIoU, accuracy) over all pictures, padded by reflection to a multiple of 32."""
    confusion = numpy.zeros((CLASSES, CLASSES))
    net.eval()
    with torch.inference_mode():
        for photo, truth in data:
            below = -photo.shape[1] % 32
            padded = functional.pad(photo[None], (0, 0, 0, below), mode="reflect").contiguous(memory_format=torch.channels_last)
            found = net(padded)[-1].argmax(1)[0, :photo.shape[1]]
            counts = truth != VOID
            confusion += numpy.bincount((truth[counts] * CLASSES + found[counts]).numpy(),
                                        minlength=CLASSES * CLASSES).reshape(CLASSES, CLASSES)
    net.train()
    hits = confusion.diagonal()
    union = confusion.sum(0) + confusion.sum(1) - hits
    return (hits[union > 0] / union[union > 0]).mean(), hits.sum() / confusion.sum()


def main():
    folder, seed = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
    torch.set_num_threads(int(sys.argv[3]) if len(sys.argv) > 3 else len(os.sched_getaffinity(0)))
    torch.manual_seed(seed)
    train, held_out = list(pairs(folder, "train")), list(pairs(folder, "val"))
    net = nets.PPLiteSeg(CLASSES).to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
    data = batches(train, random.Random(seed))
    for step in range(1, STEPS + 1):
        for group in optimizer.param_groups:
            group["lr"] = 0.01 * (1 - (step - 1) / STEPS) ** 0.9
        photos, truths = next(data)
        optimizer.zero_grad(set_to_none=True)
        loss = sum(functional.cross_entropy(head, truths, ignore_index=VOID) for head in net(photos))
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print("seed %d, step %d: loss %.4f of the step, mIoU %.4f, accuracy %.4f" %
                  (seed, step, loss.item(), *evaluate(net, held_out)), flush=True)


if __name__ == "__main__":
    main()
