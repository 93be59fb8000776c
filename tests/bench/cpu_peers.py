#!/usr/bin/env python3
"""cpu_peers.py - ours beside PyTorch, OpenVINO and ONNX Runtime on processors; cpu.sh runs it where they are installed.

Usage: cpu_peers.py [--unetc=build/unetc] [--conv=METHOD] [--threads=N] [--rounds=5] [--seconds=2] [--json=FILE]
                    [--precision=f32|bf16] [--half] [--no-layers] [--without=PEER] [--batch=N] [--warm-up=3] [NET...]
A NET is tiny_unet or unet_denoiser (both), or one that segments: pp_liteseg, enet, milesial, or one of volumes: nnunet,
basic_unet, all these in f32; or one with attention: segformer, restormer, swinir, unetr, ddpm (of CIFAR-10), diffusion_unet (of diffusers'
tutorial), bert (base, 512 words). Predictions have one picture. tiny_unet and unet_denoiser have the size of the file, those that
segment 256 x 256 and 512 x 512, those of volumes 64 x 64 x 64 and 96 x 96 x 96 (or --size=SIZE); data is in memory already.
Ours is what `PROGRAM bench` says. With --conv=METHOD it is compiled with that, and its rows say so. With --half, what took
more than half of PyTorch's memory is compiled once more with a budget of that half, and has a second row. Of volumes PyTorch
has a row for each way in which its tensors can lie; a step at 96 x 96 x 96 may take it a minute, so `--rounds=2 --warm-up=1
--batch=1` is a comparison that ends.

Everybody is a process of its own, prepared and warmed up in the beginning; then all have their turns, a few steps each,
for so many rounds, so that other work on the machine hurts all alike. What is told are medians over all rounds, how many
times as long a peer takes as ours, and the memory that a process took at its peak (ours: in two steps of training, or
predicting a picture; of volumes in `PROGRAM bench`, of a program that can do nothing else). PyTorch's allocator keeps
what it was given, as people set it up. A peer that cannot run is told
and left out. Beside busy programs a peer's threads spin in vain: GOMP_SPINCOUNT=2000 in the environment shortens that,
as ours does for itself.

The second table has our steps beside single calls of oneDNN, through PyTorch, for the same convolutions: what packs
weights counts with ours, what converts layouts with theirs. Ours also applies ReLU and its mask meanwhile, and
skips the gradient by the net's input.
"""
import argparse
import ctypes.util
import itertools
import json
import os
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PRECISIONS = ("f32", "bf16")
BESIDE_ARENA = 24  # MiB that a program of ours takes at most beside its arena: its code, the loader's ring, a picture


class Net:
    """One that is compared: its file in examples/, options of unetc, the definition in PyTorch, how that is trained, and
    the places of pictures and masks in a folder of data.  TIMED: it reads a time beside the picture.
    SIDE: of the pictures there.  WORDS: it reads texts of so many words, and tells those that are hidden."""

    def __init__(self, file, torch, sizes=(None,), precisions=PRECISIONS, batch=None, classes=None, optimizer="adam",
                 loss="cross_entropy", places=("noisy/%d.png", "clean/%d.png"), mask=1, channels=3, options=(), timed=False, side=None, words=None):
        self.file, self.torch, self.sizes, self.precisions = file, torch, sizes, precisions
        self.options, self.timed, self.side = list(options), timed, side or (256 if classes is None else 512)
        self.batch, self.classes, self.optimizer, self.loss = batch, classes, optimizer, loss
        self.places, self.mask, self.channels = places, mask, channels
        self.volumes, self.words = file.startswith("volume/"), words


def oracle_unet(base):
    def make():
        import record
        return record.NETS["unet"](base=base)
    return make


def public(name, **definitions):
    def make():
        import nets
        return nets.NETS[name](**definitions)
    return make


def of_volumes(name):
    def make():
        import nets_3d
        return getattr(nets_3d, name)()
    return make


TUTORIAL = {"size": 128, "widths": [128, 128, 256, 256, 512, 512], "attends": [False, False, False, False, True, False], "ddpm": False,
            "head_width": 8}
BOTH = ("256x256", "512x512")
CUBES = ("64x64x64", "96x96x96")
NETS = {
    "tiny_unet": Net("denoise/tiny_unet.unet", oracle_unet(16)),
    "unet_denoiser": Net("denoise/unet_denoiser.unet", oracle_unet(64)),
    "pp_liteseg": Net("pp_liteseg/pp_liteseg.unet", public("pp_liteseg"), BOTH, ("f32",), 4, 19, "sgd", "ohem",
                      places=("train/images/%d.png", "train/labels/%d.png")),
    "enet": Net("enet/enet.unet", public("enet"), BOTH, ("f32",), 4, 19, places=("train/%d.png", "trainannot/%d.png")),
    "milesial": Net("milesial/milesial.unet", public("milesial"), BOTH, ("f32",), 1, 2, "rmsprop",
                    "cross_entropy_and_dice", ("imgs/%d.jpg", "masks/%d_mask.png"), 255),
    "nnunet": Net("volume/nnunet.unet", of_volumes("NNUNet"), CUBES, ("f32",), 2, 3, "sgd", "deep_supervision", channels=1),
    "basic_unet": Net("volume/basic_unet.unet", of_volumes("BasicUNet"), CUBES, ("f32",), 2, 2, "adam",
                      "cross_entropy_and_dice", channels=1),
    "segformer": Net("segformer/segformer.unet", public("segformer"), ("512x512",), batch=2, classes=19, optimizer="adamw",
                     places=("train/images/%d.png", "train/labels/%d.png")),
    "restormer": Net("restormer/restormer.unet", public("restormer"), ("128x128",), batch=1, optimizer="adamw", places=("train/%d.png",)),
    "swinir": Net("swinir/swinir.unet", public("swinir"), ("128x128",), batch=1, places=("train/%d.png",)),
    "unetr": Net("volume/unetr.unet", public("unetr"), ("96x96x96",), ("f32",), 1, 14, "adamw", "cross_entropy_and_dice", channels=1),
    "ddpm": Net("diffusion/ddpm.unet", public("ddpm"), ("32x32",), batch=8, places=("pictures/%d.png",), timed=True, side=32),
    "diffusion_unet": Net("diffusion/ddpm.unet", public("ddpm", **TUTORIAL), ("128x128",), batch=1, places=("pictures/%d.png",),
                          options=["-D%s=%s" % (name, json.dumps(value, separators=(",", ":"))) for name, value in TUTORIAL.items()],
                          timed=True, side=128),
    "bert": Net("bert/bert.unet", public("bert"), ("512",), batch=1, optimizer="adamw", places=("texts/%d.npy",), words=30522),
}
DEFAULT = ("tiny_unet", "unet_denoiser")
PEERS = {  # what of a net is compared: the ways of peers, and the precisions each has
    "train": {"PyTorch": PRECISIONS, "PyTorch, compiled": PRECISIONS},
    "predict": {"PyTorch": PRECISIONS, "PyTorch, compiled": PRECISIONS, "OpenVINO": PRECISIONS, "ONNX Runtime": ("f32",)},
}
OF_VOLUMES = {"PyTorch": ("f32",), "PyTorch, channels first": ("f32",)}
LEAST_STEPS, PATIENCE = 2, 1200
# Which of a convolution's three directions a step of ours belongs to, by its operator.
DIRECTIONS = ("forward", "data", "weights")
DIRECTION = {"conv": "forward", "upconv": "forward", "conv_pack": "forward", "conv_dgrad": "data", "upconv_dgrad": "data",
             "conv_dgrad_pack": "data", "conv_wgrad": "weights", "upconv_wgrad": "weights"}


# ---- a peer's process: says that it is ready, then answers each line (seconds to work) with times -----------------


def timed(step, seconds):
    """Seconds of each of at least a few runs of STEP, for about SECONDS."""
    times, end = [], time.perf_counter() + seconds
    while len(times) < LEAST_STEPS or time.perf_counter() < end:
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    return times


def torch_net(job):
    import torch
    sys.path[:0] = [os.path.join(ROOT, "tests", folder) for folder in ("oracle", "models")]
    torch.set_num_threads(job["threads"])
    torch.manual_seed(0)
    return NETS[job["net"]].torch()


def count_of(net):
    return sum(p.numel() for p in net.parameters())


def cast(precision):
    import contextlib
    import torch
    return torch.autocast("cpu", dtype=torch.bfloat16) if precision == "bf16" else contextlib.nullcontext()


def layout(job):
    import torch
    if job["way"] == "PyTorch, channels first":
        return torch.contiguous_format
    return torch.channels_last_3d if len(job["size"]) == 3 else torch.channels_last


def pictures(job):
    import torch
    if NETS[job["net"]].words:
        return torch.randint(NETS[job["net"]].words, (job["batch"], 1, job["size"][-1]))
    shape = (job["batch"], NETS[job["net"]].channels, *job["size"])
    return torch.rand(shape).contiguous(memory_format=layout(job))


def inputs(job):
    import torch
    return [pictures(job)] + [torch.rand(job["batch"])] * NETS[job["net"]].timed


def torch_loss(job):
    """Of the answer of a net: how far it is from random targets."""
    import torch
    from torch.nn import functional
    net = NETS[job["net"]]
    if net.words:  # of 15 in 100
        told = torch.where(torch.rand(job["batch"], job["size"][-1]) < 0.15, pictures(job)[:, 0], -1)
        return lambda answer: functional.cross_entropy(answer.float(), told, ignore_index=-1)
    if net.classes is None:
        clean = pictures(job)
        return lambda answer: functional.mse_loss(answer.float(), clean)
    labels = torch.randint(0, net.classes, (job["batch"], *job["size"]))

    def cross_entropy_and_dice(answer):
        step = labels.shape[-1] // answer.shape[-1]
        here = labels[(slice(None), *[slice(step // 2, None, step)] * (labels.dim() - 1))]
        truth = functional.one_hot(here, net.classes).movedim(-1, 1).float()
        shares, axes = functional.softmax(answer, 1), (0, *range(2, answer.dim()))
        ratio = (2 * (shares * truth).sum(axes) + 1e-6) / (shares.sum(axes) + truth.sum(axes) + 1e-6)
        return functional.cross_entropy(answer, here) + 1 - ratio.mean()

    def deep_supervision(answers):
        """Each finer answer counts twice as much as the one before; the coarsest does not."""
        weights = [2.0 ** k for k in range(len(answers) - 1)]
        return sum(w / sum(weights) * cross_entropy_and_dice(a) for w, a in zip(weights, answers[1:]))

    def ohem(answer):
        """Of the points that are less sure than 0.7, or of a sixteenth of all, those that are least."""
        terms = functional.cross_entropy(answer, labels, reduction="none")
        shares = torch.exp(-terms.detach()).flatten()
        limit = shares.kthvalue(shares.numel() // 16).values.clamp(min=0.7)
        kept = (torch.exp(-terms.detach()) < limit).float()
        return (terms * kept).mean() / (kept.mean() + 1e-5)

    losses = {"cross_entropy": lambda answer: functional.cross_entropy(answer, labels),
              "cross_entropy_and_dice": cross_entropy_and_dice, "ohem": ohem}
    if net.loss == "deep_supervision":
        return deep_supervision
    return lambda answer: sum(losses[net.loss](head) for head in (answer if isinstance(answer, list) else [answer]))


def torch_optimizer(job, parameters):
    import torch
    if NETS[job["net"]].optimizer == "adam":
        return torch.optim.Adam(parameters, lr=5e-4, fused=True)
    if NETS[job["net"]].optimizer == "adamw":
        return torch.optim.AdamW(parameters, lr=1e-4, fused=True)
    if NETS[job["net"]].optimizer == "sgd":
        return torch.optim.SGD(parameters, lr=5e-3, momentum=0.9, weight_decay=5e-4, fused=True)
    return torch.optim.RMSprop(parameters, lr=1e-5, momentum=0.999, weight_decay=1e-8)


def torch_step(job):
    import torch
    net = torch_net(job).to(memory_format=layout(job))
    net.train(job["program"] == "train")
    count, noisy, loss = count_of(net), inputs(job), torch_loss(job)
    optimizer = torch_optimizer(job, net.parameters())
    run = torch.compile(net) if job["way"] == "PyTorch, compiled" else net

    def train():
        optimizer.zero_grad(set_to_none=True)
        with cast(job["precision"]):
            answer = run(*noisy)
        loss(answer).backward()
        optimizer.step()

    def predict():
        with torch.inference_mode(), cast(job["precision"]):
            answer = run(*noisy)
            if job["classes"]:
                (answer[-1] if isinstance(answer, list) else answer).argmax(1)

    return count, train if job["program"] == "train" else predict


def openvino_step(job):
    import openvino
    net, given = torch_net(job).eval(), inputs(job)
    model = openvino.convert_model(net, example_input=tuple(given))
    model.reshape({i: list(tensor.shape) for i, tensor in enumerate(given)})
    wanted = {"INFERENCE_PRECISION_HINT": job["precision"], "INFERENCE_NUM_THREADS": job["threads"],
              "PERFORMANCE_HINT": "LATENCY"}
    request = openvino.Core().compile_model(model, "CPU", wanted).create_infer_request()
    data = [tensor.contiguous().numpy() for tensor in given]
    return count_of(net), lambda: request.infer(data, share_inputs=True, share_outputs=True)


def onnx_step(job):
    import onnxruntime
    import torch
    net, given = torch_net(job).eval(), [tensor.contiguous() for tensor in inputs(job)]
    path = os.path.join(job["folder"], job["net"] + ".onnx")
    names = ["noisy", "time"][:len(given)]
    torch.onnx.export(net, tuple(given), path, input_names=names)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = job["threads"], 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return count_of(net), lambda: session.run(None, {name: tensor.numpy() for name, tensor in zip(names, given)})


def layer_calls(job):
    """{layer: (description, {direction: call})}: each convolution of the net by itself, as PyTorch asks oneDNN for it."""
    import torch
    net, calls = torch_net(job), {}
    kind = torch.bfloat16 if job["precision"] == "bf16" else torch.float32

    def keep(name):
        def hook(module, inputs, output):
            x, dy = (t.detach().to(kind).contiguous(memory_format=torch.channels_last) for t in (inputs[0], output))
            w, b = module.weight.detach().to(kind), module.bias.detach().to(kind)
            transposed = isinstance(module, torch.nn.ConvTranspose2d)
            rest = (module.stride, module.padding, module.dilation, transposed, (0, 0), 1)

            def backward(*wanted):
                torch.ops.aten.convolution_backward(dy, x, w, [b.numel()], *rest, list(wanted))
            text = "%d x %d, %d to %d, %d x %d" % (*x.shape[2:], x.shape[1], b.numel(), *module.kernel_size)
            calls[name] = text, {"forward": lambda: torch.convolution(x, w, b, *rest),
                                 "data": lambda: backward(True, False, False),
                                 "weights": lambda: backward(False, True, True)}
        return hook
    for name, module in net.named_modules():
        if isinstance(module, (torch.nn.Conv2d, torch.nn.ConvTranspose2d)):
            module.register_forward_hook(keep(name))
    with torch.no_grad():
        net(pictures(job))
    return calls


def work_on_layers(job):
    calls = layer_calls(job)

    def answer(seconds):
        share = seconds / len(calls) / len(DIRECTIONS)
        return {name: {"shape": text, **{direction: timed(call[direction], share) for direction in DIRECTIONS}}
                for name, (text, call) in calls.items()}
    return count_of(torch_net(job)), answer


def work_on_steps(job):
    make = {"OpenVINO": openvino_step, "ONNX Runtime": onnx_step}.get(job["way"], torch_step)
    count, step = make(job)
    for _ in range(job["warm_up"]):
        step()
    return count, lambda seconds: timed(step, seconds)


def peak_memory():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def worker(job):
    told, sys.stdout = os.fdopen(os.dup(1), "w"), sys.stderr  # what libraries print is not an answer
    try:
        count, answer = (work_on_layers if job["way"] == "layers" else work_on_steps)(job)
    except Exception as error:  # whatever is wrong with a peer
        print(json.dumps({"error": " ".join(str(error).split())[:200] or type(error).__name__}), file=told, flush=True)
        return
    print(json.dumps({"parameters": count}), file=told, flush=True)
    for line in sys.stdin:
        print(json.dumps({"times": answer(float(line)), "memory": peak_memory()}), file=told, flush=True)


# ---- those who take turns ---------------------------------------------------------------------------------


def allocator():
    """Environment that keeps freed memory: jemalloc or tcmalloc where installed, else glibc told to."""
    for name in ("jemalloc", "tcmalloc", "tcmalloc_minimal"):
        found = ctypes.util.find_library(name)
        if found is not None:
            return {"LD_PRELOAD": found}
    return {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40), "MALLOC_TOP_PAD_": str(64 << 20)}


class Peer:
    def __init__(self, job, log):
        self.way, self.times, self.memory, self.error = job["way"], [], None, None
        environment = {**os.environ, "OMP_NUM_THREADS": str(job["threads"]), **allocator()}
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--worker", json.dumps(job)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=environment)
        self.parameters = self.answer().get("parameters")

    def answer(self):
        """What it says next, or nothing, with the reason in `error`."""
        if self.error is None and not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            self.error = "no answer for %d minutes" % (PATIENCE // 60)
        line = b"" if self.error is not None else self.process.stdout.readline()
        said = json.loads(line) if line else {"error": self.error or "it ended with code %d" % self.process.wait()}
        self.error = said.get("error")
        return said

    def turn(self, seconds):
        if self.error is not None:
            return
        self.process.stdin.write(b"%f\n" % seconds)
        self.process.stdin.flush()
        said = self.answer()
        if self.error is None:
            self.times.append(said["times"])
            self.memory = said["memory"]

    def seconds(self):
        return [second for turn in self.times for second in turn]

    def end(self):
        self.process.stdin.close()
        if self.error is not None:
            self.process.kill()
        self.process.wait()


class Ours:
    """BUDGET: in MiB, of the program alone; WEIGHTS: to predict with, else two steps of training make them."""

    def __init__(self, shop, net, program, precision, size, budget=None, weights=None):
        self.net, self.program, self.precision, self.threads, self.turns = net, program, precision, shop.threads, []
        self.path = os.path.join(shop.folder, "-".join((net, program, precision, size or "own", str(budget))))
        limits = [] if budget is None else ["--mem=%dMiB" % budget]
        self.name = " ".join(["unetc", *shop.options, *limits])
        options = [*shop.options, *NETS[net].options, *limits, "--precision=" + precision]
        options += [] if size is None else ["--size=" + size, "--batch=%d" % (shop.batch or NETS[net].batch)]
        programs = "train,predict" if program == "predict" and weights is None and not NETS[net].volumes else program
        self.weights = weights or os.path.join(self.path + "-run", os.path.basename(NETS[net].file)[:-5] + ".safetensors")
        source = os.path.join(ROOT, "examples", NETS[net].file)
        execute([shop.unetc, *options, "--programs=" + programs, "-o", self.path, source])
        info = json.loads(execute([self.path, "info", "--format=json"]))
        self.parameters = info["parameter_count"]
        self.shape = next(p for p in info["programs"] if p["name"] == program)
        self.memory = self.measure_memory(shop)

    def measure_memory(self, shop):
        if NETS[self.net].volumes:
            return peak_of([self.path, "bench", "--steps=2", "--threads=%d" % self.threads])
        out = self.path + "-run"
        pictures = shop.data_of(self.net)
        train = [self.path, "train", "--data=" + pictures, "--steps=2", "--out=" + out, "--overwrite", "--threads=%d" % self.threads]
        if self.program == "train":
            return peak_of(train)
        if not os.path.exists(self.weights):
            execute(train)
        if NETS[self.net].timed:  # one step of a sample reads what a prediction reads
            return peak_of([self.path, "sample", "--weights=" + self.weights, "-o", out + ".png", "--count=%d" % self.shape["batch"],
                            "--steps=1", "--threads=%d" % self.threads])
        picture, answer = self.path + "-in.png", out + ".png"
        if NETS[self.net].words:
            picture, answer = self.path + "-in.npy", out + ".npy"
            write_text(picture, self.shape["size"][-1], NETS[self.net].words)
        else:
            write_picture(picture, *reversed(self.shape["size"][1:]))
        return peak_of([self.path, "predict", "--weights=" + self.weights, picture, "-o", answer,
                        "--threads=%d" % self.threads])

    def turn(self, seconds):
        middle = self.turns[-1]["median"] if self.turns else seconds / LEAST_STEPS
        steps = max(LEAST_STEPS, min(200, int(seconds / middle)))
        said = json.loads(execute([self.path, "bench", "--format=json", "--steps=%d" % steps,
                                   "--threads=%d" % self.threads]))
        self.turns.append(next(p for p in said["programs"] if p["name"] == self.program))

    def seconds(self):
        return [turn["median"] for turn in self.turns]

    def layers(self):
        """{layer: {direction: seconds}}: medians over rounds, steps of one layer added up."""
        found = {}
        for index, part in enumerate(self.turns[0]["parts"]):
            op, _, layer = part["name"].partition(" of ")
            op = op.partition(" + ")[0]  # a convolution that does what is behind it, too
            if op in DIRECTION:
                of = found.setdefault(layer, {})
                seconds = statistics.median(turn["parts"][index]["seconds"] for turn in self.turns)
                of[DIRECTION[op]] = of.get(DIRECTION[op], 0) + seconds
        return found


# ---- comparisons ------------------------------------------------------------------------------------------


def execute(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        sys.exit("%s\nexits with code %d: %s" % (" ".join(command), done.returncode, done.stderr.decode()))
    return done.stdout.decode()


def peak_of(command):
    """Bytes that COMMAND has in memory at its peak."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit("%s\nfails" % " ".join(command))
    return usage.ru_maxrss * 1024


def write_picture(path, width, height, mask=None):
    """A PNG of a gradient; of a MASK, which has 0 and that value, of two halves."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    if mask is None:
        rows = b"".join(b"\0" + bytes((x + y) * k % 256 for x in range(width) for k in (1, 2, 3)) for y in range(height))
    else:
        rows = (b"\0" + bytes(mask * (2 * x < width) for x in range(width))) * height
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n"
                   + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2 if mask is None else 0, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def write_text(path, count, words):
    """An array of NumPy of the numbers of words."""
    head = ("{'descr': '<i4', 'fortran_order': False, 'shape': (%d,), }" % count).encode()
    head += b" " * (63 - (10 + len(head)) % 64) + b"\n"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
        file.write(struct.pack("<%di" % count, *(1000 + 7919 * i % (words - 1000) for i in range(count))))


class Shop:
    def __init__(self, arguments, folder):
        self.unetc, self.threads, self.folder = os.path.abspath(arguments.unetc), arguments.threads, folder
        self.rounds, self.seconds, self.layers = arguments.rounds, arguments.seconds, not arguments.no_layers
        self.options = [] if arguments.conv is None else ["--conv=" + arguments.conv]
        self.half, self.batch, self.warm_up = arguments.half, arguments.batch, arguments.warm_up
        self.log, self.results, self.without = sys.stderr, [], arguments.without

    def data_of(self, net):
        """A folder of data of the net, of few pictures."""
        folder, net = os.path.join(self.folder, net + "-data"), NETS[net]
        if not os.path.exists(folder):
            for number in range(8):
                for kind, place in enumerate(net.places):
                    is_mask = kind == 1 and net.classes is not None
                    if net.words:
                        write_text(os.path.join(folder, place % number), 2000, net.words)
                        continue
                    write_picture(os.path.join(folder, place % number), net.side, net.side, net.mask if is_mask else None)
        return folder

    def compare(self, net, program, precision, size):
        ours = Ours(self, net, program, precision, size)
        job = {"net": net, "program": program, "precision": precision, "threads": self.threads, "folder": self.folder,
               "warm_up": self.warm_up,
               "batch": ours.shape["batch"], "size": ours.shape["size"][0 if NETS[net].volumes else 1:], "classes": NETS[net].classes}
        all_ways = OF_VOLUMES if NETS[net].volumes else PEERS[program]
        ways = [way for way, precisions in all_ways.items() if precision in precisions and way not in self.without]
        if program == "train" and self.layers and NETS[net].classes is None and not NETS[net].words:
            ways.append("layers")
        with open(os.path.join(self.folder, "log.txt"), "w") as log:
            peers = [Peer({**job, "way": way}, log) for way in ways]
            for peer in peers:
                if peer.error is None and peer.parameters != ours.parameters:
                    sys.exit("%s: %s has %d parameters, not %d" % (net, peer.way, peer.parameters, ours.parameters))
            all_ours = [ours]
            for number in range(self.rounds):
                for one in peers:
                    for each in all_ours:
                        each.turn(self.seconds)
                    one.turn(self.seconds)
                if number == 0:
                    all_ours += self.smaller(ours, peers, size)
            for peer in peers:
                peer.end()
        self.tell(job, all_ours, [peer for peer in peers if peer.way != "layers"])
        for peer in peers:
            if peer.way == "layers":
                self.tell_layers(job, ours, peer)

    def smaller(self, ours, peers, size):
        """Ours within half of PyTorch's memory, where that is asked for and ours takes more, behind its first turn."""
        half = next((peer.memory / 2 for peer in peers if peer.way == "PyTorch" and peer.error is None), ours.memory)
        if not self.half or ours.memory <= half:
            return []
        found = Ours(self, ours.net, ours.program, ours.precision, size, int(half / 2**20) - BESIDE_ARENA, ours.weights)
        found.turn(self.seconds)
        return [found]

    def tell(self, job, all_ours, peers):
        title = "%s, %s, batch %d, %s, %s, %d threads" % (
            job["net"], "training step" if job["program"] == "train" else "prediction", job["batch"],
            " x ".join(map(str, job["size"])), job["precision"], job["threads"])
        print("\n%s\n  %-24s %10s %12s %10s %9s" % (title, "", "ms", "images/s", "MiB", "of ours"))
        base = statistics.median(all_ours[0].seconds())
        rows = []
        for ours in all_ours:
            seconds = statistics.median(ours.seconds())
            rows.append({"way": ours.name, "seconds": seconds, "memory": ours.memory, "ratio": seconds / base})
        for peer in peers:
            if peer.error is not None:
                rows.append({"way": peer.way, "error": peer.error})
                continue
            seconds = statistics.median(peer.seconds())
            rows.append({"way": peer.way, "seconds": seconds, "memory": peer.memory, "ratio": seconds / base})
        for row in rows:
            print("  %-24s %s" % (row["way"], row["error"] if "error" in row else "%10.3f %12.2f %10.1f %9.2f" % (
                1e3 * row["seconds"], job["batch"] / row["seconds"], row["memory"] / 2**20, row["ratio"])))
        sys.stdout.flush()
        told = ("net", "program", "precision", "threads", "batch", "size")
        self.results.append({**{key: job[key] for key in told}, "rows": rows})

    def tell_layers(self, job, ours, peer):
        print("\n%s, %s, layers in a training step, ms: %s, oneDNN's, how many times as long that is" % (
            job["net"], job["precision"], ours.name))
        if peer.error is not None:
            print("  " + peer.error)
            return
        print("  %-14s %-28s %s" % ("", "", "".join("%-27s" % d.rjust(12) for d in DIRECTIONS)))
        own, rows = ours.layers(), []
        for layer in peer.times[0]:
            row = {"layer": layer, "shape": peer.times[0][layer]["shape"]}
            for direction in DIRECTIONS:
                theirs = statistics.median(second for turn in peer.times for second in turn[layer][direction])
                row[direction] = {"unetc": own.get(layer, {}).get(direction), "oneDNN": theirs}
            rows.append(row)
            print("  %-14s %-28s %s" % (layer, row["shape"], "".join(cells(row[d]) for d in DIRECTIONS)))
        sys.stdout.flush()
        self.results[-1]["layers"] = rows


def cells(times):
    if times["unetc"] is None:
        return "%9s %8.3f %9s" % ("", 1e3 * times["oneDNN"], "")
    return "%9.3f %8.3f %8.2fx" % (1e3 * times["unetc"], 1e3 * times["oneDNN"], times["oneDNN"] / times["unetc"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unetc", default=os.path.join(ROOT, "build", "unetc"))
    parser.add_argument("--conv", metavar="METHOD", help="how ours computes 3x3 convolutions: see unetc --help")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--size", action="append", default=[], help="instead of those of the nets")
    parser.add_argument("--precision", choices=PRECISIONS, help="this one alone")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batch", type=int, help="instead of those of the nets that segment")
    parser.add_argument("--warm-up", type=int, default=3, help="steps of a peer before its first turn")
    parser.add_argument("--seconds", type=float, default=2, help="of a turn")
    parser.add_argument("--json", help="a file for all figures")
    parser.add_argument("--half", action="store_true", help="ours within half of PyTorch's memory, too")
    parser.add_argument("--no-layers", action="store_true")
    parser.add_argument("--without", metavar="PEER", action="append", default=[], help="leave that one out")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("nets", nargs="*", metavar="NET")
    arguments = parser.parse_args()
    if arguments.worker:
        return worker(json.loads(arguments.worker))
    if set(arguments.nets) - set(NETS):
        parser.error("NET is one of " + ", ".join(NETS))
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(arguments, folder)
        for net in arguments.nets or DEFAULT:
            sizes = arguments.size or NETS[net].sizes
            precisions = [known for known in NETS[net].precisions if arguments.precision in (None, known)]
            for size, program, precision in itertools.product(sizes, PEERS, precisions):
                shop.compare(net, program, precision, size)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"schema": "unet-peers/1", "comparisons": shop.results}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
