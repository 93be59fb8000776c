"""make_volumes.py FOLDER COUNT DEPTH HEIGHT WIDTH [CHANNELS]: volumes in nnU-Net's layout, imagesTr/case_N_000C.nii.gz
and labelsTr/case_N.nii.gz, and dataset.json: a ball (class 1) and a box (class 2) in noise, voxels of 2 x 1 x 0.5 mm."""
import array
import gzip
import json
import os
import random
import struct
import sys

SPACING = (2.0, 1.0, 0.5)  # z, y, x


def write(path, size, datatype, letter, voxels, origin=0.0):
    """Voxels of the type `letter` of module array, x fastest; size is z, y, x."""
    values = array.array(letter, voxels)
    header = struct.pack("<i36x8h14x2h2x", 348, 3, size[2], size[1], size[0], 1, 1, 1, 1, datatype, 8 * values.itemsize)
    header += struct.pack("<8f3f3xB", 1, SPACING[2], SPACING[1], SPACING[0], 1, 1, 1, 1, 352, 0, 0, 2)
    header = header.ljust(252, b"\0") + struct.pack("<2h24x", 0, 1)
    header += struct.pack("<12f", SPACING[2], 0, 0, origin, 0, SPACING[1], 0, 0, 0, 0, SPACING[0], 0)
    data = header.ljust(344, b"\0") + b"n+1\0" + bytes(4) + values.tobytes()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(gzip.compress(data, 1, mtime=0) if path.endswith(".gz") else data)


def case(number, size):
    """Classes of voxels, and a level for each, of two shapes at places of their own."""
    draw = random.Random(number)
    ball = [draw.uniform(0.3, 0.5) * n for n in size]
    box = [draw.uniform(0.55, 0.7) * n for n in size]
    labels = []
    for z in range(size[0]):
        for y in range(size[1]):
            for x in range(size[2]):
                at = (z, y, x)
                near = sum(((a - b) / n) ** 2 for a, b, n in zip(at, ball, size)) < 0.03
                inside = all(abs(a - b) < 0.12 * n for a, b, n in zip(at, box, size))
                labels.append(2 if inside else 1 if near else 0)
    return labels, [int(100 + 300 * k + draw.gauss(0, 40)) for k in labels]


def main():
    folder, count = sys.argv[1], int(sys.argv[2])
    size = tuple(int(n) for n in sys.argv[3:6])
    channels = int(sys.argv[6]) if len(sys.argv) > 6 else 1
    for number in range(count):
        labels, levels = case(number, size)
        name = "case_%d" % number
        for channel in range(channels):
            values = levels if channel == 0 else [v // (1 + channel) - 50 for v in levels]
            write("%s/imagesTr/%s_%04d.nii.gz" % (folder, name, channel), size, 4, "h", values)
        write("%s/labelsTr/%s.nii.gz" % (folder, name), size, 2, "B", labels)
    with open(os.path.join(folder, "dataset.json"), "w", encoding="utf-8") as file:
        json.dump({"channel_names": {str(c): "MR" for c in range(channels)},
                   "labels": {"background": 0, "ball": 1, "box": 2}, "numTraining": count,
                   "file_ending": ".nii.gz"}, file, indent=4)


if __name__ == "__main__":
    main()
