#!/usr/bin/python3
"""Records the learning rates of PyTorch's schedulers: prints tests/runtime/recorded_rates.h.

    apt-get install python3-torch && tests/runtime/record_rates.py > tests/runtime/recorded_rates.h

24 steps, 4 an epoch; a scheduler that counts epochs is asked once in 4 steps.
"""

import warnings

import torch
from torch.optim import lr_scheduler as s

STEPS, EPOCH, RATE = 24, 4, 0.05
METRIC = [0.5, 0.4, 0.40001, 0.39998, 0.3, 0.31, 0.32, float("nan"), 0.33, 0.29999, 0.2, 0.21, 0.22, 0.23]


def rates(make, per_epoch=False):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=RATE)
    scheduler, rate = make(optimizer), []
    for step in range(STEPS):
        rate.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if step < STEPS - 1 and (not per_epoch or step % EPOCH == EPOCH - 1):
            scheduler.step()
    return rate


def warm(make, steps):
    """`make` behind a warm-up from 0.01 on."""
    def both(optimizer):
        first = s.LambdaLR(optimizer, lambda t: (0.01 + (RATE - 0.01) * t / steps) / RATE)
        return s.SequentialLR(optimizer, [first, make(optimizer)], [steps])
    return both


def plateau(mode):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=RATE)
    scheduler, rate = s.ReduceLROnPlateau(optimizer, mode, factor=0.5, patience=1), []
    for value in METRIC:
        scheduler.step(value if mode == "min" else 1 - value)
        rate.append(optimizer.param_groups[0]["lr"])
    return rate


def poly(steps):
    return lambda o: s.LambdaLR(o, lambda t: (1 - t / steps) ** 0.9 if t < steps else 0)


RECORDED = {
    "poly": rates(poly(STEPS)),
    "poly_epochs": rates(poly(STEPS // EPOCH), True),
    "cosine": rates(lambda o: s.CosineAnnealingLR(o, STEPS, 1e-3)),
    "cosine_epochs": rates(lambda o: s.CosineAnnealingLR(o, STEPS // EPOCH), True),
    "cosine_warm": rates(warm(lambda o: s.CosineAnnealingLR(o, STEPS - 5), 5)),
    "step": rates(lambda o: s.StepLR(o, 2, 0.3), True),
    "multistep": rates(lambda o: s.MultiStepLR(o, [1, 4, 5], 0.2), True),
    "one_cycle": rates(lambda o: s.OneCycleLR(o, RATE, STEPS, 0.3)),
    "plateau_min": plateau("min"),
    "plateau_max": plateau("max"),
}

warnings.simplefilter("ignore")
print("/* recorded_rates.h - learning rates of PyTorch %s; made by record_rates.py, never edited by hand. */" %
      torch.__version__.split("+")[0])
print("/* clang-format off */")
print("static const double recorded_metric[] = {%s};" % ", ".join("NAN" if v != v else repr(v) for v in METRIC))
for name, values in RECORDED.items():
    print("static const double recorded_%s[] = {" % name)
    for i in range(0, len(values), 4):
        print("    " + ", ".join("%.17g" % v for v in values[i:i + 4]) + ",")
    print("};")
