#!/usr/bin/python3
"""Records what PyTorch computes: tests/oracle/vectors/.

    apt-get install python3-torch && tests/oracle/record.py

For every case: the weights as torch.manual_seed draws them, random inputs and targets (float32); then, in
float64 from the same numbers, the output, the loss and gradients of the first step, the losses of ten
steps and the weights after them.  Metadata holds PyTorch's own float32 losses and, per gradient, the
relative error of its float32 against float64: the largest over several ways PyTorch has of computing the
same (oneDNN or not, one thread or two, channels last), since one run of one way may be right by luck.
For the nets at full size: a checksum of each initial tensor.
"""

import array
import json

import torch
from torch import nn
from torch.nn import functional as F

import cases
import safetensors

# ---- the nets, independent of the .unet files -------------------------------------------------------


def double_conv(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU(),
                         nn.Conv2d(outputs, outputs, 3, padding=1), nn.ReLU())


class UNet(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.enc1 = double_conv(3, base)
        self.enc2 = double_conv(base, 2 * base)
        self.enc3 = double_conv(2 * base, 4 * base)
        self.bottleneck = double_conv(4 * base, 8 * base)
        self.up3 = nn.ConvTranspose2d(8 * base, 4 * base, 2, stride=2)
        self.dec3 = double_conv(8 * base, 4 * base)
        self.up2 = nn.ConvTranspose2d(4 * base, 2 * base, 2, stride=2)
        self.dec2 = double_conv(4 * base, 2 * base)
        self.up1 = nn.ConvTranspose2d(2 * base, base, 2, stride=2)
        self.dec1 = double_conv(2 * base, base)
        self.final = nn.Conv2d(base, 3, 1)

    def forward(self, x):
        e1 = self.enc1(x)
        e2 = self.enc2(F.max_pool2d(e1, 2))
        e3 = self.enc3(F.max_pool2d(e2, 2))
        b = self.bottleneck(F.max_pool2d(e3, 2))
        d3 = self.dec3(torch.cat([self.up3(b), e3], 1))
        d2 = self.dec2(torch.cat([self.up2(d3), e2], 1))
        d1 = self.dec1(torch.cat([self.up1(d2), e1], 1))
        return self.final(d1)


class Simple(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.ReLU(),
                                 nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
                                 nn.Conv2d(width, width, 3, padding=1), nn.ReLU(),
                                 nn.Conv2d(width, 3, 3, padding=1))

    def forward(self, x):
        return self.net(x)


class TwoConvolutions(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 5, 3, padding=1), nn.ReLU(), nn.Conv2d(5, 3, 3, padding=1))

    def forward(self, x):
        return self.net(x)


class Variants(nn.Module):
    def __init__(self):
        super().__init__()
        self.valid = nn.Conv2d(3, 18, 3)
        self.strided = nn.Conv2d(18, 20, 3, stride=2, padding=1, bias=False)
        self.dilated = nn.Conv2d(20, 20, 3, dilation=2, padding=2)
        self.lopsided = nn.Conv2d(20, 20, (2, 3))
        self.again = nn.Conv2d(20, 20, 3, padding=1)
        self.up = nn.ConvTranspose2d(20, 7, 2, stride=2)
        self.wide = nn.Conv2d(25, 6, 5, padding=2)
        self.answer = nn.Conv2d(6, 3, 1)

    def forward(self, x):
        first = F.relu(self.valid(x))
        strided = self.strided(first)
        sum1 = strided + self.dilated(F.relu(strided))
        lopsided = self.lopsided(F.pad(sum1, (1, 1, 0, 1)))
        twice = self.again(F.relu(self.again(F.relu(lopsided))))
        up = self.up(twice + sum1)
        return self.answer(F.relu(self.wide(torch.cat([up, first], 1))))


class Activations(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 18, 3, padding=1)
        self.middle = nn.ModuleDict({"0": nn.Conv2d(18, 20, 3, padding=1)})
        self.gate = nn.Conv2d(20, 18, 3, padding=1)
        self.up = nn.ConvTranspose2d(18, 5, 2, stride=2, output_padding=(1, 0))
        self.answer = nn.Conv2d(23, 3, 1)

    def forward(self, x):
        first = F.leaky_relu(self.first(x), 0.2)
        middle = F.leaky_relu(self.middle["0"](F.avg_pool2d(first, 2)))
        gate = torch.sigmoid(self.gate(F.avg_pool2d(middle, 3, stride=1, padding=1)))
        return torch.sigmoid(self.answer(torch.cat([self.up(gate), first], 1)))


NETS = {"unet": UNet, "simple": Simple, "two_convolutions": TwoConvolutions, "variants": Variants,
        "activations": Activations}
LOSSES = {"mse": F.mse_loss, "l1": F.l1_loss}
OPTIMIZERS = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}

# ---- one case ---------------------------------------------------------------------------------------


def make_net(case):
    torch.manual_seed(case["seed"])
    return NETS[case["net"]](**case["defines"])


def loss_of(case, answer, target):
    return sum(weight * LOSSES[name](answer, target) for name, weight in case["losses"])


def psnr(answer, target):
    """Mean over the samples, each clamped to 0..1."""
    squares = (answer.clamp(0, 1) - target.clamp(0, 1)).square().mean(dim=(1, 2, 3))
    return (-10 * squares.log10()).mean()


def train(case, net, photo, target):
    """Returns losses, and the output, PSNR and gradients of the first step."""
    name, settings = case["optimizer"]
    optimizer = OPTIMIZERS[name](net.parameters(), **settings)
    losses, first = [], None
    for _ in range(cases.STEPS):
        optimizer.zero_grad()
        answer = net(photo)
        loss = loss_of(case, answer, target)
        loss.backward()
        if first is None:
            gradients = {key: value.grad.clone() for key, value in net.named_parameters()}
            first = (answer.detach(), psnr(answer.detach(), target), gradients)
        optimizer.step()
        losses.append(loss.item())
    return losses, first


def relative_error(value, exact):
    return ((value.double() - exact).norm() / exact.norm()).item()


def float_errors(case, state, photo, target, exact):
    """The largest relative error of PyTorch's float32 per gradient, over its ways of computing it."""
    worst = {}
    for onednn in (False, True):
        for threads in (1, 2):
            for layout in (torch.contiguous_format, torch.channels_last):
                torch.set_num_threads(threads)
                net = make_net(case)
                net.load_state_dict(state)
                net = net.to(memory_format=layout)
                with torch.backends.mkldnn.flags(enabled=onednn):
                    answer = net(photo.contiguous(memory_format=layout))
                    loss_of(case, answer, target).backward()
                for name, value in net.named_parameters():
                    worst[name] = max(worst.get(name, 0), relative_error(value.grad, exact[name]))
    torch.set_num_threads(1)
    return worst


def tensor(value):
    code = "f" if value.dtype == torch.float32 else "d"
    return safetensors.Tensor(value.shape, array.array(code, value.contiguous().flatten().tolist()))


def record(case):
    net = make_net(case)
    state = {key: value.clone() for key, value in net.state_dict().items()}
    generator = torch.Generator().manual_seed(1000 + case["seed"])
    photo = torch.rand(case["valid"], 3, *case["size"], generator=generator)
    target = torch.rand(net(photo).shape, generator=generator)

    exact = make_net(case)
    exact.load_state_dict(state)
    exact = exact.double()
    losses, (answer, decibels, gradients) = train(case, exact, photo.double(), target.double())
    errors = float_errors(case, state, photo, target, gradients)
    float_losses, _ = train(case, net, photo, target)

    tensors = {"input": tensor(photo), "target": tensor(target), "output": tensor(answer),
               "losses": tensor(torch.tensor(losses, dtype=torch.float64)),
               "psnr": tensor(decibels.reshape(1))}
    for name, value in state.items():
        tensors["initial/" + name] = tensor(value)
        tensors["gradient/" + name] = tensor(gradients[name])
        tensors["after/" + name] = tensor(exact.state_dict()[name])
    metadata = {"torch": torch.__version__, "float_losses": json.dumps(float_losses),
                "float_gradient_errors": json.dumps(errors)}
    safetensors.write(case["vectors"], tensors, metadata)
    print("%-20s loss %.6f to %.6f, float32 gradients off by %.1e to %.1e" %
          (case["name"], losses[0], losses[-1], min(errors.values()), max(errors.values())))


def record_checksums():
    sums = {}
    for name, net, arguments in cases.FULL_SIZE:
        for seed in cases.SEEDS:
            torch.manual_seed(seed)
            state = NETS[net](**arguments).state_dict()
            sums.setdefault(name, {})[str(seed)] = {
                key: cases.fnv1a(value.numpy().tobytes()) for key, value in state.items()}
        print("%-20s %d parameters" % (name, sum(value.numel() for value in state.values())))
    with open(cases.CHECKSUMS, "w") as file:
        json.dump(sums, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for each in cases.CASES:
        record(each)
    record_checksums()
