"""The compiler's time grows in proportion to its input.

    linear_test.py UNETC

Each kind of long file is checked, or planned, at a size n and at 4 n.  What is linear takes four times as long, what is quadratic
sixteen times; the test allows ten.  The processor's time counts, not the clock's: the program's and the system's for it,
as only their sum is exact.  Times below a hundredth of a second are taken for that much: noise divided by noise says
nothing.  What fails is measured again, up to three times, and of
all runs the fastest count.
"""
import os
import subprocess
import sys
import tempfile

HEAD = "input x : image(4, 8, 8)\ntarget t : image(4)\n"
TAIL = "output y = conv(a, 4, 1)\ntrain {\n    loss mse(y, t)\n    epochs 1\n}\n"
FIRST = "a = conv(x, 4, 1)\n"
ATTEMPTS = 3
ALLOWED = 10
FLOOR = 0.01


def numbered(line, n):
    """LINE with each number from 1 and the one before it."""
    return "".join(line.format(i, i - 1) for i in range(1, n))


def comments(n):
    return HEAD + ("# " + 97 * "c" + "\n") * n + FIRST + TAIL


def lets(n):
    return "let v0 = 4\n" + numbered("let v{} = v{}\n", n) + HEAD + f"a = conv(x, v{n - 1}, 1)\n" + TAIL


def unused_lets(n):
    return "".join(f"let v{i} = {i}\n" for i in range(n)) + HEAD + FIRST + TAIL


def same_name(n):
    return HEAD + FIRST + "a = relu(a)\n" * n + TAIL


def names(n):
    return HEAD + "v0 = relu(x)\n" + numbered("v{} = relu(v{})\n", n) + f"a = v{n - 1}\n" + TAIL


def layers(n):
    return HEAD + "v0 = relu(x)\n" + numbered("v{} = conv(v{}, 4, 1)\n", n) + f"a = v{n - 1}\n" + TAIL


def shared_layers(n):
    made = "".join(f"layer f{i} = conv(4, 1)\n" for i in range(n))
    return HEAD + made + FIRST + "".join(f"a = f{i}(a)\n" for i in range(n)) + TAIL


def loop(n):
    return HEAD + FIRST + f"for i in range({n}) {{\n    a = relu(conv(a, 4, 1))\n}}\n" + TAIL


def chain(n):
    return HEAD + "a = conv(x, 4, 1)" + " -> relu" * n + "\n" + TAIL


def lines_of_chain(n):
    return HEAD + "a = conv(x, 4, 1)" + "\n    # then\n    -> relu" * n + "\n" + TAIL


def blocks(n):
    made = "".join(f"block b{i}(x) {{\n    return relu(x)\n}}\n" for i in range(n))
    return HEAD + made + FIRST + "".join(f"a = b{i}(a)\n" for i in range(n)) + TAIL


def blocks_that_come_later(n):
    """Each calls the next and only the last has weights, so all have."""
    made = "".join(f"block b{i}(x) {{\n    return b{i + 1}(x)\n}}\n" for i in range(n))
    return HEAD + made + f"block b{n}(x) {{\n    return conv(x, 4, 1)\n}}\n" + FIRST + TAIL


def concat(n):
    return HEAD + FIRST + "list = [a]\n" + "list += [a]\n" * n + "a = conv(concat(list), 4, 1)\n" + TAIL


def losses(n):
    line = "    loss mse(y, t)\n"
    return HEAD + FIRST + TAIL.replace(line, line * n)


def inputs(n):
    """Each has a source, and names it like the one before."""
    made = "".join(f"input x{i} : image(4)\n" for i in range(n))
    data = "data {\n    t = images(\"*.png\", channels = 4)\n    x = t\n"
    return HEAD + made + FIRST + TAIL + data + "    x0 = x\n" + numbered("    x{} = x{} + 1\n", n) + "}\n"


def sources(n):
    data = "data {\n    t = images(\"*.png\", channels = 4)\n    v0 = t\n"
    return HEAD + FIRST + TAIL + data + numbered("    v{} = v{} + gaussian(0.1)\n", n) + f"    x = v{n - 1}\n}}\n"


def outputs(n):
    """All begin at one tensor and end in the gradient of it."""
    made = "".join(f"output y{i} = conv(a, 4, 1)\n" for i in range(n))
    return HEAD + FIRST + made + TAIL.replace("mse(y, t)\n", "mse(y, t)\n" + "".join(
        f"    loss mse(y{i}, t)\n" for i in range(n)))


def one_layer_often(n):
    return HEAD + "layer f = conv(4, 1)\n" + FIRST + f"for i in range({n}) {{\n    a = relu(f(a))\n}}\n" + TAIL


def wide_concat(n):
    made = f"list = [a]\nfor i in range({n}) {{\n    list += [conv(a, 1, 1)]\n}}\n"
    return HEAD + FIRST + made + "a = conv(concat(list), 4, 1)\n" + TAIL


def stars(n):
    """One of two layers fits; of the other it is known behind its last character."""
    long_name = n * "a"
    made = FIRST + f'a = conv(a, 4, 1, name = "{long_name}") -> conv(4, 1, name = "{long_name}b")\n'
    return HEAD + made + TAIL.replace("epochs 1\n", f'epochs 1\n    freeze "{n * "*a"}b"\n')


CHECKED = [(comments, 10000), (lets, 10000), (unused_lets, 4000), (same_name, 20000), (names, 20000), (layers, 5000),
           (shared_layers, 5000), (loop, 10000), (chain, 15000), (lines_of_chain, 15000), (blocks, 5000),
           (blocks_that_come_later, 5000), (concat, 5000), (losses, 10000), (inputs, 3000), (sources, 3000),
           (stars, 10000)]
PLANNED = [(layers, 1500), (outputs, 1000), (one_layer_often, 1500), (wide_concat, 1000)]


def processor_time(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(command)}: status {status}")
    return usage.ru_utime + usage.ru_stime


def time_of(unetc, command, folder, text):
    path = os.path.join(folder, "long.unet")
    with open(path, "w") as f:
        f.write(text)
    return max(FLOOR, processor_time([unetc, command, path]))


def is_linear(unetc, command, folder, kind, n):
    small = large = float("inf")
    for _ in range(ATTEMPTS):
        small = min(small, time_of(unetc, command, folder, kind(n)))
        large = min(large, time_of(unetc, command, folder, kind(4 * n)))
        print(f"{command:6}{kind.__name__:24}{n:8} {small:7.3f} s {4 * n:8} {large:7.3f} s  {large / small:5.1f} times")
        if large <= ALLOWED * small:
            return True
    return False


def main():
    with tempfile.TemporaryDirectory() as folder:
        slow = [f"{command} {kind.__name__}" for command, kinds in (("check", CHECKED), ("mem", PLANNED))
                for kind, n in kinds if not is_linear(sys.argv[1], command, folder, kind, n)]
    if slow:
        raise SystemExit("more than linear: " + " ".join(slow))


main()
