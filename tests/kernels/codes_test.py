"""codes_test.py - the optimiser's state in 8 bits: the code book of unet/codes.h is the dynamic map of Dettmers and others, "8-bit
Optimizers via Block-wise Quantization" (2022), in exact fractions; the templates of the cpu target and of the reference find the nearest
code of every number, the lower one half way between two, of zeros, infinity and NaN what the header says, and each code is its own.

Usage: codes_test.py.  CC names the compiler."""
import bisect
import fractions
import math
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = "-std=gnu11 -O2 -fopenmp -Wall -Wextra -Werror -Wno-pass-failed -ffp-contract=fast -fno-math-errno -fno-trapping-math".split()


def code_book(has_sign):
    shares = [fractions.Fraction(0), fractions.Fraction(1)]
    for decade in range(7):
        parts = 2**decade * (1 if has_sign else 2)
        low, high = fractions.Fraction(1, 10**(7 - decade)), fractions.Fraction(1, 10**(6 - decade))
        middles = [low + (high - low) * (2 * k + 1) / (2 * parts) for k in range(parts)]
        shares += middles + ([-x for x in middles] if has_sign else [])
    assert len(set(shares)) == 256
    return sorted(shares)


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def of_bits(text):
    return struct.unpack("f", struct.pack("I", int(text, 16)))[0]


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


def check_block(words, shares):
    """Returns how many numbers of a block have another code or another value than they should."""
    borders = [single((a + b) / 2) for a, b in zip(shares, shares[1:])]
    numbers = [word.split(":") for word in words[1:]]
    x, codes, back = [of_bits(n[0]) for n in numbers], [int(n[1]) for n in numbers], [of_bits(n[2]) for n in numbers]
    maximum = max([abs(number) for number in x if not math.isnan(number)] + [0])
    wrong = 0 if same(of_bits(words[0]), maximum) else 1
    for number, code, value in zip(x, codes, back):
        share = 0.0 if maximum == 0 else math.nan if math.isinf(number) else single(number / maximum)
        nearest = 0 if math.isnan(share) else bisect.bisect_left(borders, share)
        with_infinity = math.nan if math.isinf(maximum) and shares[code] == 0 else single(single(shares[code]) * maximum)
        wrong += code != nearest or not same(value, with_infinity)
    return wrong


def main():
    books = [[float(share) for share in code_book(has_sign)] for has_sign in (0, 1)]
    said, failures = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, define in (("cpu", []), ("reference", ["-DREFERENCE"])):
            program = os.path.join(folder, name)
            subprocess.run([os.environ.get("CC", "cc"), *FLAGS, *define, "-I" + os.path.join(HERE, "../../runtime/include"),
                            os.path.join(HERE, "codes.c"), "-o", program, "-lm"], check=True)
            said[name] = subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    blocks = 0
    for name, lines in said.items():
        for has_sign in (0, 1):
            shares = [float.fromhex(line.split()[2]) for line in lines if line.startswith("share %d" % has_sign)]
            if shares != books[has_sign]:
                print("FAILED: %s: the code book of numbers %s signs is another" % (name, "with" if has_sign else "without"))
                failures += 1
            for line in lines:
                if line.startswith("block %d" % has_sign):
                    words, blocks = line.split()[2:], blocks + 1
                    wrong = check_block(words, books[has_sign])
                    if wrong:
                        print("FAILED: %s: %d numbers of %d: %s" % (name, wrong, len(words) - 1, line[:200]))
                        failures += 1
    fixed = [line.split()[3:] for line in said["cpu"] if line.startswith("block")]
    fixed = [words for words in fixed if len(words) == 256 and [int(word.split(":")[1]) for word in words] == list(range(256))]
    if len(fixed) < 20:
        print("FAILED: in %d blocks of all shares each has its own code, expected are 20 or more" % len(fixed))
        failures += 1
    if said["cpu"] != said["reference"]:
        print("FAILED: the templates of the cpu target and of the reference make different codes")
        failures += 1
    print("%d blocks, %d of all codes" % (blocks, len(fixed)))
    sys.exit(1 if failures or blocks == 0 else 0)


main()
