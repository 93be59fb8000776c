"""peers.py - training steps of the networks of tests/models in PyTorch, beside `bench` of the same examples: their losses, optimisers
and clipping at full size, in bf16 by autocast, channels last, on random data that is on the device already."""
import importlib.util
import os
import sys

import torch

import precisions
import programs

FOLDER = os.path.join(programs.ROOT, "tests", "models")
sys.path.append(FOLDER)
import models  # noqa: E402
import nets  # noqa: E402


def _load_losses():
    """tests/models/record.py; tests/oracle has a file of that name, too."""
    found = importlib.util.spec_from_file_location("record_of_models", os.path.join(FOLDER, "record.py"))
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


losses = _load_losses()
SIZES = {"milesial": (640, 959), "pp_liteseg": (512, 1024), "nnunet": (128, 128, 128)}  # as the files say
CLASSES = {"pp_liteseg": 19}


class Step:
    """A training step of the network of an Example: eager, or compiled (WAY)."""

    def __init__(self, spec, way):
        self.model = next(model for model in models.MODELS if model.name == spec.file)
        size = SIZES[spec.file]
        layout = torch.channels_last if len(size) == 2 else torch.channels_last_3d
        precisions.choose("bf16")
        torch.backends.cudnn.benchmark = True
        torch.manual_seed(0)
        self.net = nets.NETS[spec.file]().to("cuda").to(memory_format=layout)
        (_, _, channels), (_, _, classes) = self.model.inputs
        self.photo = torch.rand((spec.batch, channels, *size), device="cuda").contiguous(memory_format=layout)
        self.truth = torch.randint(0, CLASSES.get(spec.file, classes), (spec.batch, 1, *size), device="cuda").float()
        name, settings = self.model.optimizer
        self.optimizer = losses.OPTIMIZERS[name](self.net.parameters(), foreach=True, **settings)
        self.answer = torch.compile(self.net) if way == "compile" else self.net

    def __call__(self):
        self.optimizer.zero_grad(set_to_none=True)
        with precisions.cast("bf16", "cuda"):
            answers = self.answer(self.photo)
        answers = [answer.float() for answer in answers] if isinstance(answers, list) else answers.float()
        loss = losses.loss_of(self.model, answers, self.truth)
        loss.backward()
        if self.model.clip:
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.model.clip)
        self.optimizer.step()
        return loss.detach()
