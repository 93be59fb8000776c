#!/usr/bin/env python3
"""corpus_images.py: made the files of corpus/image and corpus/volume that NumPy and Pillow write and the tests of the runtime
(formats_test.c) read, too.
Needs both; made with NumPy 2.4 and Pillow 13.0.  WAV files are made by hand.  The first byte is the one that image.c takes for itself.

Numbers follow a rule that the test knows: number(y, x, c) = (37 y + 11 x + 59 c) mod 256.
"""
import io
import os
import struct

import numpy
from PIL import Image

HEIGHT, WIDTH = 5, 7
CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus", "image")


def numbers(channels, dtype):
    y, x, c = numpy.meshgrid(range(HEIGHT), range(WIDTH), range(channels), indexing="ij")
    return ((37 * y + 11 * x + 59 * c) % 256).astype(dtype)


def saved(array):
    out = io.BytesIO()
    numpy.save(out, array)
    return out.getvalue()


def archive(compressed, **arrays):
    out = io.BytesIO()
    (numpy.savez_compressed if compressed else numpy.savez)(out, **arrays)
    return out.getvalue()


def picture(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def bmp_16():
    """5 bits of red, 6 of green, 5 of blue, by masks, rows from above; Pillow reads such and does not write them."""
    rgb, stride = numbers(3, "uint32"), (2 * WIDTH + 3) // 4 * 4
    head = b"BM" + struct.pack("<IHHI", 66 + stride * HEIGHT, 0, 0, 66)
    head += struct.pack("<IiiHHIIiiII", 40, WIDTH, -HEIGHT, 1, 16, 3, 0, 0, 0, 0, 0) + struct.pack("<III", 0xF800, 0x7E0, 0x1F)
    rows = (rgb[..., 0] >> 3 << 11 | rgb[..., 1] >> 2 << 5 | rgb[..., 2] >> 3).astype("<u2")
    return head + b"".join(row.tobytes().ljust(stride, b"\0") for row in rows)


def files():
    rgb, grey = numbers(3, "uint8"), numbers(1, "uint8")[..., 0]
    yield "npy_u1", 0, saved(grey)
    yield "npy_u2_big", 0, saved((grey.astype("uint16") * 257).astype(">u2"))
    yield "npy_i2", 0, saved(grey.astype("<i2") - 128)
    yield "npy_f2", 0, saved(grey.astype("<f2"))
    yield "npy_f8_fortran", 0, saved(numpy.asfortranarray(rgb.astype("<f8")))
    yield "npy_first", 2, saved(numpy.ascontiguousarray(rgb.transpose(2, 0, 1)))
    yield "npy_i8", 3, saved(grey.astype("<i8"))
    yield "npy_bool", 3, saved(grey > 100)
    yield "npy_complex", 0, saved(grey.astype("<c8"))
    yield "npy_8", 0x42, saved(numbers(8, "<f4"))
    yield "npz", 0, archive(False, image=rgb)
    yield "npz_two", 0x80, archive(True, image=rgb, label=(grey % 3))
    yield "bmp_24", 0x09, picture(Image.fromarray(rgb), "BMP")
    yield "bmp_grey", 0, picture(Image.fromarray(grey), "BMP")
    yield "bmp_1", 3, picture(Image.fromarray(grey > 100), "BMP")
    yield "bmp_16", 2, bmp_16()
    yield "bmp_alpha", 2, picture(Image.fromarray(numbers(4, "uint8")), "BMP")
    yield "ppm", 2, picture(Image.fromarray(rgb), "PPM")
    yield "pgm", 0, picture(Image.fromarray(grey), "PPM")
    yield "pgm_16", 0, b"P5 # sixteen bits\n7 5\n65535\n" + (grey.astype("uint16") * 257).astype(">u2").tobytes()
    yield "pgm_text", 0, ("P2\n# of 255\n7 5 255\n" + "\n".join(" ".join(map(str, row)) for row in grey)).encode() + b"\n"
    yield "pbm", 3, picture(Image.fromarray(grey > 100), "PPM")
    yield "pbm_text", 3, ("P1\n7 5\n" + "\n".join("".join("01"[int(v <= 100)] for v in row) for row in grey)).encode() + b"\n"
    yield "pfm", 0, b"Pf\n7 5\n-1.0\n" + grey[::-1].astype("<f4").tobytes()
    yield "webp", 2, picture(Image.fromarray(rgb), "WEBP", lossless=True)
    yield "webp_alpha", 0x41, picture(Image.fromarray(numbers(4, "uint8") | 1), "WEBP", lossless=True, exact=True)
    yield "jp2", 2, picture(Image.fromarray(rgb), "JPEG2000", irreversible=False)
    yield "j2k_16", 0, picture(Image.fromarray(grey.astype("uint16") * 257), "JPEG2000", no_jp2=True, irreversible=False)
    yield "png_alpha", 0x21, picture(Image.fromarray(numbers(4, "uint8")), "PNG")
    yield "jpeg_cmyk", 2, picture(Image.new("CMYK", (16, 16), (40, 80, 120, 60)), "JPEG", quality=95)
    exif = Image.Exif()
    exif[0x112] = 6
    turned = Image.new("L", (24, 16), 0)
    turned.paste(255, (0, 0, 8, 8))
    yield "jpeg_turned", 0x10, picture(turned, "JPEG", quality=95, exif=exif)


def wav(bits, channels, frames, code=1, extensible=False, listed=False, is_long=False):
    """A signal: number k is (37 k mod 256) in the highest byte; as a float 1/8 of that."""
    size = channels * frames * bits // 8
    head = struct.pack("<HHIIHH", 0xFFFE if extensible else code, channels, 16000, 2000 * channels * bits, channels * bits // 8, bits)
    if extensible:
        head += struct.pack("<HHIH", 22, bits, 0, code) + bytes([0, 0, 0, 0, 16, 0, 128, 0, 0, 170, 0, 56, 155, 113])
    data = b"".join(struct.pack("<f", 37 * k % 256 / 8) if code == 3 else bytes(bits // 8 - 1) + bytes([37 * k % 256])
                    for k in range(channels * frames))
    chunks = b"WAVE"
    if is_long:
        chunks += b"ds64" + struct.pack("<IQQQI", 28, 0, size, frames, 0)
    chunks += b"fmt " + struct.pack("<I", len(head)) + head
    if listed:
        chunks += b"LIST" + struct.pack("<I", 15) + b"INFOISFT\3\0\0\0abc\0"
    chunks += b"data" + struct.pack("<I", 0xFFFFFFFF if is_long else size) + data
    return (b"RF64" if is_long else b"RIFF") + struct.pack("<I", 0xFFFFFFFF if is_long else len(chunks)) + chunks


def signals():
    yield "wav_16", 0, wav(16, 1, 35)
    yield "wav_24", 2, wav(24, 3, 9, extensible=True, listed=True)
    yield "wav_float", 0x40, wav(32, 2, 11, code=3)
    yield "wav_8_long", 4, wav(8, 1, 36, is_long=True, listed=True)
    yield "wav_adpcm", 0, wav(8, 1, 36, code=2)


def volumes():
    z, y, x = numpy.meshgrid(range(3), range(4), range(5), indexing="ij")
    numbers = 20 * z + 5 * y + x
    yield "array.npy", saved(numbers.astype("<i2"))
    yield "fortran.npy", saved(numpy.asfortranarray(numbers.astype(">f4")))
    yield "bytes.npy", saved(numbers.astype("u1")[None])
    yield "packed.npz", archive(True, scan=numbers.astype("<i2"))


def main():
    for name, data in volumes():
        with open(os.path.join(CORPUS, "..", "volume", name), "wb") as out:
            out.write(data)
    for name, first, data in [*files(), *signals()]:
        with open(os.path.join(CORPUS, name), "wb") as out:
            out.write(bytes([first]) + data)


if __name__ == "__main__":
    main()
