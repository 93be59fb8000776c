#!/usr/bin/python3
"""Records pictures that Pillow and PyTorch made smaller and larger: prints tests/runtime/recorded_resize.h.

    apt-get install python3-pil python3-torch && tests/runtime/record_resize.py > tests/runtime/recorded_resize.h

Pillow resizes along rows first; version 13 may begin with the columns, which changes numbers of 8 bits by 1.
"""

import PIL
import numpy
import torch
from PIL import Image

# Height and width of the picture, those of the result, channels.
BYTES = [(11, 9, 5, 4, 1), (7, 12, 16, 5, 3), (5, 4, 3, 11, 1), (9, 10, 1, 1, 3), (1, 3, 4, 7, 1), (13, 8, 13, 3, 1)]
FLOATS = [(10, 7, 4, 3), (3, 5, 8, 9), (12, 4, 5, 10)]
NEAREST = [(9, 7, 4, 5), (3, 4, 8, 11)]  # no point of the result lies just between two


def numbers(name, kind, values):
    print("static const %s %s[] = {" % (kind, name))
    text = [str(int(v)) if kind == "uint8_t" else "%.9gf" % v if "." in "%.9g" % v or "e" in "%.9g" % v else "%.9g.0f" % v
            for v in values.reshape(-1)]
    for at in range(0, len(text), 12):
        print("    " + ", ".join(text[at:at + 12]) + ",")
    print("};")


def record(kind, name, before, after, sizes, channels):
    """BEFORE: a picture, or the name of one that was recorded."""
    source = before if isinstance(before, str) else name
    if source == name:
        numbers("recorded_%s_from" % name, kind, before)
    numbers("recorded_%s_to" % name, kind, after)
    return "    {\"%s\", {{%d, %d}, {%d, %d}, %d, %d, %s}, recorded_%s_from, recorded_%s_to},\n" % (
        (name,) + tuple(sizes) + (channels, 8 if kind == "uint8_t" else 32, "true" if "nearest" in name else "false", source, name))


def main():
    draw = numpy.random.default_rng(7)
    print("/* recorded_resize.h - by Pillow %s and PyTorch %s; made by record_resize.py, not by hand. */"
          % (PIL.__version__, torch.__version__))
    print("/* clang-format off */\n#include \"unet/resize.h\"\n")
    rows = ""
    for number, (*sizes, channels) in enumerate(BYTES):
        before = draw.integers(0, 256, (sizes[0], sizes[1], channels), dtype=numpy.uint8)
        image = Image.fromarray(before[:, :, 0] if channels == 1 else before)
        rows += record("uint8_t", "bytes_%d" % number, before, numpy.asarray(image.resize((sizes[3], sizes[2]), Image.BILINEAR)), sizes, channels)
    for number, sizes in enumerate(NEAREST):
        before = draw.integers(0, 256, sizes[:2], dtype=numpy.uint8)
        after = Image.fromarray(before).resize((sizes[3], sizes[2]), Image.NEAREST)
        rows += record("uint8_t", "nearest_%d" % number, before, numpy.asarray(after), sizes, 1)
    for number, sizes in enumerate(FLOATS):
        before = draw.standard_normal(sizes[:2]).astype(numpy.float32)
        after = Image.fromarray(before).resize((sizes[3], sizes[2]), Image.BILINEAR)
        rows += record("float", "pillow_%d" % number, before, numpy.asarray(after), sizes, 1)
        after = torch.nn.functional.interpolate(torch.from_numpy(before)[None, None], size=tuple(sizes[2:]), mode="bilinear", antialias=True)
        rows += record("float", "torch_%d" % number, "pillow_%d" % number, after.numpy(), sizes, 1)
    print("static const struct { const char *name; UnetResizeShape shape; const void *from, *to; } recorded_resize[] = {\n%s};" % rows)


main()
