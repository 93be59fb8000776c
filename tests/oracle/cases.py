"""The nets that are compared with PyTorch: which file, with which options, on how many samples.

`optimizer` repeats what the file says, for record.py; `valid` is less than the batch where a short
last batch is tried.
"""

import os

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
STEPS = 10
ADAM = ("adam", {"lr": 5e-4})


def _case(name, file, net, size, batch, seed, defines=(), valid=None, optimizer=ADAM, losses=(("mse", 1.0),)):
    return {
        "name": name, "file": os.path.join(ROOT, file), "net": net, "size": size, "batch": batch, "seed": seed,
        "defines": dict(defines), "valid": valid or batch, "optimizer": optimizer, "losses": losses,
        "vectors": os.path.join(HERE, "vectors", name + ".safetensors"),
    }


def _optimizer(kind, optimizer, losses=(("mse", 1.0),)):
    return _case("optimizer_" + kind, "tests/oracle/cases/optimizers.unet", "two_convolutions", (9, 14), 2, 3,
                 {"kind": '"%s"' % kind}, optimizer=optimizer, losses=losses)


CASES = [
    _case("tiny_unet", "examples/denoise/tiny_unet.unet", "unet", (16, 24), 2, 0, {"base": 4}),
    _case("tiny_unet_odd", "examples/denoise/tiny_unet.unet", "unet", (24, 16), 3, 1, {"base": 3}),
    _case("unet_denoiser", "examples/denoise/unet_denoiser.unet", "unet", (8, 40), 3, 2, {"base": 5}, valid=1),
    _case("simple_denoiser", "examples/denoise/simple_denoiser.unet", "simple", (13, 11), 2, 5, {"width": 8}),
    _case("variants", "tests/oracle/cases/variants.unet", "variants", (18, 22), 3, 4, valid=2,
          losses=(("mse", 0.5), ("l1", 0.25))),
    _case("activations", "tests/oracle/cases/activations.unet", "activations", (17, 22), 2, 6),
    _optimizer("sgd", ("sgd", {"lr": 0.1})),
    _optimizer("nesterov", ("sgd", {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.01, "nesterov": True})),
    _optimizer("l1_sgd", ("sgd", {"lr": 0.05, "momentum": 0.9, "dampening": 0.1}), (("l1", 1.0),)),
    _optimizer("adam", ("adam", {"lr": 2e-3, "betas": (0.8, 0.99), "eps": 1e-6, "weight_decay": 0.05})),
    _optimizer("adamw", ("adamw", {"lr": 2e-3, "weight_decay": 0.1})),
]

# Examples at full size, whose initial weights are compared by a checksum per tensor.
FULL_SIZE = [
    ("tiny_unet", "unet", {"base": 16}),
    ("unet_denoiser", "unet", {"base": 64}),
    ("simple_denoiser", "simple", {"width": 64}),
]
SEEDS = (0, 42, 7)
CHECKSUMS = os.path.join(HERE, "vectors", "initial_weights.json")


def fnv1a(data):
    """FNV-1a with 64 bits: enough to tell whether two tensors are equal bit for bit."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return "%016x" % value
