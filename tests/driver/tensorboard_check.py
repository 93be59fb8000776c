#!/usr/bin/env python3
"""tensorboard_check.py FOLDER RUN: reads the event files in FOLDER by hand, record by record, with both checksums, and
compares them with RUN/log.csv: the numbers of evaluations, the learning rates; the picture of each prediction is what
the last weights make of the picture of its input.  Two files: the second goes on behind the checkpoint of the first.
Standard library only."""

import csv
import glob
import json
import os
import struct
import sys
import zlib


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        assert struct.unpack_from("<I", data, at + 8)[0] == masked(data[at:at + 8]), "checksum of a length"
        record = data[at + 12:at + 12 + length]
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked(record), "checksum of a record"
        yield record
        at += length + 16


def fields(message):
    """Of a protocol buffer: {field: value}; here none returns."""
    def varint():
        nonlocal at
        number = shift = 0
        while True:
            byte = message[at]
            at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
    at, found = 0, {}
    while at < len(message):
        key = varint()
        kind = key & 7
        if kind == 0:
            value = varint()
        elif kind == 2:
            length = varint()
            value = message[at:at + length]
            at += length
        else:
            size = {1: 8, 5: 4}[kind]
            (value,) = struct.unpack_from({8: "<d", 4: "<f"}[size], message, at)
            at += size
        assert key >> 3 not in found, "field %d twice" % (key >> 3)
        found[key >> 3] = value
    assert at == len(message), "a message that is cut"
    return found


def rows(png):
    """Of a PNG in grey without filters."""
    width, height, bits, colours = struct.unpack_from(">IIBB", png, 16)
    assert png[:8] == b"\x89PNG\r\n\x1a\n" and (bits, colours) == (8, 0), "a PNG in grey"
    length = struct.unpack_from(">I", png, 33)[0]
    data = zlib.decompress(png[41:41 + length])
    assert len(data) == height * (width + 1) and not any(data[::width + 1]), "rows without filters"
    return [data[y * (width + 1) + 1:(y + 1) * (width + 1)] for y in range(height)]


def read(path):
    """{tag: {step: number or rows}}, and the step at which the file says that it starts."""
    numbers, start = {}, None
    with open(path, "rb") as file:
        events = [fields(record) for record in records(file.read())]
    assert events[0][3] == b"brain.Event:2", "the first event"
    for event in events[1:]:
        if 7 in event:
            assert fields(event[7]) == {1: 1}, "the start of a run"
            start = event[2]
            continue
        value = fields(fields(event[5])[1])
        if 4 in value:
            image = fields(value[4])
            assert image[3] == 1, "grey"
            value[2] = rows(image[4])
            assert image[1] == len(value[2]) and image[2] == len(value[2][0]), "the size of an image"
        of_tag = numbers.setdefault(value[1].decode(), {})
        assert event[2] not in of_tag, "a step twice"
        of_tag[event[2]] = value[2]
    return numbers, start


def weights(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        head = json.loads(file.read(length))
        data = file.read()
    return {name: struct.unpack_from("<f", data, of["data_offsets"][0])[0]
            for name, of in head.items() if name != "__metadata__"}


def near(a, b):
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b))


def check_numbers(parts, log):
    for split, tags in ("eval", {"eval/loss": "loss", "eval/psnr(denoised, clean)": "psnr(denoised, clean)"}), \
            ("train", {"train/learning rate": "lr"}):
        for tag, column in tags.items():
            found = {step: value for numbers, _ in parts for step, value in numbers[tag].items()}
            wanted = {int(row["step"]): float(row[column]) for row in log if row["split"] == split}
            if split == "eval":
                assert set(found) == set(wanted), (tag, sorted(found), sorted(wanted))
            assert all(near(found[step], value) for step, value in wanted.items()), (tag, found, wanted)


def check_pictures(numbers, run, last):
    trained = weights(os.path.join(run, "fake.safetensors"))
    scale, bias = trained["scale.weight"], trained["scale.bias"]
    stems = {tag.rsplit("/", 1)[0] for tag in numbers if tag.endswith("/denoised")}
    assert stems, "there are no pictures"
    for stem in stems:
        assert stem + "/clean" in numbers, "no target of " + stem
        (noisy,) = numbers[stem + "/noisy"].values()
        for given, made in zip(noisy, numbers[stem + "/denoised"][last]):
            for x, y in zip(given, made):
                right = min(max(scale * x / 255 + bias, 0), 1) * 255
                assert abs(right - y) < 0.5 + abs(scale), (stem, x, y, right)


def main():
    folder, run = sys.argv[1:]
    with open(os.path.join(run, "log.csv"), newline="") as file:
        log = list(csv.DictReader(file))
    parts = [read(path) for path in sorted(glob.glob(os.path.join(folder, "events.out.tfevents.*")))]
    assert len(parts) == 2, "%d files" % len(parts)
    parts.sort(key=lambda part: part[1])
    (first, begins), (second, goes_on) = parts
    done = max(first["train/loss"])
    assert begins == 1 and goes_on == done + 1 == min(second["train/loss"]), (begins, goes_on, done)
    assert sorted(second["train/loss"]) == list(range(goes_on, max(second["train/loss"]) + 1)), "a step is missing"
    check_numbers(parts, log)
    check_pictures(second, run, max(second["train/loss"]))
    print("%d and %d tags" % (len(first), len(second)))


main()
