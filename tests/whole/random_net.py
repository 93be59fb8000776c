"""random_net.py - the text of random U-Nets, and what a test must be told about them.

Net draws from the choices of its class: tests/planner/bounds.py has others.  Varied is a tiny one, in which features come
and go by its number, with periods that have no common factor: so a run of twenty has them all, and 2,000 most pairs.
"""

import math
import random

STEPS = 3
LEAST_FOR_WINDOWS = 11  # points, of ssim

# Which points the first two count, or in which order, can differ where rounding does.
CLASS_LOSSES = [["ohem_cross_entropy(classes, seen, keep = 0.3)", "lovasz_loss(classes, seen)", "lovasz_loss(single, marked)",
                 "bce_with_logits(single, marked, pos_weight = 3)", "dice_loss(classes, seen)",
                 "focal_loss(classes, seen, gamma = 1.5, alpha = [1, 0.5, 2])"],
                ["cross_entropy(classes, seen, weight = [1, 0.5, 2], label_smoothing = 0.1)",
                 "cross_entropy(classes, seen, ignore_index = 1, pixel_weight = channel_max(photo))",
                 "tversky_loss(classes, seen, per_class = false)", "focal_loss(single, marked, alpha = 0.25)",
                 "dice_loss(single, marked, batch = false, squared = true)"]]


class Net:
    """The text of a U-Net.  Subclasses draw from other choices."""

    AXES = 2
    BASES, BATCHES, MOST_CONVOLUTIONS = [3, 5, 7, 9], (2, 3), 2
    UPCONVS = 0.5  # of the ways up
    NORMS = ["batch_norm", "batch_norm(eps = 1e-3)", "instance_norm(affine = true)", "group_norm(1, eps = 1e-3)",
             "layer_norm(eps = 0.01)", "rms_norm(eps = 0.01)"]
    BETWEEN = ["dropout(0.3)", "dropout_channels(0.3)", "tanh", "elu", "gelu", "softmax", 'softmax(over = "points")', "normalize(eps = 0.1)", "mish", "hard_swish", "clamp(min = -0.5, max = 0.75)", "roll(1)", 'flip("w")',
               "maximum(parameter(1, init = -0.3))", "prelu", "scale(init = 0.8)"]  # behind a convolution, at times
    JOINS = ["concat(up%d, {0})", "concat({0}, up%d)", "up%d + {0}"]

    UPDATES = [["    optimizer adam(lr = 1e-3, eps = 1e-3)"],
               ["    optimizer adamw(lr = 1e-3, eps = 1e-2, amsgrad = true, decay = \"weights\")", "    clip      0.05"],
               ["    optimizer sgd(lr = 0.01, momentum = 0.9, nesterov = true)", "    clip      value = 0.01", "    ema       0.5"],
               ["    optimizer rmsprop(lr = 1e-3, eps = 1e-2, momentum = 0.5, centered = true)", "    clip      0.05",
                "    ema       0.5"]]

    def __init__(self, rng, depth, norms=False, number=0):
        self.norms = norms  # between some convolutions and their relu
        self.labels = []    # of further targets, the classes
        self.rng, self.lines = rng, []
        self.depth, self.base = depth, rng.choice(self.BASES)
        self.batch = rng.randint(*self.BATCHES)
        self.valid = max(1, self.batch - rng.randint(0, 1))
        self.channels = rng.choice([1, 2, 3])
        self.size = [self.extent() for _ in range(self.AXES)]
        self.write()
        self.updates = self.UPDATES[self.BASES.index(self.base) % len(self.UPDATES)]
        self.losses = ["mse(answer, truth)"] + {2: self.image_losses, 3: self.class_losses}.get(number % 4, lambda _: [])(number // 4)

    def image_losses(self, _):
        scale = -(-LEAST_FOR_WINDOWS // min(self.size))
        windows = "(resize(answer, scale = %d), resize(photo, scale = %d))" % (scale, scale) if scale > 1 else "(answer, truth)"
        return ["smooth_l1(answer, truth, beta = 0.3)", "0.01 * psnr_loss(answer, truth)", "0.5 * charbonnier(answer, truth)",
                "0.2 * ssim_loss" + windows]

    def class_losses(self, which):
        self.labels = [3, 2]
        self.lines += ["classes = resize(conv(bottom, 3, 1), like = photo, mode = \"bilinear\")",
                       "single = conv(dec0, 1, 3)"]
        return ["0.2 * " + loss for loss in CLASS_LOSSES[which % len(CLASS_LOSSES)]]

    def extent(self):
        return 2**self.depth * self.rng.randint(*((3, 7) if self.depth < 3 else (1, 2)))

    def convolutions(self, name, x, channels, count):
        """A chain of convolutions, each with or without bias and relu."""
        links = []
        for _ in range(count):
            kernel = self.rng.choice([3, 3, 3, 1, 5]) if self.depth < 3 else 3
            links.append("conv(%d, %d%s)" % (channels, kernel, self.rng.choice(["", "", ", bias = false"])))
            if self.norms and name != "bottom" and self.rng.random() < 0.5:  # there may be one point
                links[-1] = "conv(%d, %d, bias = false)" % (channels, kernel)  # a bias would have no gradient
                links.append(self.rng.choice(self.NORMS))
            links += ["relu"] * (self.rng.random() < 0.8)
            if self.BETWEEN and self.rng.random() < 0.2:
                links.append(self.rng.choice(self.BETWEEN))
        self.lines.append("%s = %s -> %s" % (name, x, " -> ".join(links)))

    def write(self):
        rng, x, skips = self.rng, "photo", []
        for level in range(self.depth):
            channels = self.base + 4 * level
            self.convolutions("enc%d" % level, x, channels, rng.randint(1, self.MOST_CONVOLUTIONS))
            skips.append((channels, "enc%d" % level))
            x = "down%d" % level
            down = rng.choice(["max_pool(enc%d)", "conv(enc%d, {0}, 3, stride = 2)",
                               "conv(enc%d, {0}, 2, stride = 2, padding = \"valid\")"])
            self.lines.append("%s = %s" % (x, (down % level).format(channels + 1)))
        self.convolutions("bottom", x, self.base + 4 * self.depth, rng.randint(1, self.MOST_CONVOLUTIONS))
        x = self.beneath("bottom")
        for level, (channels, skip) in reversed(list(enumerate(skips))):
            join = rng.choice(self.JOINS)
            up = channels if "+" in join else rng.choice([channels, channels + 3])
            self.lines.append("up%d = " % level + self.up(x, up, skip))
            self.convolutions("dec%d" % level, "(%s)" % (join % level).format(skip), channels, rng.randint(1, self.MOST_CONVOLUTIONS))
            x = "dec%d" % level
        self.lines.append("output answer = " + self.answer(x))

    def beneath(self, bottom):
        """What is enlarged first."""
        return bottom

    def answer(self, x):
        return "conv(%s, %d, 1)%s" % (x, self.channels, " + photo" if self.rng.random() < 0.5 else "")

    def up(self, x, channels, skip):
        """X as large as SKIP, and of so many channels."""
        if self.UPCONVS == 1 or self.rng.random() < self.UPCONVS:
            return "upconv(%s, %d)" % (x, channels)
        mode = self.rng.choice(['"nearest"', '"nearest_exact"', '"bilinear"', '"bilinear", align_corners = true'])
        if self.rng.random() < 0.3:
            how = self.rng.choice(["pad", "replicate"])
            return 'match(%s, %s, "%s") -> conv(%d, 3)' % (x, skip, how, channels)
        return "resize(%s, %s, mode = %s) -> conv(%d, 3)" % (x, self.rng.choice(["scale = 2", "like = " + skip]), mode, channels)

    def text(self):
        return "\n".join(["input  photo : " + self.tensor(self.size), "target truth : " + self.target()] +
                         ["target %s : labels(%d)" % target for target in zip(("seen", "marked"), self.labels)] + self.lines +
                         ["train {", *self.settings(), *self.updates, "    batch     %d" % self.batch,
                          "    steps     %d" % STEPS, "}"]) + "\n"

    def tensor(self, size):
        return "%s(%s)" % ({1: "signal", 2: "image", 3: "volume"}[self.AXES], ", ".join(str(n) for n in [self.channels] + size))

    def target(self):
        return self.tensor([])

    def settings(self):
        return ["    loss      " + loss for loss in self.losses]



class Varied(Net):
    """Small enough for many builds."""

    BASES, BATCHES, MOST_CONVOLUTIONS = [2, 3, 4, 5], (1, 3), 1
    ENLARGED = {1: ["upconv({x}, {c})", "resize(conv({x}, {c}, 1), scale = 2, mode = \"linear\")"],
                2: ["upconv({x}, {c})", "resize(conv({x}, {c}, 1), scale = 2, mode = \"bilinear\")",
                    "pixel_shuffle(conv({x}, 4 * {c}, 3), 2)",
                    "rearrange(conv({x}, 4 * {c}, 3), \"(p=2 c q=2) h w -> c (p h) (w q)\")"],
                3: ["upconv({x}, {c})", "resize(conv({x}, {c}, 1), scale = 2)"]}

    def __init__(self, number):
        rng = random.Random("net %d" % number)
        self.number = number
        self.AXES = self.axes(number)
        self.precision = ["f32", "bf16", "f32", "f32", "f16", "f32", "f32"][number % 7]
        self.method = ["auto", "direct", "winograd"][number % 37 % 3]
        self.shares = number % 31 % 2 == 0  # weights, between two convolutions
        self.idle = number % 29 % 3 == 2  # some weights are frozen, others only a metric depends on
        self.is_fast = number % 23 in (2, 4, 7, 8, 9, 16)  # has fast kernels, too
        self.attends = number % 17 in (1, 6, 14)  # at the bottom
        self.crosses = number % 13 in (2, 6, 9)  # channels attend there
        self.looks = number % 19 in (1, 4, 10, 15)  # around, in windows, there, too
        self.factor = 2 if number % 11 in (3, 8) else 1  # of the target's size
        self.codes = {3: 8, 6: 4, 11: 2, 12: 8}.get(number % 14, 0)  # bits in which activations wait
        super().__init__(rng, 2 if number % 13 in (4, 7) else 1, norms=number % 3 == 1, number=number)
        self.eval_batch = 1 + self.batch // 2
        self.extras()

    @staticmethod
    def axes(number):
        return 3 if number % 5 == 4 else 1 if number % 41 % 6 == 5 else 2

    def extent(self):
        if self.AXES == 1:
            return 2**self.depth * self.rng.randint(5, 12)
        return 2**self.depth * self.rng.randint(1 if self.AXES == 3 else 2, 5 // self.depth)

    def image_losses(self, which):
        losses = super().image_losses(which)
        return losses[:-1] if self.AXES != 2 or self.factor > 1 else losses

    def beneath(self, bottom):
        width = self.base + 4 * self.depth
        if self.attends:
            more = "heads = 2" if width % 2 == 0 else "causal = true"
            self.lines.append("mixed = {0} + attention({0}, 2 * {0}, {0}, {1})".format(bottom, more))
            bottom = "mixed"
        if self.crosses:
            more = "heads = %d, temperature = parameter(%d, init = 2)" % ((2, 2) if width % 2 == 0 else (1, 1))
            self.lines.append("crossed = {0} + channel_attention({0}, 2 * {0}, {0}, {1})".format(bottom, more))
            bottom = "crossed"
            if self.number % 3 > 0:
                heads = 2 if width % 2 == 0 else 1
                self.lines.append("summed = {0} + linear_attention(softmax({0}, groups = {1}), softmax({0}, over = \"points\"), {0}, {1})".format(
                    bottom, heads))
                bottom = "summed"
        if self.looks:
            placed = "{0} + {1}".format(bottom, ("embedding(8 * channel_mean(adaptive_avg_pool(photo, 1)), 9, {1})", "positions({0})")[self.number % 2].format(bottom, width))
            self.lines.append("around = {0} + attention({1}, {0}, 2 * {0}, {2})".format(bottom, placed, self.windows(width)))
            bottom = "around"
        if not self.shares:
            return bottom
        self.lines += ["layer tied = conv(%d, 3)" % width, "deep = %s -> tied -> relu -> tied" % bottom]
        return "deep"

    def windows(self, width):
        """Windows of the map at the bottom, from a seed of their own, which leaves the rest of the net as it is."""
        draw, listed = random.Random("windows %d" % self.number), lambda sizes: "[%s]" % ", ".join(map(str, sizes))
        extents = [extent // 2**self.depth for extent in self.size]
        window = [draw.choice([some for some in range(draw.choice([1, 2, 2]), extent + 1) if extent % some == 0] or [extent])
                  for extent in extents]
        heads, shift = 2 if width % 2 == 0 else 1, [draw.randrange(extent) for extent in window]
        bias = ", bias = relative_bias(%d, %s)" % (heads, listed(window)) if draw.random() < 0.8 else ""
        if draw.random() < 0.3:
            points = math.prod(window)
            pairs = [points * points] if len(window) == 1 else [1] * (len(window) - 2) + [points, points]
            bias = ", bias = sin(parameter(%d, init = 0.5, size = %s))" % (heads, listed(pairs))
        return "heads = %d, window = %s, shift = %s%s" % (heads, listed(window), listed(shift), bias)

    def answer(self, x):
        if self.factor == 1:
            return super().answer(x)
        return self.rng.choice(self.ENLARGED[self.AXES]).format(x=x, c=self.channels)

    def extras(self):
        """Metrics, an output of classes, and what is not trained."""
        compares = "l1" if self.AXES == 1 else "psnr"
        self.metrics = [compares + "(answer, truth)"]
        if self.labels:
            self.lines.append("output mask = argmax(classes)")
            self.metrics.append("miou(mask, seen)")
        if self.idle:
            self.updates = self.updates + ["    freeze    \"enc0\""]
            self.lines.append("spare = conv(answer, %d, 1)" % self.channels)
            self.metrics.append(compares + "(spare, truth)")

    def target(self):
        return self.tensor([self.factor * n for n in self.size]) if self.factor > 1 else self.tensor([])

    def settings(self):
        compressed = ["    compress  %d" % self.codes] if self.codes else []
        return super().settings() + compressed + ["    metric    " + metric for metric in self.metrics]

    def text(self):
        return super().text() + "eval {\n    batch     %d\n}\n" % self.eval_batch
