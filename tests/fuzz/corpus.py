#!/usr/bin/env python3
"""corpus.py: made the files of corpus/ that are no texts; needs Pillow.  Pictures begin with the byte that image.c
takes for itself, weights with that of safetensors.c, what ranks say with that of cards.c."""
import gzip
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


def volume(name, order, datatype, letter, size=(3, 2, 4), slope=0.0, packed=False):
    """A NIfTI file of size (x, y, z); `letter` is the type of a voxel as struct has it."""
    count = size[0] * size[1] * size[2]
    bits = 8 * struct.calcsize(letter)
    header = struct.pack(order + "i36x", 348) + struct.pack(order + "8h", 3, *size, 1, 1, 1, 1).ljust(30, b"\0")
    header += struct.pack(order + "3h", datatype, bits, 0) + struct.pack(order + "8f", 1, 0.5, 0.5, 2, 1, 1, 1, 1)
    header += struct.pack(order + "3f", 352, slope, 3) + struct.pack(order + "hBB", 0, 0, 2)
    header = header.ljust(252, b"\0") + struct.pack(order + "2h", 1, 1) + struct.pack(order + "6f", 0, 0, 1, 5, 6, 7)
    header += struct.pack(order + "12f", -0.5, 0, 0, 9, 0, 0.5, 0, 8, 0, 0, 2, 7)
    data = header.ljust(344, b"\0") + b"n+1\0" + bytes(4)
    data += struct.pack("%s%d%s" % (order, count, letter), *(k * 5 % 100 for k in range(count)))
    with open(os.path.join(CORPUS, "volume", name), "wb") as file:
        file.write(gzip.compress(data, mtime=0) if packed else data)


def cards():
    """To a door, to a guest and to all, without a secret and with one."""
    def write(name, first, *parts):
        with open(os.path.join(CORPUS, "cards", name), "wb") as file:
            file.write(bytes([first]) + b"".join(parts))

    def card(rank, host=b""):
        return struct.pack("<3I64s", rank, 3, 29500 + rank, host)

    greeting = [b"unranks2" + struct.pack("<I", secret) + bytes([secret * 7] * 32) for secret in (0, 1)]
    os.makedirs(os.path.join(CORPUS, "cards"), exist_ok=True)
    for secret in 0, 1:
        proof = bytes([secret * 9] * 32)
        write("door_%d" % secret, secret, greeting[secret], card(1), proof)
        write("guest_%d" % secret, 2 + secret, greeting[secret], struct.pack("<I", 0), proof)
        write("guest_refused_%d" % secret, 2 + secret, greeting[secret], struct.pack("<I", 4), proof)
    write("all", 4, card(0), card(1, b"192.0.2.1"), card(2, b"fe80::1%eth0"))


def main():
    cards()
    os.makedirs(os.path.join(CORPUS, "volume"), exist_ok=True)
    volume("bytes.nii", "<", 2, "B")
    volume("packed.nii.gz", "<", 4, "h", packed=True)
    volume("swapped.nii", ">", 4, "h", slope=0.5)
    volume("doubles.nii", ">", 64, "d")
    volume("floats.nii.gz", "<", 16, "f", slope=float("nan"), packed=True)
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
