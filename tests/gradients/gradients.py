#!/usr/bin/env python3
"""Finite differences, in double, of small random nets that together use every operator with a gradient.

    gradients.py --unetc=build/unetc [--seed=N] [--nets=N] [--keep=FOLDER]

Each net is compiled with the reference kernels in double and run by differences.c.  The operators that have
a gradient rule are read from compiler/ir/ops.def: the test fails when one of them was in no net.  Attributes are
drawn so that the least used value comes next; VALUES lists what must have been seen.  A net in which some
tensor has no gradient, since a relu is zero everywhere, is compared but does not count as having used anything.
Standard library only.
"""

import argparse
import collections
import concurrent.futures
import fractions
import itertools
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.dirname(HERE))
import emitted  # noqa: E402
TOLERANCE = 1e-6
BATCH = 3
LARGEST = {1: 24, 2: 10, 3: 5}  # extents, so that the reference kernels stay quick
WORK = 30000  # products of one convolution and one sample, for the same reason
SMALL_WORK = 8e6  # operations of a step for each parameter: a third of a second
CHANNELS = [1, 2, 3, 4, 5, 7, 17]

# feature: the values of it that some net must have
VALUES = {
    "axes": [2, 3],
    "valid samples": ["all", "fewer"],
    "loss": ["mse", "l1", "charbonnier"],
    "loss over classes": [None, "cross_entropy(classes, seen)", "cross_entropy(classes, seen, weight = [1, 0.5, 2], label_smoothing = 0.2)",
                          "cross_entropy(classes, seen, ignore_index = 1)", "bce_with_logits(single, marked)",
                          "bce_with_logits(single, marked, pos_weight = 3)", "dice_loss(classes, seen, smooth = 1)",
                          "dice_loss(single, marked)", "focal_loss(classes, seen, gamma = 1.5, alpha = [1, 0.5, 2])",
                          "ohem_cross_entropy(classes, seen, threshold = 1)", "lovasz_loss(classes, seen)", "lovasz_loss(single, marked)",
                          "focal_loss(single, marked, alpha = 0.25)", "cross_entropy(classes, seen, pixel_weight = channel_max(resize(photo, like = classes)))",
                          "dice_loss(classes, seen, smooth = 1, batch = false, squared = true)", "tversky_loss(classes, seen, per_class = false)",
                          "tversky_loss(single, marked, smooth = 1, batch = false, beta = 0.9)"],
    "conv kernel": [1, 2, 3, 4, 5, "per axis"],
    "conv stride": [1, 2, 3, "per axis"],
    "conv dilation": [1, 2, 3],
    "conv padding": ["same", "valid", "number", "sides"],
    "conv bias": ["true", "false"],
    "conv groups": [1, "some", "each"],
    "linear bias": ["true", "false"],
    "upconv kernel": [1, 2, 3, 4, "per axis"],
    "upconv stride": [1, 2, 3],
    "upconv padding": [0, 1],
    "upconv output_padding": [0, 1],
    "upconv bias": ["true", "false"],
    "leaky_relu slope": [None, 0, 0.3],
    "max_pool kernel": [2, 3, "per axis"],
    "max_pool stride": [1, 2, 3],
    "max_pool padding": [0, 1],
    "max_pool dilation": [1, 2],
    "max_pool ceil": ["false", "true"],
    "avg_pool kernel": [2, 3, "per axis"],
    "avg_pool stride": [1, 2, 3],
    "avg_pool padding": [0, 1],
    "avg_pool count_include_pad": ["true", "false"],
    "resize mode": ["nearest", "nearest_exact", "bilinear", "corners"],
    "resize to": [2, "1/2", "3/2", "per axis", "like"],
    "match": ["crop", "pad", "replicate"],
    "product": ["same", "itself", "channels", "map", "map first"],
    "number": ["2 * {0}", "{0} / 3", "1 - {0}", "{0} + 0.5", "-{0}"],
    "adaptive_avg_pool size": [1, 2, "per axis"],
    "chunk": [1, 2, 3],
    "reader of a concat": ["conv", "upconv", "max_pool", "avg_pool", "resize", "match", "product", "adaptive_avg_pool", "relu", "leaky_relu", "sigmoid", "silu", "softmax",
                           "pixel_shuffle", "add", "batch_norm", "instance_norm", "group_norm", "layer_norm", "scale",
                           "prelu", "max_unpool"],
    "part of a concat": ["input", "twice", "concat"],
    "instance_norm affine": ["true", "false"],
    "group_norm groups": ["one", "some", "all"],
    "prelu slopes": ["one", "each"],
    "add": ["two", "itself"],
    "layer": ["conv", "upconv"],
}
STEPS = ["conv", "conv", "linear", "relu", "leaky_relu", "sigmoid", "silu", "upconv", "max_pool", "avg_pool", "concat", "add", "layer",
         "resize", "match", "product", "number", "subtract", "channel_mean", "channel_max", "adaptive_avg_pool",
         "chunk", "tanh", "gelu", "elu", "softmax", "pixel_shuffle", "pixel_unshuffle", "dropout",
         "dropout_channels", "batch_norm", "instance_norm", "group_norm", "layer_norm", "scale", "prelu", "max_unpool"]


class Draw:
    """Random choices that prefer what was chosen least so far."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.uses = collections.Counter()

    def pick(self, feature, values=None):
        """Counts as used only when the net says so."""
        values = VALUES[feature] if values is None else values
        return min(values, key=lambda value: (self.uses[feature, value], self.random.random()))


class Tensor:
    def __init__(self, name, channels, size):
        self.name, self.channels, self.size = name, channels, size


class Net:
    """Grows statement by statement; a step that would make a map too small or too large is not taken."""

    def __init__(self, draw, axes):
        self.draw, self.random, self.axes = draw, draw.random, axes
        self.lines, self.settings, self.names, self.features = [], [], itertools.count(), set()
        size = tuple(self.random.randint(*{1: (12, 24), 2: (7, 12), 3: (3, 6)}[axes]) for _ in range(axes))
        self.input = Tensor("photo", 3 if axes == 2 else 2, size)
        self.x = self.input
        self.kind = {1: "signal", 2: "image", 3: "volume"}[axes]
        self.seen("axes", axes)
        self.seen("valid samples", draw.pick("valid samples"))

    def seen(self, feature, value):
        self.draw.uses[feature, value] += 1
        self.features.add((feature, value))

    def write(self, expression, channels, size):
        tensor = Tensor("t%d" % next(self.names), channels, tuple(size))
        self.lines.append("%s = %s" % (tensor.name, expression))
        return tensor

    def per_axis(self, value, others):
        """VALUE for all axes, or different ones; as a list and as written."""
        if value != "per axis":
            return [value] * self.axes, str(value)
        values = [self.random.choice(others) for _ in range(self.axes)]
        return values, str(values)

    def fits(self, size):
        return all(1 <= n <= LARGEST[self.axes] for n in size)

    # ---- operators --------------------------------------------------------------------------------

    def conv_arguments(self, x):
        """(arguments as written, kernel, size afterwards, features), or None if it does not fit."""
        pick = self.draw.pick
        features = {name: pick("conv " + name) for name in ("kernel", "stride", "dilation", "padding", "bias")}
        kernel, kernel_text = self.per_axis(features["kernel"], [1, 2, 3])
        stride, stride_text = self.per_axis(features["stride"], [1, 2])
        dilation = [features["dilation"]] * self.axes
        sides, padding = self.conv_padding(features["padding"], kernel, dilation)
        room = [n + sum(p) - d * (k - 1) - 1 for n, p, d, k in zip(x.size, sides, dilation, kernel)]
        size = tuple(r // s + 1 if r >= 0 else 0 for r, s in zip(room, stride))
        if not self.fits(size):
            return None
        return ("%s, stride = %s, dilation = %d, padding = %s, bias = %s" %
                (kernel_text, stride_text, dilation[0], padding, features["bias"]), kernel, size, features)

    def conv_padding(self, kind, kernel, dilation):
        if kind == "same":
            total = [d * (k - 1) for k, d in zip(kernel, dilation)]
            return [(t // 2, t - t // 2) for t in total], '"same"'
        if kind == "valid":
            return [(0, 0)] * self.axes, '"valid"'
        if kind == "number":
            number = self.random.randint(1, 2)
            return [(number, number)] * self.axes, str(number)
        sides = [[self.random.randint(0, 2), self.random.randint(0, 2)] for _ in range(self.axes)]
        return sides, str(sides)

    def conv(self, x):
        drawn = self.conv_arguments(x)
        if drawn is None:
            return None
        arguments, kernel, size, features = drawn
        for name, value in features.items():
            self.seen("conv " + name, value)
        channels = self.channels(x, kernel, size)
        kind = self.draw.pick("conv groups")
        groups = {1: 1, "each": x.channels}.get(kind) or max(g for g in range(1, x.channels + 1) if x.channels % g == 0 and g < max(x.channels, 2))
        if groups > 1:
            self.seen("conv groups", kind)
            channels = groups * self.random.choice([1, 1, 2])
            arguments += ", groups = %d" % groups
        else:
            self.seen("conv groups", 1)
        return self.write("conv(%s, %d, %s)" % (x.name, channels, arguments), channels, size)

    def upconv(self, x):
        pick = self.draw.pick
        features = {name: pick("upconv " + name) for name in ("kernel", "stride", "padding", "bias")}
        features["output_padding"] = pick("upconv output_padding", [n for n in (0, 1) if n < features["stride"]])
        kernel, text = self.per_axis(features["kernel"], [1, 2, 3])
        size = [(n - 1) * features["stride"] + k - 2 * features["padding"] + features["output_padding"]
                for n, k in zip(x.size, kernel)]
        if not self.fits(size) or min(size) < 2:
            return None
        for name, value in features.items():
            self.seen("upconv " + name, value)
        channels = self.channels(x, kernel, x.size)
        return self.write("upconv(%s, %d, %s, stride = %d, padding = %d, output_padding = %d, bias = %s)" %
                          (x.name, channels, text, features["stride"], features["padding"],
                           features["output_padding"], features["bias"]), channels, size)

    def pool(self, kind, x, names):
        features = {name: self.draw.pick("%s %s" % (kind, name)) for name in names}
        kernel, text = self.per_axis(features["kernel"], [2, 3])
        room = [n + 2 * features["padding"] - k for n, k in zip(x.size, kernel)]
        if min(room) < 0:
            return None
        for name, value in features.items():
            self.seen("%s %s" % (kind, name), value)
        more = "".join(", %s = %s" % (name, features[name]) for name in names[1:])
        return self.write("%s(%s, %s%s)" % (kind, x.name, text, more), x.channels,
                          [r // features["stride"] + 1 for r in room])

    def max_pool(self, x):
        names = ("kernel", "stride", "padding", "dilation", "ceil")
        features = {name: self.draw.pick("max_pool " + name) for name in names}
        kernel, text = self.per_axis(features["kernel"], [2, 3])
        stride, padding = features["stride"], features["padding"]
        room = [n + 2 * padding - features["dilation"] * (k - 1) - 1 for n, k in zip(x.size, kernel)]
        if min(room) < 0:
            return None
        for name, value in features.items():
            self.seen("max_pool " + name, value)
        last = [-(-r // stride) if features["ceil"] == "true" else r // stride for r in room]
        size = [m + (m * stride < n + padding) for m, n in zip(last, x.size)]
        return self.write("max_pool(%s, %s, stride = %d, padding = %d, dilation = %d, ceil = %s)" %
                          (x.name, text, stride, padding, features["dilation"], features["ceil"]), x.channels, size)

    def avg_pool(self, x):
        return self.pool("avg_pool", x, ("kernel", "stride", "padding", "count_include_pad"))

    def linear(self, x):
        bias, channels = self.draw.pick("linear bias"), self.random.choice(CHANNELS)
        self.seen("linear bias", bias)
        return self.write("linear(%s, %d, bias = %s)" % (x.name, channels, bias), channels, x.size)

    def tanh(self, x):
        return self.write("tanh(%s)" % x.name, x.channels, x.size)

    def gelu(self, x):
        return self.write("gelu(%s)" % x.name, x.channels, x.size)

    def elu(self, x):
        return self.write("elu(%s)" % x.name, x.channels, x.size)

    def softmax(self, x):
        return self.write("softmax(%s)" % x.name, x.channels, x.size)

    def dropout(self, x):
        return self.write("dropout(%s, %g)" % (x.name, self.random.choice([0.1, 0.3])), x.channels, x.size)

    def dropout_channels(self, x):
        wide = self.side(x, 5)
        return self.write("dropout_channels(%s, 0.3)" % wide.name, 5, x.size)

    def pixel_shuffle(self, x):
        size = [2 * n for n in x.size]
        if self.axes != 2 or not self.fits(size):
            return None
        many = x if x.channels % 4 == 0 else self.side(x, 4 * (1 + x.channels // 8))
        return self.write("pixel_shuffle(%s, 2)" % many.name, many.channels // 4, size)

    def pixel_unshuffle(self, x):
        if self.axes != 2 or x.channels > 4:
            return None
        even = x if all(n % 2 == 0 for n in x.size) else self.write(
            "conv(%s, %d, 1, padding = %s)" % (x.name, x.channels, [[0, n % 2] for n in x.size]), x.channels, [n + n % 2 for n in x.size])
        return self.write("pixel_unshuffle(%s, 2)" % even.name, 4 * x.channels, [n // 2 for n in even.size])

    def product(self, x):
        how = self.draw.pick("product")
        self.seen("product", how)
        if how == "same":
            return self.write("%s * %s" % (x.name, self.side(x, x.channels).name), x.channels, x.size)
        if how == "itself":
            return self.write("%s * %s" % (x.name, x.name), x.channels, x.size)
        if how == "channels":
            one = self.write("conv(adaptive_avg_pool(%s, 1), %d, 1)" % (x.name, x.channels), x.channels, [1] * self.axes)
            return self.write("%s * sigmoid(%s)" % (x.name, one.name), x.channels, x.size)
        factors = (x.name, self.side(x, 1).name)
        return self.write("%s * %s" % (factors if how == "map" else factors[::-1]), x.channels, x.size)

    def number(self, x):
        how = self.draw.pick("number")
        self.seen("number", how)
        return self.write(how.format(x.name), x.channels, x.size)

    def subtract(self, x):
        return self.write("%s - %s" % (x.name, self.side(x, x.channels).name), x.channels, x.size)

    def across(self, kind, x):
        """A map of one channel, and something beside it."""
        one = self.write("%s(%s)" % (kind, x.name), 1, x.size)
        return self.write("concat(%s, %s)" % (one.name, self.side(x, 2).name), 3, x.size)

    def channel_mean(self, x):
        return self.across("channel_mean", x)

    def channel_max(self, x):
        return self.across("channel_max", x)

    def adaptive_avg_pool(self, x):
        drawn = self.draw.pick("adaptive_avg_pool size")
        size, text = self.per_axis(drawn, [1, 2, 3])
        if any(s > n for s, n in zip(size, x.size)):
            return None
        self.seen("adaptive_avg_pool size", drawn)
        pooled = self.write("adaptive_avg_pool(%s, %s)" % (x.name, text), x.channels, size)
        larger = [self.random.randint(4, 6) for _ in x.size]
        return self.write("resize(%s, scale = %s)" % (pooled.name, larger), x.channels, [n * s for n, s in zip(size, larger)])

    def chunk(self, x):
        n = self.draw.pick("chunk")
        self.seen("chunk", n)
        whole = self.side(x, 2 * n)
        self.lines.append("parts = chunk(%s, %d)" % (whole.name, n))
        return self.write(" + ".join("%s(parts[%d])" % (self.random.choice(["relu", "sigmoid", "2 * "]), i) for i in range(n)), 2, x.size)

    def of_size(self, x, size):
        """A tensor made from X that others are made as large as."""
        kernel = [max(1, n - m + 1) for m, n in zip(size, x.size)]
        sides = [[0, max(0, m - n)] for m, n in zip(size, x.size)]
        return self.write("conv(%s, 1, %s, padding = %s)" % (x.name, kernel, sides), 1, size)

    def resize(self, x):
        mode, to = self.draw.pick("resize mode"), self.draw.pick("resize to")
        how = ', mode = "bilinear", align_corners = true' if mode == "corners" else ', mode = "%s"' % mode
        scale = [fractions.Fraction(self.random.choice(["2", "1/2", "1", "4/3"])) if to == "per axis" else
                 fractions.Fraction(to if to != "like" else 1) for _ in x.size]
        size = [int(n * s) for n, s in zip(x.size, scale)]
        if not self.fits(size):
            return None
        self.seen("resize mode", mode)
        self.seen("resize to", to)
        if to == "like":
            like = self.of_size(x, [self.random.randint(max(1, n - 2), max(n, min(LARGEST[self.axes], n + 3))) for n in x.size])
            return self.write("concat(resize(%s, like = %s%s), %s)" % (x.name, like.name, how, like.name), x.channels + 1,
                              like.size)
        text = "[%s]" % ", ".join(map(str, scale)) if to == "per axis" else to
        return self.write("resize(%s, scale = %s%s)" % (x.name, text, how), x.channels, size)

    def match(self, x):
        how = self.draw.pick("match")
        size = [self.random.randint(*((max(1, n - 3), n) if how == "crop" else (n, max(n, min(LARGEST[self.axes], n + 3)))))
                for n in x.size]
        if size == list(x.size):
            return None
        self.seen("match", how)
        like = self.of_size(x, size)
        return self.write('concat(match(%s, %s, "%s"), %s)' % (x.name, like.name, how, like.name), x.channels + 1, size)

    def relu(self, x):
        return self.write("relu(%s)" % x.name, x.channels, x.size)

    def leaky_relu(self, x):
        slope = self.draw.pick("leaky_relu slope")
        self.seen("leaky_relu slope", slope)
        return self.write("leaky_relu(%s%s)" % (x.name, "" if slope is None else ", slope = %g" % slope), x.channels,
                          x.size)

    def sigmoid(self, x):
        return self.write("sigmoid(%s)" % x.name, x.channels, x.size)

    def silu(self, x):
        return self.write("silu(%s)" % x.name, x.channels, x.size)

    # What is normalised goes through a sigmoid first: a bias in front of the mean has no gradient but rounding, nor has
    # what a normalisation of one channel, or of a tensor that was normalised, makes of a factor.

    def batch_norm(self, x):
        return self.write("batch_norm(sigmoid(%s), eps = 0.01)" % x.name, x.channels, x.size)

    def instance_norm(self, x):
        affine = self.draw.pick("instance_norm affine")
        if math.prod(x.size) == 1:
            return None
        self.seen("instance_norm affine", affine)
        return self.write("instance_norm(silu(%s), eps = 0.01, affine = %s)" % (x.name, affine), x.channels, x.size)

    def group_norm(self, x):
        kind = self.draw.pick("group_norm groups")
        divisors = [g for g in range(1, x.channels) if x.channels % g == 0]
        groups = {"one": 1, "all": x.channels}.get(kind) or (divisors or [1])[-1]
        if math.prod(x.size) * x.channels == groups:
            return None
        self.seen("group_norm groups", kind)
        return self.write("group_norm(silu(%s), %d, eps = 0.01)" % (x.name, groups), x.channels, x.size)

    def layer_norm(self, x):
        wide = x if x.channels > 2 else self.side(x, 4)
        return self.write("layer_norm(silu(%s), eps = 0.01)" % wide.name, wide.channels, x.size)

    def scale(self, x):
        return self.write("scale(%s, init = 0.7)" % x.name, x.channels, x.size)

    def prelu(self, x):
        slopes = self.draw.pick("prelu slopes")
        self.seen("prelu slopes", slopes)
        return self.write("prelu(%s, %d, init = 0.4)" % (x.name, 1 if slopes == "one" else x.channels), x.channels, x.size)

    def max_unpool(self, x):
        """Brings what was made of the maxima back."""
        if min(x.size) < 2:
            return None
        pooled = self.write("max_pool(%s)" % x.name, x.channels, [n // 2 for n in x.size])
        small = self.side(pooled, x.channels)
        return self.write("max_unpool(%s, like = %s)" % (small.name, x.name), x.channels, x.size)

    def channels(self, x, kernel, points):
        """A number of channels that X can be convolved to."""
        products = x.channels * math.prod(kernel) * math.prod(points)
        return self.random.choice([c for c in CHANNELS if c * products <= WORK] or [1])

    def side(self, x, channels=None):
        """Another tensor of the size of X."""
        kernel = self.random.choice([1, 3])
        channels = self.channels(x, [kernel] * self.axes, x.size) if channels is None else channels
        return self.write("conv(%s, %d, %d)" % (x.name, channels, kernel), channels, x.size)

    def add(self, x):
        how = self.draw.pick("add")
        self.seen("add", how)
        other = x if how == "itself" else self.side(x, x.channels)
        return self.write("%s + %s" % (x.name, other.name), x.channels, x.size)

    def layer(self, x):
        """One set of weights, used twice."""
        if x.channels**2 * 3**self.axes * math.prod(x.size) > WORK:
            return None
        kind = self.draw.pick("layer")
        self.seen("layer", kind)
        name = "shared%d" % next(self.names)
        self.lines.append("layer %s = %s(%d, 3%s)" %
                          (name, kind, x.channels, "" if kind == "conv" else ", stride = 1, padding = 1"))
        once = self.relu(self.write("%s(%s)" % (name, x.name), x.channels, x.size))
        return self.write("%s(%s)" % (name, once.name), x.channels, x.size)

    def concat(self, x):
        part = "input" if x.size == self.input.size else self.draw.pick("part of a concat", ["twice", "concat"])
        self.seen("part of a concat", part)
        other = self.side(x)
        last = self.input if part == "input" else other
        channels = x.channels + other.channels + last.channels
        if part == "concat":
            inner = self.write("concat(%s, %s)" % (other.name, last.name), other.channels + last.channels, x.size)
            whole = self.write("concat(%s, %s)" % (x.name, inner.name), channels, x.size)
        else:
            whole = self.write("concat(%s, %s, %s)" % (x.name, other.name, last.name), channels, x.size)
        left, read = list(VALUES["reader of a concat"]), None
        while left and read is None:  # some do not fit what there is
            reader = self.draw.pick("reader of a concat", left)
            left.remove(reader)
            read = self.add(whole) if reader == "add" else getattr(self, reader)(whole)
        self.seen("reader of a concat", reader)
        return self.side(whole if read is None else read)

    # ---- the whole --------------------------------------------------------------------------------

    def grow(self, steps):
        self.x = self.side(self.x)
        for _ in range(steps):
            step = self.draw.pick("step", STEPS)
            grown = getattr(self, step)(self.x)
            self.draw.uses["step", step] += {"concat": 0.25, "conv": 0.5, "upconv": 0.5}.get(step, 1)  # with much to try
            self.x = self.x if grown is None else grown
        self.lines.append("output answer = conv(%s, 2, %d)" % (self.x.name, self.random.choice([1, 3])))

    def losses(self):
        loss = self.draw.pick("loss")
        names = [loss] if self.random.random() < 0.5 else VALUES["loss"]
        for name in names:
            self.seen("loss", name)
        kind = "loss over classes"  # in turn, so that all else is drawn as if there were none
        over_classes = min(VALUES[kind], key=lambda value: self.draw.uses[kind, value]) if self.axes == 2 else None
        if self.axes == 2:
            self.seen("loss over classes", over_classes)
        return ["    loss %g * %s(answer, truth)" % (self.random.choice([0.25, 1, 3]), name) for name in names] + (
            ["    loss 0.7 * " + over_classes] if over_classes else [])

    def text(self):
        head = ["input  photo : %s(%s)" % (self.kind, ", ".join(map(str, (self.input.channels,) + self.input.size))),
                "target truth : %s(%s)" % (self.kind, ", ".join(map(str, (2,) + self.x.size)))]
        losses = self.losses()
        for head_name, target, classes, channels in (("classes", "seen", 3, 3), ("single", "marked", 2, 1)):
            if any(target + ")" in loss or target + "," in loss for loss in losses):
                head.append("target %s : labels(%s)" % (target, ", ".join(map(str, (classes,) + self.x.size))))
                self.lines.append("%s = conv(%s, %d, 1)" % (head_name, self.x.name, channels))
        tail = ["", "train {"] + losses + ["    metric l1(answer, truth)"] + ["    optimizer sgd(lr = 0.1)", *self.settings, "    batch %d" % BATCH, "    steps 1", "}"]
        return "\n".join(head + self.lines + tail) + "\n"


def execute(command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode:
        raise SystemExit("%s: exit code %d\n%s" % (" ".join(command), result.returncode,
                                                    result.stderr.decode(errors="replace")[-3000:]))
    return result.stdout.decode()


def operators(plan):
    """The operators of all steps of training, and the offset of each gradient by the name of its parameter."""
    steps = plan["programs"]["train"]
    buffers = {buffer["id"]: buffer for buffer in plan["buffers"]}
    update = next(step for step in steps if step["op"] == "sgd")
    offsets = {buffer["name"]: buffer["offset"] for buffer in map(buffers.get, update["reads"])}
    return {step["op"] for step in steps}, offsets


def level(work):
    """How much to optimise where each gradient takes about half a dozen steps; a step gives the same bits at any level, and -O2 compiles
    for longer than it saves."""
    return "-O0" if work < SMALL_WORK else "-O1"


def compiled(options, folder, file):
    """The program that compares, its arguments for the offsets of the gradients, and the operators of the net."""
    flags = ["--keep-gradients", "--precision=f64", "--kernels=reference", "--programs=train"]
    execute([options.unetc, "-S", folder] + flags + [file])
    plan = json.loads(execute([options.unetc, "mem", "--format=json"] + flags + [file]))
    graph = execute([options.unetc, "--emit=graph", file])
    used, offsets = operators(plan)
    used |= set(re.findall(r"^ *\d+ +line \d+ +(\w+)", graph, re.M))
    program = os.path.join(folder, "differences")
    flags = ["-std=gnu11", "-D_POSIX_C_SOURCE=200809L", level(plan["cost"]["flops"] * len(offsets)), "-fopenmp", "-ffp-contract=off", "-I" + folder,
             "-I" + os.path.join(ROOT, "runtime", "include"), '-DMODEL_HEADER="net.h"', "-DMODEL=net_model"]
    files = [os.path.join(HERE, "differences.c"), os.path.join(ROOT, "runtime", "library", "labels.c"), *emitted.sources(folder)]
    emitted.program(execute, flags, files, ["-lm"], program)
    with open(os.path.join(folder, "net.c")) as source:
        names = re.findall(r"^    \{\"([^\"]+)\", \d, \{", source.read(), re.M)
    return program, [str(offsets.get("d " + name, -1)) for name in names], used  # running statistics have none


class Verdict:
    """What differences.c found for one net."""

    def __init__(self, used, lines):
        self.used, self.complaints, self.worst, self.tensors, self.dead = used, [], 0, len(lines), False
        for name, accepted, length, error in map(str.split, lines):
            if int(accepted) == 0:
                self.complaints.append("%s: every direction crosses a kink" % name)
            elif not float(error) <= TOLERANCE:
                self.complaints.append("%s: off by %s" % (name, error))
            self.dead |= float(length) == 0
            self.worst = max(self.worst, float(error))


def check(options, number, net, text):
    valid = BATCH if ("valid samples", "all") in net.features else BATCH - 1
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "net.unet")
        with open(file, "w") as out:
            out.write(text)
        program, offsets, used = compiled(options, folder, file)
        verdict = Verdict(used, execute([program, str(options.seed + number), str(valid)] + offsets).splitlines())
    for complaint in verdict.complaints:
        print("net %d: %s" % (number, complaint))
    if verdict.complaints and options.keep:
        with open(os.path.join(options.keep, "net%d.unet" % number), "w") as out:
            out.write(text)
    return verdict


def required_operators():
    """Those with a gradient rule, and those that the rules append."""
    with open(os.path.join(ROOT, "compiler", "ir", "ops.def")) as table:
        rows = re.findall(r"^OP\(\w+, *\"(\w+)\",(.*?)\)\n(?=OP|\Z)", table.read(), re.M | re.S)
    required = set()
    for name, rest in rows:
        columns = re.sub(r"\"[^\"]*\"", "", rest).split(",")  # signature, build, operands, attributes, traits, gradient, ...
        if columns[5].strip() != "none" or name.endswith("grad") or name == "slice":
            required.add(name)
    return required


def grouped_net(seed):
    """Convolutions in groups, of a few channels and of one, and transposed ones; it has no kinks."""
    net = Net(Draw(seed), 2)
    half = [(n + 1) // 2 for n in net.input.size]
    for expression, channels, size in (("conv(photo, 4, 3)", 4, net.input.size),
                                       ("conv(silu(t0), 8, 3, stride = 2, groups = 4)", 8, half),
                                       ("conv(silu(t1), 8, [1, 3], dilation = 2, groups = 8, bias = false)", 8, half),
                                       ("conv(silu(t2), 6, [3, 2], groups = 2)", 6, half),
                                       ("upconv(silu(t3), 9, groups = 3)", 9, [2 * n for n in half]),
                                       ("upconv(silu(t4), 8, 3, stride = 1, padding = 1, groups = 1)", 8, [2 * n for n in half]),
                                       ("upconv(silu(t5), 8, 3, stride = 1, padding = 1, groups = 8, bias = false)", 8,
                                        [2 * n for n in half])):
        net.x = net.write(expression, channels, size)
    net.lines.append("output answer = conv(silu(%s), 2, 1, groups = 2)" % net.x.name)
    return net


FUNCTIONS = ["sqrt(abs({0}) + 0.1)", "exp(tanh({0}))", "log(square({0}) + 0.5)", "sin({0})", "cos({0})", "2 / (1 + square({0}))",
             "clamp({0}, min = -0.3)", "clamp({0}, max = 0.4)", "clamp({0}, -0.4, 0.6)", "relu6(4 * {0} + 3)", "hard_sigmoid(5 * {0})",
             "hard_swish(5 * {0})", "selu({0})", "elu({0}, alpha = 0.5)", "softplus({0}, beta = 2)",
             "softplus({0}, threshold = -4)", "mish({0})", "gelu({0}, tanh = true)"]


def functions_net(seed):
    """Functions of each number, side by side."""
    net = Net(Draw(seed), 2)
    x = net.write("conv(photo, 3, 3)", 3, net.input.size)
    parts = [net.write(function.format(x.name), 3, x.size) for function in FUNCTIONS]
    net.lines.append("output answer = conv(concat(%s), 2, 1)" % ", ".join(part.name for part in parts))
    return net


def arithmetic_net(seed, axes):
    """Arithmetic of two tensors: one has an axis of 1, or each has another one."""
    net = Net(Draw(seed), axes)
    x = net.write("conv(photo, 4, 3)", 4, net.input.size)
    shapes = [[1] * axes, [1] * (axes - 1) + [x.size[-1]], list(x.size[:-1]) + [1], [1] + list(x.size[1:-1]) + [1]]
    few = [net.write("adaptive_avg_pool(sin(%s), [%s])" % (x.name, ", ".join(map(str, shape))), 4, shape) for shape in shapes]
    few += [net.write("channel_mean(%s)" % part.name, 1, part.size) for part in (x, few[0], few[1])]
    parts = []
    for i, part in enumerate(few):
        for form in ("{0} + {1}", "{1} - {0}", "{0} * {1}", "{1} / (2 + square({0}))", "{0} / (2 + square({1}))",
                     "maximum({0}, {1})", "minimum({1}, {0})"):
            other = few[(i + 3) % len(few)] if form in ("{0} + {1}", "{0} * {1}") else x
            parts.append(net.write(form.format(part.name, other.name), 4, x.size))
    net.lines.append("output answer = conv(concat(%s), 2, 1)" % ", ".join("0.5 * %s + %s" % (x.name, part.name) for part in parts))
    return net


def attention_net(seed, axes):
    """Queries, keys and values of one tensor and of several; keys of other points; a concat."""
    net = Net(Draw(seed), axes)
    net.input.size = tuple(min(extent, 5) for extent in net.input.size)
    x = net.write("silu(conv(photo, 6, 3))", 6, net.input.size)
    few = net.write("conv(%s, 6, 2, stride = 2)" % x.name, 6, [(extent + 1) // 2 for extent in x.size])
    net.lines.append("q, k, v = chunk(linear(%s, 18), 3)" % x.name)
    def pairs(heads, keys):
        of_both = [math.prod(x.size), math.prod(keys.size)]
        return "parameter(%d, init = 0.3, size = %s)" % (heads, list([math.prod(of_both)] if axes == 1 else [1] * (axes - 2) + of_both))

    net.lines.append("pairs = %s * sin(%s)" % (pairs(3, x), pairs(1, x)))
    parts = [net.write(call, channels, x.size) for call, channels in (
        ("attention(q, k, v, heads = 3, bias = pairs)", 6), ("attention(%s, %s, %s, causal = true)" % (x.name, x.name, x.name), 6),
        ("attention(q, %s, concat(%s, sin(%s)), heads = 2, scale = 0.7, bias = %s)" % (few.name, few.name, few.name, pairs(2, few)), 12),
        ("attention(photo, photo, k, causal = true)", 6))]
    net.lines.append("output answer = conv(concat(%s), 2, 1)" % ", ".join(part.name for part in parts))
    return net


def channel_attention_net(seed, axes):
    """Attention over channels, with a temperature of its own and one that is made, normalised or not; a concat."""
    net = Net(Draw(seed), axes)
    net.input.size = tuple(min(extent, 5) for extent in net.input.size)
    x = net.write("silu(conv(photo, 6, 3))", 6, net.input.size)
    net.lines += ["q, k, v = chunk(linear(%s, 18), 3)" % x.name, "heat = parameter(3, init = 1.5)",
                  "made = exp(adaptive_avg_pool(conv(%s, 2, 1), 1))" % x.name, "few = conv(%s, 6, 2, stride = 1, padding = 0)" % x.name]
    parts = [net.write(call, channels, x.size) for call, channels in (
        ("channel_attention(q, k, v, heads = 3, temperature = heat)", 6),
        ("channel_attention(concat(v, q), k, q, heads = 2, temperature = made, scale = 0.7)", 12),
        ("channel_attention({0}, {0}, {0}, normalize = false, scale = 0.1)".format(x.name), 6),
        ("channel_attention(conv(photo, 3, 1), concat(k, v), concat(v, q), heads = 3, temperature = heat)", 3),
        ("linear_attention(softmax(q, 3), softmax(k, over = \"points\"), conv(photo, 9, 1), heads = 3, scale = 0.4)", 9),
        ("linear_attention(q, few, sin(few), heads = 2, scale = 0.1)", 6))]
    net.lines.append("output answer = conv(concat(%s), 2, 1)" % ", ".join(part.name for part in parts))
    return net


def lengths_net(seed, axes):
    """Groups of channels by their lengths, longer than epsilon and shorter; softmax of groups, and over the points; a concat."""
    net = Net(Draw(seed), axes)
    net.input.size = tuple(min(extent, 5) for extent in net.input.size)
    x = net.write("silu(conv(photo, 12, 3))", 12, net.input.size)
    parts = [net.write(call, channels, x.size) for call, channels in (
        ("normalize({0})", 12), ("normalize({0}, groups = 3)", 12), ("normalize({0}, 4, eps = 0.9)", 12), ("rms_norm({0}, eps = 0.01)", 12),
        ("softmax(3 * {0}, groups = 4)", 12), ("softmax(3 * {0}, over = \"points\")", 12),
        ("softmax(normalize(concat({0}, photo), eps = 0.01), 1, over = \"points\")", 12 + net.input.channels))
        for call in [call.format(x.name)]]
    net.lines.append("output answer = conv(concat(%s), 2, 1)" % ", ".join(part.name for part in parts))
    return net


def slopes_net(seed, axes):
    """Learnt slopes behind each normalisation, whose gradients take those of the slopes."""
    net = Net(Draw(seed), axes)
    x = net.write("silu(conv(photo, 4, 3))", 4, net.input.size)
    parts = []
    for norm in ("batch_norm(%s, eps = 0.01)", "instance_norm(%s, eps = 0.01, affine = false)",
                 "instance_norm(%s, eps = 0.01, affine = true)", "group_norm(%s, 2, eps = 0.01)"):
        for slopes in (1, 4):
            normal = net.write(norm % x.name, 4, x.size)
            parts.append(net.write("prelu(%s, %d, init = 0.4)" % (normal.name, slopes), 4, x.size))
    net.lines.append("output answer = conv(concat(%s), 2, 1)" % ", ".join(part.name for part in parts))
    return net


def signs_net(seed, axes):
    """Activations whose signs wait in codes, which are exact, while all else does not wait in codes."""
    net = Net(Draw(seed), axes)
    net.settings = ["    compress 8, except = [\"a*\", \"b\", \"c\"]"]
    size, parts = net.input.size, []
    net.lines += ["a = conv(photo, 8, 3)", "a1 = silu(a)", "b = conv(a1, 7, 3)", "c = conv(a1, 18, 1)", "y = relu(b)",
                  "z = leaky_relu(c, slope = 0.3)"]
    for name in "yz":
        parts.append(net.write("channel_mean(%s)" % name, 1, size))
    net.x = parts[0]
    net.lines.append("output answer = conv(concat(%s), 2, 3)" % ", ".join(part.name for part in parts))
    return net


def windows_net(seed, axes):
    """Attention in windows: rolled maps, a bias of two calls, a bias that other operators make, a window that is the map."""
    net, draw = Net(Draw(seed), axes), random.Random(seed)
    window = [draw.randint(1, 3) for _ in range(axes)]
    net.input.size = tuple(extent * draw.randint(1, 2 if axes == 3 else 3) for extent in window)
    shift = [draw.randrange(extent) for extent in window]
    listed = lambda sizes: "[%s]" % ", ".join(map(str, sizes))
    x = net.write("silu(conv(photo, 6, 3))", 6, net.input.size)
    net.lines += ["q, k, v = chunk(linear(%s, 18), 3)" % x.name, "table = relative_bias(3, %s)" % listed(window),
                  "made = tanh(linear(table, 2))"]
    parts = [net.write(call, channels, x.size) for call, channels in (
        ("attention(q, k, v, heads = 3, window = %s, shift = %s, bias = table)" % (listed(window), listed(shift)), 6),
        ("attention(%s, 2 * k, concat(v, q), heads = 3, scale = 0.7, window = %s, bias = table)" % (x.name, listed(window)), 12),
        ("attention(v, k, q, heads = 2, window = %s, shift = %s, bias = made)" % (listed(window), listed(extent // 2 for extent in window)), 6),
        ("attention(q, k, v, window = %s, bias = relative_bias(1, %s))" % (listed(x.size), listed(x.size)), 6),
        ("attention(k, q, v, window = %s, shift = %s)" % (listed(window), listed(shift)), 6))]
    net.lines.append("output answer = conv(concat(%s), 2, 1)" % ", ".join(part.name for part in parts))
    return net


def given_net(seed):
    """Tensors that no other tensor makes."""
    net = Net(Draw(seed), 2)
    x = net.write("conv(photo, 3, 3) + parameter(3, init = 0.3, size = [%d, %d])" % tuple(net.input.size), 3, net.input.size)
    y = net.write("silu(%s) * parameter(3, init = 0.7) + constant([0.5, -1, 2]) / 3" % x.name, 3, x.size)
    z = net.write("%s * crop(relative_bias(3, [%d, %d]), [1, 0], [%d, %d])" % (y.name, *net.input.size, *net.input.size), 3, x.size)
    z = net.write("%s + positions(%s)" % (z.name, z.name), 3, x.size)
    net.lines.append("output answer = conv(%s - parameter(1, init = 0.1), 2, 1)" % z.name)
    return net


def waves_net(seed, axes):
    """Sines and cosines of numbers that the net makes, of all points and of one, and rows of a table."""
    net = Net(Draw(seed), axes)
    x = net.write("conv(photo, 1, 3)", 1, net.input.size)
    point = net.write("adaptive_avg_pool(%s, 1)" % x.name, 1, [1] * axes)
    waves = net.write("sinusoid(%s, 18, max_period = 30, scale = 4)" % x.name, 18, x.size)
    turned = net.write('sinusoid(%s, 6, max_period = 100, order = "cos sin", shift = 1)' % x.name, 6, x.size)
    one = net.write("linear(sinusoid(%s, 4, shift = 0.5, scale = -2), 6)" % point.name, 6, point.size)
    rows = net.write("embedding(5 * channel_mean(photo), 4, 6)", 6, net.input.size)  # the numbers follow from no weight
    net.lines.append("output answer = conv(concat(%s, %s * %s, %s), 2, 1)" % (waves.name, turned.name, one.name, rows.name))
    return net


def rearranged(net, x):
    """The axes of X turned, and turned back; then its points as channels, its channels as points, and back."""
    names, ones = "dhw"[-len(x.size):], "1 " * (len(x.size) - 1)
    turn = "c %s -> c %s" % (" ".join(names), " ".join(reversed(names)))
    turned = net.write('rearrange(%s, "%s")' % (x.name, turn), x.channels, x.size[::-1])
    back = net.write('rearrange(silu(conv(%s, 4, 3)), "(a=2 c) %s -> (c a) %s")' % (turned.name, *map(" ".join, (names, names[::-1]))), 4, x.size)
    tokens = net.write('rearrange(%s, "c %s -> (%s) %sc")' % (back.name, *map(" ".join, (names, names)), ones),
                       math.prod(x.size), [1] * (len(x.size) - 1) + [4])
    mixed = net.write("conv(%s, %d, 3)" % (tokens.name, tokens.channels), tokens.channels, tokens.size)
    sized = " ".join("%s=%d" % item for item in zip(names, x.size))
    return net.write('rearrange(silu(%s), "(%s) %sc -> c %s")' % (mixed.name, sized, ones, " ".join(names)), 4, x.size)


def bordered_net(seed, axes):
    """Points around a tensor, fewer points of it, and other orders."""
    net = Net(Draw(seed), axes)
    net.input.size = tuple(min(extent, 6) for extent in net.input.size)
    x = net.write("conv(photo, 2, 1)", 2, net.input.size)
    listed = lambda numbers: "[%s]" % ", ".join(map(str, numbers))
    parts = []
    for how in ("zero", "value", "reflect", "replicate", "wrap"):
        sides = [(1, 0), (0, 2), (2, 1)][-axes:]
        larger = [extent + front + back for extent, (front, back) in zip(x.size, sides)]
        part = net.write('pad(%s, %s, how = "%s"%s)' % (x.name, listed(map(list, sides)), how, ", value = 0.5" if how == "value" else ""),
                         2, larger)
        part = net.write("conv(%s, 2, 3)" % part.name, 2, larger)
        parts.append(net.write("crop(%s, %s, %s)" % (part.name, listed([front for front, _ in sides]), listed(x.size)), 2, x.size))
    parts.append(rearranged(net, x))
    rolled = net.write("roll(%s, %s)" % (x.name, listed([-1, 2, 1][-axes:])), 2, x.size)
    flipped = net.write('flip(%s, "%s")' % (rolled.name, "w"), 2, x.size)
    parts += [net.write("conv(%s, 2, 3)" % flipped.name, 2, x.size), rolled]
    net.lines.append("output answer = conv(concat(%s), 2, 1)" % ", ".join(part.name for part in parts))
    return net


class Compared(Net):
    """Losses over images as large as the windows of ssim."""

    def losses(self):
        return ["    loss ssim_loss(answer, truth)", "    loss 0.3 * ssim_loss(answer, truth, range = 4) + smooth_l1(answer, truth, beta = 0.5)",
                "    loss 0.05 * psnr_loss(answer, truth)"]


def compared_net(seed):
    net = Compared(Draw(seed), 2)
    net.input.size = (12, 15)
    net.x = net.write("silu(conv(photo, 4, 3))", 4, net.input.size)
    net.lines.append("output answer = conv(%s, 2, 3)" % net.x.name)
    return net


class Told(Net):
    """The loss of numbers of classes."""

    def losses(self):
        return ["    loss cross_entropy(logits, told)", "    loss 0.3 * cross_entropy(few, told) + 0.1 * mse(answer, truth)"]

    def text(self):
        return super().text().replace("\ntarget truth", "\ntarget told : signal(1)\ntarget truth", 1)


def told_net(seed):
    """A table that two layers share, and one without a bias, which reads two tensors side by side."""
    net = Told(Draw(seed), 1)
    x = net.write("tanh(conv(photo, 5, 3))", 5, net.input.size)
    net.lines += ["layer table = embedding(11, 5)", "read = %s + table(5 * channel_mean(photo))" % x.name,
                  'logits = linear(tanh(read), 11, tied = "table")', "few = linear(concat(read, %s), 3, bias = false)" % x.name,
                  "output answer = conv(read, 2, 1)"]
    return net


def random_nets(options):
    """So many nets; then those of further ones with most features that fewer than two nets had: some nets have no gradients."""
    draw, drawn = Draw(options.seed), []
    for _ in range(20 * options.nets):
        net = Net(draw, draw.pick("axes", [2, 3, 2]))
        net.grow(8)
        drawn.append((len(drawn), net, net.text()))
    nets, further = drawn[:options.nets], drawn[options.nets:]
    rare = {(feature, value) for feature, values in VALUES.items() for value in values}
    had = collections.Counter(feature for _, net, _ in nets for feature in net.features)
    while further:
        rare = {feature for feature in rare if had[feature] < 2}
        best = max(further, key=lambda item: len(item[1].features & rare))
        if not best[1].features & rare:
            break
        nets.append(best)
        further.remove(best)
        had.update(best[1].features)
    return nets


def signal_nets(seed, count):
    """Nets of one axis, which draw by themselves."""
    draw = Draw(seed)
    for _ in range(count):
        net = Net(draw, 1)
        net.grow(8)
        yield net


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unetc", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nets", type=int, default=24)
    parser.add_argument("--keep", help="a folder for the files of nets that fail")
    options = parser.parse_args()
    nets = random_nets(options)
    for net in *signal_nets(options.seed, 6), grouped_net(options.seed), functions_net(options.seed), arithmetic_net(options.seed, 2), \
            arithmetic_net(options.seed, 3), given_net(options.seed), bordered_net(options.seed, 1), bordered_net(options.seed, 2), \
            bordered_net(options.seed, 3), attention_net(options.seed, 1), attention_net(options.seed, 2), attention_net(options.seed, 3), \
            channel_attention_net(options.seed, 2), channel_attention_net(options.seed, 3), \
            lengths_net(options.seed, 1), lengths_net(options.seed, 2), lengths_net(options.seed, 3), \
            windows_net(options.seed, 2), windows_net(options.seed, 3), compared_net(options.seed), \
            waves_net(options.seed, 2), waves_net(options.seed, 3), \
            told_net(options.seed), slopes_net(options.seed, 2), slopes_net(options.seed, 3), signs_net(options.seed, 2), signs_net(options.seed, 3):
        nets.append((len(nets), net, net.text()))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(lambda item: check(options, *item), nets))

    alive = [(net, verdict) for (_, net, _), verdict in zip(nets, verdicts) if not verdict.dead]
    print("%d nets, %d with gradients everywhere: %d tensors, largest relative error %.1e" %
          (len(nets), len(alive), sum(verdict.tensors for _, verdict in alive),
           max(verdict.worst for verdict in verdicts)))
    seen = set().union(*(net.features for net, _ in alive))
    missing = sorted(required_operators() - set().union(*(verdict.used for _, verdict in alive)))
    missing += ["%s: %s" % (feature, value) for feature, values in VALUES.items() for value in values
                if (feature, value) not in seen]
    for feature in missing:
        print("in no net: %s" % feature)
    return 1 if missing or any(verdict.complaints for verdict in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
