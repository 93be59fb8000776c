#!/usr/bin/env python3
"""Records ddp.json: gradients of ddp.unet by PyTorch's DistributedDataParallel, two processes over gloo.

    ddp_record.py > ddp.json

Needs PyTorch; the test that reads the file (ranks.py) does not. Pictures are those of ddp_pixel() in there."""

import json
import os
import socket
import sys
import tempfile

import torch
import torch.multiprocessing

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from ranks import ddp_pixel  # noqa: E402


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.BatchNorm2d(4), torch.nn.Conv2d(4, 3, 3, padding=1)

    def forward(self, x):
        return self.last(torch.relu(self.norm(self.first(x))))


def pictures(which, samples):
    return torch.tensor([[[[ddp_pixel(which, n, c, h, w) / 255 for w in range(8)] for h in range(8)] for c in range(3)] for n in samples],
                        dtype=torch.float32)


def work(rank, port, path):
    torch.distributed.init_process_group("gloo", init_method="tcp://localhost:%d" % port, rank=rank, world_size=2)
    torch.manual_seed(5)
    net = Net()
    with torch.no_grad():
        net.norm.weight.uniform_(0.5, 1.5)
        net.norm.bias.uniform_(-0.5, 0.5)
    weights = {name: value.detach().clone() for name, value in net.named_parameters()}
    ddp = torch.nn.parallel.DistributedDataParallel(net)
    samples = (2 * rank, 2 * rank + 1)
    loss = torch.nn.functional.mse_loss(ddp(pictures("photo", samples)), pictures("clean", samples))
    loss.backward()
    if rank == 0:
        numbers = lambda t: [float(x) for x in t.reshape(-1)]
        record = {"torch": torch.__version__.split("+")[0],
                  "tensors": {name: {"shape": list(p.shape), "weight": numbers(weights[name]), "gradient": numbers(p.grad)}
                              for name, p in net.named_parameters()},
                  "statistics": {name: numbers(getattr(net.norm, name)) for name in ("running_mean", "running_var")}}
        with open(path, "w") as file:
            json.dump(record, file, indent=1)
    torch.distributed.destroy_process_group()


def main():
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "record")
        torch.multiprocessing.spawn(work, (port, path), nprocs=2)
        with open(path) as file:
            print(file.read())


if __name__ == "__main__":
    main()
