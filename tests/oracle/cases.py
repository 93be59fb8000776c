"""The nets that are compared with PyTorch: which file, with which options, on how many samples.

`optimizer` repeats what the file says, for record.py, and so do `accumulate`, `clip_norm`, `clip_value`, `ema` (the weights after ten
steps are then the averaged ones) and `spares_vectors`: parameters of one axis do not decay; `state`: the optimiser keeps large tensors in 8 bits; `valid` is less than the batch where a short last batch is tried.
"""

import os

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
STEPS = 10
ADAM = ("adam", {"lr": 5e-4})


def _case(name, file, net, size, batch, seed, defines=(), valid=None, optimizer=ADAM, losses=(("mse", 1.0),), loops=True):
    """LOOPS: a batch may be trained one sample at a time."""
    return {
        "loops": loops,
        "name": name, "file": os.path.join(ROOT, file), "net": net, "size": size, "batch": batch, "seed": seed,
        "defines": dict(defines), "valid": valid or batch, "optimizer": optimizer, "losses": losses,
        "vectors": os.path.join(HERE, "vectors", name + ".safetensors"),
    }


def _optimizer(kind, optimizer, losses=(("mse", 1.0),), valid=None, **more):
    case = _case("optimizer_" + kind, "tests/oracle/cases/optimizers.unet", "two_convolutions", (9, 14), 2, 3,
                 {"kind": '"%s"' % kind}, valid, optimizer, losses)
    return {**case, **more}


def _state(kind, optimizer, valid=None, **more):
    """A share close to the border of two codes rounds either way in float32, and by Winograd's method, whose gradients err more, some do."""
    case = _case("state_" + kind, "tests/oracle/cases/state.unet", "three_convolutions", (9, 14), 2, 8, {"kind": '"%s"' % kind}, valid, optimizer)
    return {**case, "state": 8, "float_options": ["--conv=direct"], **more}


def _restoration(kind, losses):
    return _case("restoration_" + kind, "tests/oracle/cases/restoration.unet", "two_convolutions", (19, 23), 3, 4,
                 {"kind": '"%s"' % kind}, 2, ("sgd", {"lr": 0.05, "momentum": 0.9}), losses)


def _classes(name, classes, losses, loops=True, valid=2):
    return _case(name, "tests/oracle/cases/classes.unet", "classes", (9, 14), 3, 8, {"losses": '"%s"' % name, "classes": classes},
                 valid, ("adam", {"lr": 5e-3}), losses, loops)


CASES = [
    _case("tiny_unet", "examples/denoise/tiny_unet.unet", "unet", (16, 24), 2, 0, {"base": 4}),
    _case("tiny_unet_odd", "examples/denoise/tiny_unet.unet", "unet", (24, 16), 3, 1, {"base": 3}),
    _case("unet_denoiser", "examples/denoise/unet_denoiser.unet", "unet", (8, 40), 3, 2, {"base": 5}, valid=1),
    _case("simple_denoiser", "examples/denoise/simple_denoiser.unet", "simple", (13, 11), 2, 5, {"width": 8}),
    _case("variants", "tests/oracle/cases/variants.unet", "variants", (18, 22), 3, 4, valid=2,
          losses=(("mse", 0.5), ("l1", 0.25))),
    _case("activations", "tests/oracle/cases/activations.unet", "activations", (17, 22), 2, 6),
    _classes("cross_entropy", 4, (("weighted_cross_entropy", 0.5), ("cross_entropy_without_1", 1.0))),
    _classes("dice", 4, (("cross_entropy", 0.5), ("dice_without_background", 1.0), ("dice_without_2", 0.25)), False),
    _classes("binary_dice", 2, (("binary_dice", 1.0),), False),
    _classes("dice_variants", 4, (("milesial_dice", 1.0), ("monai_dice", 1.0), ("squared_dice", 0.5), ("tversky_of_samples", 1.0),
                                  ("tversky_without_background", 1.0)), False),
    _classes("sample_dice", 4, (("nnunet_dice", 1.0), ("joint_tversky", 1.0))),
    _classes("ohem", 4, (("ohem_by_number", 1.0), ("ohem_by_threshold", 1.0), ("ohem_without_2", 1.0), ("ohem_of_all", 1.0)), False),
    _classes("binary_ohem", 2, (("binary_ohem", 1.0),), False),
    _classes("lovasz", 4, (("lovasz_softmax", 1.0), ("lovasz_without_2", 0.5)), False),
    _classes("lovasz_hinge", 2, (("lovasz_hinge", 1.0),), False),
    # sums over a whole batch are those of each by itself, the last one of fewer samples
    {**_case("batches", "tests/oracle/cases/classes.unet", "classes", (9, 14), 3, 8, {"losses": '"batches"', "classes": 4, "parts": 2},
             5, ("adam", {"lr": 5e-3}), (("dice_without_2", 1.0), ("ohem_by_number", 0.5), ("lovasz_softmax", 1.0)), False),
     "accumulate": 2},
    _classes("focal", 4, (("focal", 3.0), ("weighted_focal", 1.0))),
    _classes("binary_focal", 2, (("alpha_focal", 1.0), ("binary_focal", 1.0))),
    _classes("pixel_weight", 4, (("mapped_cross_entropy", 1.0), ("mapped_weighted", 1.0))),
    _classes("binary_pixel_weight", 2, (("mapped_bce", 1.0),)),
    _classes("bce", 2, (("weighted_bce", 1.0), ("bce", 0.5))),
    _case("volumes", "tests/oracle/cases/volumes.unet", "volumes", (4, 6, 10), 3, 9, {"classes": 4}, 2, ("adam", {"lr": 5e-3}),
          (("two_resolutions", 1.0),), False),
    _case("heads", "tests/oracle/cases/heads.unet", "heads", (9, 14), 3, 8, {"classes": 4}, 2, ("adam", {"lr": 5e-3}), (("two_heads", 1.0),), False),
    _case("operators", "tests/oracle/cases/operators.unet", "operators", (12, 14), 2, 8),
    _case("functions", "tests/oracle/cases/functions.unet", "functions", (10, 9), 2, 8),
    _case("arithmetic", "tests/oracle/cases/arithmetic.unet", "arithmetic", (10, 9), 2, 8),
    _case("given", "tests/oracle/cases/given.unet", "given", (10, 9), 2, 8),
    _case("time", "tests/oracle/cases/time.unet", "time", (10, 9), 2, 8),
    _case("attention", "tests/oracle/cases/attention.unet", "attention", (8, 6), 2, 8),
    _case("channel_attention", "tests/oracle/cases/channel_attention.unet", "channel_attention", (8, 6), 2, 8),
    _case("linear_attention", "tests/oracle/cases/linear_attention.unet", "linear_attention", (6, 8), 2, 8),
    _case("windows", "tests/oracle/cases/windows.unet", "windows", (8, 12), 2, 8),
    _case("volume_windows", "tests/oracle/cases/volume_windows.unet", "volume_windows", (4, 6, 6), 2, 8),
    _case("biases", "tests/oracle/cases/biases.unet", "biases", (6, 4), 2, 8),
    _case("lengths", "tests/oracle/cases/lengths.unet", "lengths", (7, 9), 3, 8, valid=2),
    _case("borders", "tests/oracle/cases/borders.unet", "borders", (10, 9), 2, 8),
    _case("rearranged", "tests/oracle/cases/rearranged.unet", "rearranged", (8, 6), 2, 2),
    _case("signals", "tests/oracle/cases/signals.unet", "signals", (40,), 2, 8),
    _case("words", "tests/oracle/cases/words.unet", "words", (40,), 3, 8, {"words": 23}, 2, losses=(("words", 1.0),)),
    _case("scales", "tests/oracle/cases/scales.unet", "scales", (9, 14), 2, 9),
    _case("resizing", "tests/oracle/cases/resizing.unet", "resizing", (9, 10), 2, 7),
    _case("batch_norm", "tests/oracle/cases/batch_norm.unet", "batch_norm", (12, 10), 3, 7,
          optimizer=("sgd", {"lr": 0.1, "momentum": 0.9}), valid=2, loops=False),
    # each batch has its own statistics, the last one of fewer samples; running ones are not averaged once more
    {**_case("batch_norm_accumulate", "tests/oracle/cases/batch_norm.unet", "batch_norm", (12, 10), 3, 7,
             {"parts": 2, "average": 0.8}, optimizer=("sgd", {"lr": 0.1, "momentum": 0.9}), valid=5, loops=False),
     "accumulate": 2, "ema": 0.8},
    _case("running_statistics", "tests/oracle/cases/batch_norm.unet", "batch_norm", (12, 10), 3, 7, {"statistics": '"running"'},
          optimizer=("sgd", {"lr": 0.1, "momentum": 0.9}), valid=2),
    _case("groups", "tests/oracle/cases/groups.unet", "groups", (16, 12), 2, 8),
    _optimizer("sgd", ("sgd", {"lr": 0.1})),
    _optimizer("nesterov", ("sgd", {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.01, "nesterov": True})),
    _optimizer("l1_sgd", ("sgd", {"lr": 0.05, "momentum": 0.9, "dampening": 0.1}), (("l1", 1.0),)),
    _optimizer("charbonnier", ("sgd", {"lr": 0.05, "momentum": 0.9, "dampening": 0.1}), (("charbonnier", 1.0),)),
    _restoration("ssim", (("ssim", 1.0),)),
    _restoration("sum", (("l1", 0.8), ("wide_ssim", 0.2))),
    _restoration("smooth_l1", (("smooth_l1_and_sharper", 1.0),)),
    _restoration("psnr", (("psnr_loss", 1.0),)),
    _optimizer("adam", ("adam", {"lr": 2e-3, "betas": (0.8, 0.99), "eps": 1e-6, "weight_decay": 0.05})),
    _optimizer("adamw", ("adamw", {"lr": 2e-3, "weight_decay": 0.1})),
    _optimizer("amsgrad", ("adam", {"lr": 2e-3, "amsgrad": True, "weight_decay": 0.05}), spares_vectors=True),
    _optimizer("rmsprop", ("rmsprop", {"lr": 1e-3, "alpha": 0.9, "eps": 1e-6, "weight_decay": 0.01, "momentum": 0.9})),
    _optimizer("centered", ("rmsprop", {"lr": 1e-3, "centered": True})),
    _optimizer("clip_norm", ("adam", {"lr": 2e-3, "weight_decay": 0.05}), clip_norm=0.2),
    _optimizer("clip_value", ("sgd", {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.01}), clip_value=0.01),
    _optimizer("ema", ("rmsprop", {"lr": 1e-3, "momentum": 0.5}), clip_norm=0.5, ema=0.8),
    _optimizer("accumulate", ("sgd", {"lr": 0.1}), valid=4, accumulate=2),
    _optimizer("weights", ("sgd", {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.1}), spares_vectors=True),
    _state("adamw", ("adamw", {"lr": 2e-3, "weight_decay": 0.1}), clip_norm=0.2, ema=0.8),
    _state("amsgrad", ("adam", {"lr": 2e-3, "betas": (0.8, 0.99), "amsgrad": True, "weight_decay": 0.05}), spares_vectors=True),
    _state("rmsprop", ("rmsprop", {"lr": 1e-3, "alpha": 0.9, "eps": 1e-6, "weight_decay": 0.01, "momentum": 0.9}), valid=4, accumulate=2),
    _state("nesterov", ("sgd", {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.01, "nesterov": True}), clip_value=0.01),
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
