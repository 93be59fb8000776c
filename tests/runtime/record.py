#!/usr/bin/env python3
"""Records what PyTorch draws, as recorded.h for the tests of the runtime.

    python3 record.py > recorded.h        (needs torch; recorded with 1.13)

Numbers are given as the bits of float32, so that the comparison is exact; whole tensors as a checksum
(FNV-1a, 64 bits, over their bytes).
"""
import struct
import torch
from torch import nn
from torch.utils.data import DataLoader, random_split


def bits(values):
    return ", ".join("0x%08xu" % struct.unpack("<I", struct.pack("<f", v))[0] for v in values)


def table(ctype, name, values, width=12):
    print(f"static const {ctype} {name}[] = {{")
    for i in range(0, len(values), width):
        print("    " + ", ".join(str(v) for v in values[i:i + width]) + ",")
    print("};")


def fnv(tensor):
    h = 0xCBF29CE484222325
    for byte in tensor.detach().numpy().tobytes():
        h = (h ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return h


def layers():
    """One of each kind of layer, with odd sizes."""
    return nn.ModuleList([nn.Conv2d(3, 5, 3), nn.ConvTranspose2d(5, 7, 2, stride=2), nn.Linear(11, 4),
                          nn.Conv3d(2, 3, (1, 3, 3)), nn.Conv2d(6, 4, (3, 5), groups=2), nn.Conv2d(64, 70, 3)])


print("/* recorded.h - made by record.py with PyTorch %s; not edited by hand. */" % torch.__version__)
print("#ifndef RECORDED_H\n#define RECORDED_H\n\n#include <stdint.h>\n")

torch.manual_seed(42)
print("/* manual_seed(42); empty(8).uniform_(-0.3, 0.7) */")
print("static const uint32_t recorded_uniform[] = {%s};\n" % bits(torch.empty(8).uniform_(-0.3, 0.7).tolist()))
for count in (7, 20):
    torch.manual_seed(5)
    print(f"/* manual_seed(5); empty({count}).normal_(0, 0.5), then the next uniform number */")
    values = torch.empty(count).normal_(0, 0.5)
    print(f"static const uint32_t recorded_normal{count}[] = {{%s}};\n" % bits(values.tolist() + [torch.rand(1).item()]))

print("/* randperm and random_split */")
table("int32_t", "recorded_permutation", torch.randperm(20, generator=torch.Generator().manual_seed(7)).tolist())
kept, held = random_split(range(23), [18, 5], generator=torch.Generator().manual_seed(3))
table("int32_t", "recorded_split", list(kept.indices) + list(held.indices))

print("\n/* Three epochs of DataLoader(range(13), shuffle=True) after manual_seed(9), */")
torch.manual_seed(9)
loader = DataLoader(range(13), shuffle=True, batch_size=4)
table("int32_t", "recorded_order", [int(x) for _ in range(3) for batch in loader for x in batch])
print("/* and with 1000 numbers drawn in between. */")
torch.manual_seed(9)
torch.empty(1000).uniform_()
loader = DataLoader(range(13), shuffle=True, batch_size=4)
table("int32_t", "recorded_order_after", [int(x) for _ in range(3) for batch in loader for x in batch])

print("\n/* Initial weights: checksum per tensor, weight and bias in turn, seeds 0, 42 and 7. */")
for seed in (0, 42, 7):
    torch.manual_seed(seed)
    sums = [f"0x{fnv(t):016x}u" for t in layers().state_dict().values()]
    table("uint64_t", f"recorded_weights_{seed}", sums, 4)
print("\n#endif")
