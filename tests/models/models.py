"""The networks of examples/ that have a public implementation, and how a small one of each is compared with PyTorch.

Weights, pictures and targets of the small ones follow from names and are not recorded.  Of a tensor that PyTorch computed
its norm and its products with vectors of random signs are recorded, two of most tensors: an error of any direction shows in
one of them, and how large it is follows from all of them, the better the more there are.
"""

import array
import itertools
import json
import math
import os
import random

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
STEPS = 10
# A gradient that is zero but for rounding, as of a bias in front of a norm, is judged beside the largest one.
ZERO = 1e-4
OUTPUT_SIGNS = 32  # of one tensor; of gradients there are many
RECORDED = os.path.join(HERE, "vectors")


class Model:
    """One network; `small` are the definitions of the small one, of SIZE and BATCH, of which PyTorch knows the answers.

    inputs       (name, "image", channels), (name, "labels", classes), (name, "number", largest), (name, "words", vocabulary) or
                 (name, "hidden", vocabulary), in the order of the file
    optimizer, clip, loss, ema   repeat what the file says, for record.py
    full         definitions of full networks, with their numbers of parameters"""

    def __init__(self, name, size, batch, small, inputs, optimizer, loss, full, clip=None, target_size=None, folder=None, ema=None):
        self.name, self.size, self.batch, self.small, self.inputs = name, size, batch, small, inputs
        self.optimizer, self.loss, self.full, self.clip, self.ema = optimizer, loss, full, clip, ema
        self.target_size = target_size or size
        self.file = os.path.join(ROOT, "examples", folder or name, name + ".unet")

    def key(self, definitions):
        return " ".join([self.name] + options(definitions))

    def vectors(self, small):
        return os.path.join(RECORDED, "%s.%d.json" % (self.name, self.small.index(small)))


def options(definitions):
    """As `unetc` takes them."""
    return ["-D%s=%s" % (name, json.dumps(value, separators=(",", ":"))) for name, value in definitions.items()]


PHOTO, TRUTH = ("photo", "image", 3), ("truth", "labels", 2)
RMSPROP = ("rmsprop", {"lr": 1e-5, "weight_decay": 1e-8, "momentum": 0.999})
SGD = ("sgd", {"lr": 0.01, "momentum": 0.9, "weight_decay": 1e-4})
CITY = [PHOTO, ("truth", "labels", 3)]
SCAN = [("scan", "image", 1), ("truth", "labels", 3)]
NNUNET = ("sgd", {"lr": 0.01, "momentum": 0.99, "nesterov": True, "weight_decay": 3e-5})
TARGETS = ("truth", "clean", "weight", "voice", "noise", "hidden", "aim")

MODELS = [
    Model("milesial", (33, 38), 2, [{"width": 4}, {"width": 4, "depth": 3, "bilinear": True}], [PHOTO, TRUTH], RMSPROP,
          "cross_entropy_and_dice", [({}, 31037698), ({"bilinear": True}, 17263042)], clip=1.0),
    Model("unet_2015", (188, 188), 1, [{"width": 2, "size": 188, "drop": 0}], [("cells", "image", 1), TRUTH, ("weight", "image", 1)],
          ("sgd", {"lr": 0.01, "momentum": 0.99}), "weighted_cross_entropy", [({}, 31030658)], target_size=(4, 4)),
    Model("attention_unet", (32, 32), 3, [{"width": 4}], [PHOTO, TRUTH], ("adam", {"lr": 2e-4, "betas": (0.5, 0.999)}), "bce",
          [({}, 34878573)]),
    Model("resunet", (16, 24), 3, [{"filters": [4, 8, 12, 16]}], [PHOTO, TRUTH], ("adam", {"lr": 1e-3}), "bce_and_dice",
          [({}, 13043009)]),
    Model("unet_plus_plus", (32, 32), 2, [{"f": [2, 4, 6, 8, 10], "deep": True}], [PHOTO, TRUTH],
          ("sgd", {"lr": 1e-3, "momentum": 0.9, "weight_decay": 1e-4}), "half_bce_and_dice",
          [({}, 9163329), ({"deep": True}, 9163428)]),
    Model("dncnn", (11, 10), 3, [{"width": 6}], [("noisy", "image", 1), ("clean", "image", 1)], ("adam", {"lr": 1e-3}), "mse",
          [({}, 556096)]),
    Model("drunet", (16, 24), 1, [{"widths": [4, 6, 8, 10]}], [("noisy", "image", 3), ("clean", "image", 3)],
          ("adam", {"lr": 1e-4}), "l1", [({}, 32640960)]),
    Model("resnet34_unet", (64, 64), 2, [{"width": 4, "decoder": [8, 6, 5, 4, 3]}], [PHOTO, TRUTH], ("adam", {"lr": 1e-4}),
          "bce_and_dice", [({}, 24436369)]),
    Model("pp_liteseg", (128, 128), 3, [{"classes": 3, "base": 8, "arm": [4, 6, 8], "mid": [4, 5, 6]}], CITY,
          ("sgd", {"lr": 0.005, "momentum": 0.9, "weight_decay": 5e-4}), "ohem",
          [({}, 8141600), ({"layers": [4, 5, 3], "arm": [64, 96, 128], "mid": [64, 64, 64]}, 12366464)]),
    Model("fast_scnn", (192, 192), 2, [{"classes": 3, "stem": [2, 3, 4], "widths": [4, 6, 8], "repeats": [2, 1, 1], "drop": 0}], CITY, SGD,
          "cross_entropy", [({}, 1138051)]),
    Model("nafnet", (16, 24), 2, [{"width": 4, "enc": [1, 1], "middle": 2, "dec": [1, 1]}],
          [("noisy", "image", 3), ("clean", "image", 3)], ("adamw", {"lr": 1e-3, "betas": (0.9, 0.9), "weight_decay": 0}), "mse",
          [({}, 29159715)], clip=0.01),
    Model("restormer", (16, 24), 2, [{"dim": 4, "blocks": [1, 1, 1, 1], "heads": [1, 2, 2, 4], "refine": 1}],
          [("noisy", "image", 3), ("clean", "image", 3)], ("adamw", {"lr": 3e-4, "weight_decay": 1e-4}), "l1", [({}, 26126644)], clip=0.01),
    Model("wave_unet", (48,), 2, [{"layers": 3, "base": 3}], [("mixture", "image", 1), ("voice", "image", 1)], ("adam", {"lr": 1e-3}), "mse",
          [({}, 10132802)]),
    Model("enet", (32, 32), 3, [{"classes": 3, "width": 8, "drops": [0, 0]}], CITY,
          ("adam", {"lr": 5e-4, "weight_decay": 2e-4}), "cross_entropy", [({}, 351660)]),
    Model("pix2pix", (32, 48), 2, [{"widths": [3, 4, 5, 6]}], [PHOTO, ("truth", "image", 3)], ("adam", {"lr": 2e-4, "betas": (0.5, 0.999)}),
          "l1", [({}, 54413955)]),
    Model("u2net", (40, 52), 2, [{"middle": [2, 3, 3, 4, 4, 4], "widths": [3, 4, 5, 6, 6, 6], "back": [2, 3, 3, 4, 5]}], [PHOTO, TRUTH],
          ("adam", {"lr": 1e-3}), "bce", [({}, 44009869)]),
    Model("fastmri", (32, 48), 2, [{"channels": 3, "depth": 3}], [("scan", "image", 1), ("truth", "image", 1)], ("rmsprop", {"lr": 1e-3}),
          "l1", [({}, 7756097)]),
    Model("nnunet", (16, 32, 32), 1, [{"features": [3, 4, 6, 8], "kernels": [[1, 3, 3], 3, 3, 3], "strides": [1, [1, 2, 2], 2, 2]}], SCAN,
          NNUNET, "deep_supervision", [({}, 31196399)], clip=12, folder="volume"),
    Model("nnunet_resenc", (16, 16, 16), 2, [{"features": [3, 4, 6], "blocks": [1, 2, 2], "kernels": [3, 3, 3], "strides": [1, [1, 2, 2], 2]}],
          SCAN, NNUNET, "deep_supervision", [({}, 102350575)], clip=12, folder="volume"),
    Model("basic_unet", (32, 32, 32), 1, [{"features": [2, 3, 4, 6, 8, 2]}], [SCAN[0], ("truth", "labels", 2)], ("adam", {"lr": 1e-4}),
          "cross_entropy_and_sample_dice", [({}, 5749410)], folder="volume"),
    Model("unet_3d", (8, 16, 16), 2, [{"width": 2, "depth": 2}], [("scan", "image", 3), SCAN[1]], ("sgd", {"lr": 0.01, "momentum": 0.9}),
          "cross_entropy", [({}, 19075523)], folder="volume"),
    Model("mlperf_unet3d", (16, 16, 32), 1, [{"filters": [3, 4, 5, 6]}], SCAN, ("sgd", {"lr": 0.8, "momentum": 0.9, "nesterov": True}),
          "mlperf", [({}, 31190243)], folder="volume"),
    Model("segformer", (64, 96), 2, [{"classes": 3, "dims": [4, 6, 8, 8], "depths": [2, 1, 1, 1], "heads": [1, 2, 2, 4], "embed": 6, "drop": 0}],
          CITY, ("adamw", {"lr": 6e-5, "weight_decay": 0.01}), "cross_entropy", [({}, 3719027)]),
    Model("unetr", (32, 32, 32), 1, [{"hidden": 12, "mlp": 20, "heads": 3, "layers": 4, "features": 2, "classes": 3, "size": 32}], SCAN,
          ("adamw", {"lr": 1e-4, "weight_decay": 1e-5}), "cross_entropy_and_sample_dice", [({}, 92802478)], folder="volume"),
    Model("swinir", (16, 24), 2, [{"width": 12, "depths": [2, 2], "heads": 3, "window": 4}],
          [("noisy", "image", 3), ("clean", "image", 3)], ("adam", {"lr": 2e-4}), "charbonnier", [({}, 11504163)], ema=0.999),
    Model("bert", (16,), 2, [{"words": 37, "width": 12, "heads": 3, "layers": 2, "length": 16, "mask": 3, "first": 5, "drop": 0}],
          [("text", "words", 37), ("hidden", "hidden", 37)], ("adamw", {"lr": 1e-4, "weight_decay": 0.01, "decay": "weights"}), "words", [({}, 109514298)], clip=1),
    Model("ddpm", (8, 12), 2, [{"widths": [4, 6, 6], "attends": [False, True, False], "layers": 1, "groups": 2},
                               {"widths": [4, 6], "attends": [False, True], "layers": 2, "groups": 2, "head_width": 3, "ddpm": False}],
          [("picture", "image", 3), ("t", "number", 1000), ("noise", "image", 3)], ("adam", {"lr": 2e-4}), "mse",
          [({}, 35746307), ({"widths": [128, 128, 256, 256, 512, 512], "attends": [False, False, False, False, True, False], "ddpm": False,
                             "head_width": 8, "size": 128}, 113673219)], clip=1, folder="diffusion", ema=0.9999),
    Model("lucidrains_unet", (8, 12), 2, [{"dim": 4, "mults": [1, 2, 3], "heads": 2, "width": 3, "memory": 2}],
          [("picture", "image", 3), ("t", "number", 1000), ("aim", "image", 3)], ("adam", {"lr": 8e-5, "betas": (0.9, 0.99)}), "mse",
          [({}, 35711491)], clip=1, folder="diffusion", ema=0.995),
]

# ---- what follows from names ----


def elements(shape):
    return math.prod(shape)


def weight(name, shape):
    """Values of a parameter such as training might leave them, as float32."""
    rng, count = random.Random(name), elements(shape)
    kind = name.rsplit(".", 1)[-1]
    if kind == "running_var" or (kind == "weight" and len(shape) == 1):
        low, high = 0.5, 1.5
    elif len(shape) == 1 or kind in ("beta", "gamma"):
        low, high = -0.2, 0.2
    else:
        high = math.sqrt(4.5 * shape[0] / count)
        low = -high
    return array.array("f", [rng.uniform(low, high) for _ in range(count)])


def picture(name, count):
    rng = random.Random(name)
    return array.array("f", [rng.random() for _ in range(count)])


def labels(name, count, classes):
    """In patches, as masks are."""
    rng = random.Random(name)
    values = []
    while len(values) < count:
        values += [rng.randrange(classes)] * rng.randrange(1, 9)
    return values[:count]


def words(name, count, vocabulary, hidden):
    """Numbers of words; HIDDEN: of three in ten, and else -1."""
    rng = random.Random(name)
    numbers = [rng.randrange(vocabulary) for _ in range(count)]
    return [number if rng.random() < 0.3 or not hidden else -1 for number in numbers]


def batches(model, classes=None):
    """The values of all inputs, dense, in the order of the file."""
    result = []
    for name, kind, count in model.inputs:
        points = model.batch * math.prod(model.target_size if name in TARGETS else model.size)
        if kind == "number":
            result.append([random.Random(name).randrange(count) for _ in range(model.batch)])
        elif kind in ("words", "hidden"):
            result.append(words(name, points, count, kind == "hidden"))
        else:
            result.append(picture(name, points * count) if kind == "image" else labels(name, points, count))
    return result


# ---- what is recorded ----


def digest(name, values, count=2):
    """(norm, COUNT products with signs) of numbers."""
    rng, total = random.Random("signs of " + name), math.fsum(values)
    products = []
    for _ in range(count):
        bits = bin(rng.getrandbits(len(values)) | 1 << len(values))[3:]
        products.append(2 * math.fsum(itertools.compress(values, map(int, bits))) - total)
    return [math.sqrt(math.fsum(v * v for v in values))] + products


def difference(found, expected):
    """About the norm of the difference of two tensors, from their digests."""
    return max(abs(a - b) for a, b in zip(found, expected))


def squared_error(found, expected):
    """About the square of that norm: what a product with signs is of, on the mean."""
    return sum((a - b)**2 for a, b in zip(found[1:], expected[1:])) / (len(expected) - 1)


def gradient_errors(squares):
    """SQUARES: of each gradient, of its error and its norm.  The error of all as one vector; the root mean square of those
    relative to each gradient, but for such as are zero but for rounding."""
    largest = max(norm for _, norm in squares.values())
    each = [error / norm for error, norm in squares.values() if norm > ZERO**2 * largest]
    return {"gradients": math.sqrt(sum(error for error, _ in squares.values()) / sum(norm for _, norm in squares.values())),
            "each gradient": math.sqrt(sum(each) / len(each))}


def fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return "%016x" % value


def names_digest(shapes):
    """One number for names and shapes, in any order; sizes of one say nothing."""
    return fnv1a("".join("%s %s\n" % (name, [n for n in shape if n != 1]) for name, shape in sorted(shapes.items())))


def read(path):
    with open(path) as file:
        return json.load(file)
