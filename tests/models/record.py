#!/usr/bin/python3
"""Records what PyTorch computes of the networks of models.py: tests/models/vectors/.

    apt-get install python3-torch && tests/models/record.py [MODEL...]

In float64: the output of the small ones in evaluation, losses of ten steps, gradients of the first and the parameters after
the last; and how far float32 is from these.  Of the full ones: how many parameters there are, and a checksum of their names
and shapes.
"""

import json
import math
import os
import sys

import torch
from torch import nn
from torch.nn import functional as F

import models
import nets

# ---- losses: of the answers of a network, one or a list, and its targets ----


def dice(shares, truth, smooth=1e-6):
    """1 less the mean over classes of the dice of the whole batch."""
    axes = (0, 2, 3)
    common = (shares * truth).sum(axes)
    return 1 - ((2 * common + smooth) / (shares.sum(axes) + truth.sum(axes) + smooth)).mean()


def cross_entropy(answer, truth):
    return F.cross_entropy(answer, truth[:, 0].long())


def ohem(answer, truth):
    """PaddleSeg's: of the points of class t those with softmax_t below 0.7, or, if these are fewer than a sixteenth of all,
    below that of the last of so many."""
    logs = F.log_softmax(answer, 1).gather(1, truth.long())
    hardest = logs.detach().exp().flatten().sort().values
    kept = logs.detach().exp() < max(0.7, hardest[len(hardest) // 16 - 1].item())
    return -(logs * kept).mean() / (kept.to(logs.dtype).mean() + 1e-5)


def weighted_cross_entropy(answer, truth, weight):
    """A pixel weight map; how border_weight() makes one, tests/runtime/border_weight_test.c tests."""
    return (F.cross_entropy(answer, truth[:, 0].long(), reduction="none") * weight[:, 0]).mean()


def cross_entropy_and_dice(answer, truth):
    one_hot = F.one_hot(truth[:, 0].long(), answer.shape[1]).permute(0, 3, 1, 2).to(answer.dtype)
    return cross_entropy(answer, truth) + dice(F.softmax(answer, 1), one_hot)


def bce(answer, truth):
    return F.binary_cross_entropy_with_logits(answer, truth.to(answer.dtype))


def bce_and_dice(answer, truth, share=1.0, smooth=1e-6):
    return share * bce(answer, truth) + dice(torch.sigmoid(answer), truth.to(answer.dtype), smooth)


def half_bce_and_dice(answer, truth):
    return bce_and_dice(answer, truth, 0.5, 1e-5)


def dice_of_samples(answer, truth, smooth=1e-5, background=False):
    """1 less the mean over samples and classes."""
    first, axes = 0 if background else 1, (2, 3, 4)
    shares = F.softmax(answer, 1)[:, first:]
    truth = F.one_hot(truth[:, 0].long(), answer.shape[1]).movedim(-1, 1)[:, first:].to(answer.dtype)
    return 1 - ((2 * (shares * truth).sum(axes) + smooth) / (shares.sum(axes) + truth.sum(axes) + smooth)).mean()


def deep_supervision(answers, truth):
    """nnU-Net's, of the coarsest answer first: half the weight from one to the next, none for the coarsest."""
    weights = [0.5 ** i for i in range(max(len(answers) - 1, 1))]
    total = 0
    for weight, answer in zip(weights, reversed(answers)):
        few = F.interpolate(truth, size=answer.shape[2:], mode="nearest-exact")
        total += weight / sum(weights) * (cross_entropy(answer, few) + dice_of_samples(answer, few))
    return total


def cross_entropy_and_sample_dice(answer, truth):
    return cross_entropy(answer, truth) + dice_of_samples(answer, truth, background=True)


def mlperf(answer, truth):
    return (cross_entropy(answer, truth) + dice_of_samples(answer, truth, 1e-6)) / 2


def charbonnier(answer, truth, eps=1e-3):
    return torch.sqrt((answer - truth)**2 + eps**2).mean()


def words(answer, truth):
    return F.cross_entropy(answer, truth[:, 0].long(), ignore_index=-1)


LOSSES = {"words": words, "charbonnier": charbonnier, "deep_supervision": deep_supervision, "cross_entropy_and_sample_dice": cross_entropy_and_sample_dice, "mlperf": mlperf,
          "bce_and_dice": bce_and_dice, "half_bce_and_dice": half_bce_and_dice,
          "cross_entropy": cross_entropy, "weighted_cross_entropy": weighted_cross_entropy, "ohem": ohem, "cross_entropy_and_dice": cross_entropy_and_dice, "bce": bce, "mse": F.mse_loss,
          "l1": F.l1_loss}
OPTIMIZERS = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD, "rmsprop": torch.optim.RMSprop}

# ---- one network ----


def loss_of(model, answers, *targets):
    """The files of several heads: UNet++ divides by their number."""
    if not isinstance(answers, list) or model.loss == "deep_supervision":
        return LOSSES[model.loss](answers, *targets)
    total = sum(LOSSES[model.loss](answer, *targets) for answer in answers)
    return total / len(answers) if model.name == "unet_plus_plus" else total


def state_of(net):
    """What the checkpoint of a model holds: the count of batches is PyTorch's own."""
    return {key: value for key, value in net.state_dict().items() if not key.endswith("num_batches_tracked")}


def make(model, definitions, number):
    net = nets.NETS[model.name](**definitions).to(number)
    for name, value in state_of(net).items():
        value.copy_(torch.tensor(models.weight(name, value.shape)).reshape(value.shape))
    return net


def tensors(model, number):
    for (name, kind, channels), values in zip(model.inputs, models.batches(model)):
        size = [1] if kind == "number" else model.target_size if name in models.TARGETS else model.size
        yield torch.tensor(values, dtype=number).reshape(model.batch, channels if kind == "image" else 1, *size)


def optimizer_of(model, net):
    """DECAY: weight decay leaves parameters of one axis alone."""
    name, settings = model.optimizer[0], dict(model.optimizer[1])
    if settings.pop("decay", "all") == "all":
        return OPTIMIZERS[name](net.parameters(), **settings)
    groups = [{"params": [p for p in net.parameters() if p.dim() > 1]},
              {"params": [p for p in net.parameters() if p.dim() <= 1], "weight_decay": 0}]
    return OPTIMIZERS[name](groups, **settings)


class Trained:
    """A network that was trained a few steps: output at the beginning, loss of each step, gradients of the first, parameters, or
    their averages, at the end."""

    def __init__(self, model, definitions, number):
        net, (*inputs,) = make(model, definitions, number), tensors(model, number)
        count = sum(name not in models.TARGETS for name, _, _ in model.inputs)
        inputs, targets = inputs[:count], inputs[count:]
        net.eval()
        with torch.no_grad():
            output = net(*inputs)
        self.output = output[-1] if isinstance(output, (list, tuple)) else output
        net.train()
        optimizer = optimizer_of(model, net)
        self.losses, average = [], {key: value.clone() for key, value in state_of(net).items()}
        for step in range(models.STEPS):
            optimizer.zero_grad()
            loss = loss_of(model, net(*inputs), *targets)
            loss.backward()
            if step == 0:
                self.gradients = {key: value.grad.clone() for key, value in net.named_parameters() if value.grad is not None}
            if model.clip:
                nn.utils.clip_grad_norm_(net.parameters(), model.clip)
            optimizer.step()
            self.losses.append(loss.item())
            for key, value in state_of(net).items():
                average[key].lerp_(value, 1 - model.ema if model.ema else 1)
        self.after = average


def rounded(values, digits=13):
    return [float("%.*g" % (digits, value)) for value in values]


def digest(name, value, *signs):
    return rounded(models.digest(name, value.detach().flatten().tolist(), *signs))


def squared(value):
    return (value.detach().double()**2).sum().item()


def errors(single, exact):
    """How far float32 is off, as run.py judges it."""
    off = {key: (squared(single.gradients[key] - value), squared(value)) for key, value in exact.gradients.items()}
    found = {"output": math.sqrt(squared(single.output - exact.output) / squared(exact.output)),
             "loss": abs(single.losses[0] / exact.losses[0] - 1),
             **models.gradient_errors(off)}
    return dict(zip(found, rounded(found.values(), 3)))


def record(model, definitions):
    exact, single = (Trained(model, definitions, number) for number in (torch.float64, torch.float32))
    gradients = {key: digest("gradient " + key, value) for key, value in exact.gradients.items()}
    found = {"output": digest("output", exact.output, models.OUTPUT_SIGNS), "losses": rounded(exact.losses),
             "float32": errors(single, exact),
             "parameters": {key: [list(value.shape), gradients.get(key), digest("after " + key, value)]
                            for key, value in exact.after.items()}}
    with open(model.vectors(definitions), "w") as file:
        file.write("{\n")
        file.write("".join(" %s: %s,\n" % (json.dumps(key), json.dumps(found[key])) for key in ("output", "losses", "float32")))
        file.write(' "parameters": {\n')
        file.write(",\n".join("  %s: %s" % (json.dumps(key), json.dumps(value))
                              for key, value in found["parameters"].items()))
        file.write("\n }\n}\n")
    print("%-40s loss %.6f to %.6f, gradients' norms %.1e to %.1e; float32 %s" %
          (model.key(definitions), exact.losses[0], exact.losses[-1], min(g[0] for g in gradients.values()),
           max(g[0] for g in gradients.values()), found["float32"]))


def record_full(model, full):
    for definitions, count in model.full:
        shapes = {key: list(value.shape) for key, value in state_of(nets.NETS[model.name](**definitions)).items()}
        net = nets.NETS[model.name](**definitions)
        found = sum(value.numel() for value in net.parameters())
        print("%-40s %d parameters%s" % (model.key(definitions), found, "" if found == count else ", NOT %d" % count))
        full[model.key(definitions)] = models.names_digest(shapes)


def main():
    torch.set_num_threads(1)
    path = os.path.join(models.RECORDED, "names.json")
    full = models.read(path) if os.path.exists(path) else {}
    for model in models.MODELS:
        if len(sys.argv) == 1 or model.name in sys.argv[1:]:
            for definitions in model.small:
                record(model, definitions)
            record_full(model, full)
    with open(path, "w") as file:
        json.dump(full, file, indent=1, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main()
