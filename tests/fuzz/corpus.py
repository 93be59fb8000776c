#!/usr/bin/env python3
"""corpus.py: made the files of corpus/ that are no texts; needs Pillow.  Pictures begin with the byte that image.c
takes for itself, weights with that of safetensors.c."""
import json
import os
import struct

from PIL import Image

CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")


def picture(name, first, mode, size=(9, 7), **options):
    image = Image.new("RGB", size)
    image.putdata([(x * 29 % 256, y * 31 % 256, (x * y * 7) % 256) for y in range(size[1]) for x in range(size[0])])
    path = os.path.join(CORPUS, "image", name)
    for step in mode.split():
        image = image.convert(step)
    image.save(path, **options)
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(bytes([first]) + data)


def weights(path, tensors, notes, first=b""):
    header, data = {"__metadata__": notes}, b""
    for name, shape, values in tensors:
        packed = struct.pack("<%df" % len(values), *values)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(CORPUS, path), "wb") as file:
        file.write(first + struct.pack("<Q", len(text)) + text + data)


def main():
    picture("rgb.png", 2, "RGB")
    picture("grey.png", 0, "L")
    picture("bits.png", 3, "1")
    picture("palette.png", 3, "P")
    picture("alpha.png", 1, "LA")
    picture("colour.jpg", 2, "RGB", quality=50)
    picture("progressive.jpg", 0, "RGB", quality=50, progressive=True)
    picture("grey.jpg", 1, "L", quality=50)
    picture("cmyk.jpg", 2, "CMYK", quality=50)
    picture("plain.gif", 2, "P")
    picture("plain.tif", 2, "RGB")
    picture("packed.tif", 0, "L", compression="tiff_lzw")
    picture("deflate.tif", 1, "P", compression="tiff_adobe_deflate")
    picture("fax.tif", 3, "1", compression="group4")
    picture("float.tif", 0, "F")
    picture("jpeg.tif", 2, "YCbCr", compression="jpeg")
    picture("alpha.tif", 1, "RGBA")
    picture("sixteen.png", 1, "L I;16")
    weights("safetensors/two.safetensors", [("a.w", [2, 3], range(6)), ("a.b", [2], [1, 2])], {"format": "pt"}, b"\0")
    names = b"a.* -> b.*\n"
    weights("safetensors/renamed.safetensors", [("a.w", [2], [1, 2]), ("c", [], [1])], {}, bytes([len(names)]) + names)
    notes = {"unet.seed": "1", "unet.step": "20", "unet.samples": "9", "unet.batch": "2", "unet.evaluated": "-1",
             "unet.best_step": "3", "unet.best": "1.5", "unet.stale": "0", "unet.plateau.bad": "0",
             "unet.plateau.scale": "1", "unet.plateau.best": "nan", "unet.normal.x": "0.5 0.25"}
    tensors = [("w", [2, 3], range(6)), ("b", [2], [1, 2])]
    moments = [("optimizer.momentum_buffer.w", [2, 3], range(6)), ("optimizer.momentum_buffer.b", [2], [1, 2])]
    weights("checkpoint/whole.safetensors", tensors + moments, notes)
    weights("checkpoint/weights.safetensors", [("module." + name, shape, values) for name, shape, values in tensors], notes)


if __name__ == "__main__":
    main()
