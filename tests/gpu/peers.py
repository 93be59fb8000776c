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
# As the files say.
SIZES = {"milesial": (640, 959), "unet_2015": (572, 572), "pp_liteseg": (512, 1024), "resnet34_unet": (320, 320), "enet": (360, 480),
         "nafnet": (256, 256), "attention_unet": (224, 224), "unet_plus_plus": (96, 96), "drunet": (128, 128), "fast_scnn": (768, 768),
         "dncnn": (40, 40), "resunet": (224, 224), "nnunet": (128, 128, 128), "nnunet_resenc": (128, 128, 128),
         "basic_unet": (96, 96, 96), "unet_3d": (64, 128, 128), "mlperf_unet3d": (128, 128, 128)}
TARGET_SIZES = {"unet_2015": (388, 388)}
CLASSES = {"pp_liteseg": 19, "enet": 19, "fast_scnn": 19}


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
        self.photos, self.targets = [], []
        for kind in self.model.inputs:
            is_target = kind[0] in models.TARGETS
            drawn = self.draw(spec, kind, TARGET_SIZES.get(spec.file, size) if is_target else size)
            (self.targets if is_target else self.photos).append(drawn.contiguous(memory_format=layout))
        name, settings = self.model.optimizer
        self.optimizer = losses.OPTIMIZERS[name](self.net.parameters(), foreach=True, **settings)
        self.answer = torch.compile(self.net) if way == "compile" else self.net

    @staticmethod
    def draw(spec, kind, size):
        """An image, or the class of each point."""
        _, kind, channels = kind
        if kind == "image":
            return torch.rand((spec.batch, channels, *size), device="cuda")
        return torch.randint(0, CLASSES.get(spec.file, channels), (spec.batch, 1, *size), device="cuda").float()

    def __call__(self):
        self.optimizer.zero_grad(set_to_none=True)
        with precisions.cast("bf16", "cuda"):
            answers = self.answer(*self.photos)
        answers = [answer.float() for answer in answers] if isinstance(answers, list) else answers.float()
        loss = losses.loss_of(self.model, answers, *self.targets)
        loss.backward()
        if self.model.clip:
            torch.nn.utils.clip_grad_norm_(self.net.parameters(), self.model.clip)
        self.optimizer.step()
        return loss.detach()
