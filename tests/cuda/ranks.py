#!/usr/bin/env python3
"""Training by ranks on GPUs, run on this processor as steps.py runs programs, under sanitizers.

    ranks.py --unetc=UNETC --runtime=libunet_runtime.a --make-pictures=MAKE_PICTURES --cudnn=FOLDER

tests/whole/ranks.unet has batch norm, dropout, augmentation, accumulation, clipping, averaged weights and a short last
batch.  Captured as graphs or not, with memory that is used again or not, one process leaves the same files; and so do 2 and 4
processes, which send each other gradients through the memory of the host, or by NCCL, whose calls nccl/ stands in for, behind the
backward pass or beside it, in whatever order streams take turns; also where each updates a slice of the weights, and where batch norms have statistics of all samples of a step.  What forgets to wait
for a bucket, or a bucket that does not wait for its gradients, is noticed.  By --reduce=fast they leave weights that are near.  A process that is killed or stopped is named.  Without Open MPI, and without
the header of NCCL, what needs them is left out, and a line says so.  The short form starts 4 processes by MPI, has one fault less,
updates slices with clipping alone, and leaves out --reduce=fast, times, trees and slow processes.  Exits with 77 without the headers of CUDA and cuDNN.
Standard library only."""
import argparse
import csv
import json
import os
import re
import shutil
import sys
import tempfile
import time

import cuda
import program

sys.path.insert(0, os.path.join(cuda.ROOT, "tests", "whole"))
import ranks  # noqa: E402

OPTIONS = ["--target=cuda", "-Dwidth=4", "--ranks=4"]


class Workshop(ranks.Workshop):
    def __init__(self, tools, folder):
        super().__init__(tools, folder)
        self.long = tools.long
        os.mkdir(folder + "/shim")
        self.environment = {**os.environ, "UNETC_CUDNN": tools.cudnn}
        self.shim = program.Shim(folder + "/shim", tools.runtime)

    def sources(self, name):
        return os.path.join(self.folder, "sources_" + name)

    def program(self, name, *options, net=ranks.NET, poison=True):
        """With POISON nothing is sent beside the step, which is checked for what it touches."""
        program.execute([self.unetc, "-S", self.sources(name), *["--poison"] * poison, *OPTIONS, *options, net], env=self.environment)
        self.shim.build(self.sources(name), os.path.join(self.folder, name))


def transport(shop):
    """What several processes need is linked, where it is there; returns whether it is."""
    if not ranks.mpi_is_there(shop) or shutil.which("mpicc") is None:
        return False
    archive = os.path.join(os.path.dirname(shop.shim.runtime), "libunet_mpi.a")
    shop.shim.objects += ["-Wl,-u,unet_mpi_transport", archive, *program.execute(["mpicc", "--showme:link"]).split()]
    return True


def nccl(shop):
    """A program that has NCCL; returns whether its header is there."""
    if not os.path.exists(os.path.join(cuda.home("include/cudnn_graph.h"), "include", "nccl.h")):
        return False
    parts = "runtime/nccl/transport.c", "tests/cuda/nccl/nccl.cpp"
    shop.shim.include.append("-I" + shop.shim.shim)
    shop.shim.objects += [shop.shim.compile(os.path.join(cuda.ROOT, part), os.path.join(shop.folder, os.path.basename(part) + ".o"))
                          for part in parts]
    shop.program("connected")
    shop.program("beside", poison=False)
    os.environ["UNET_SHIM_DEVICES"] = "4"
    return True


def check_alone(shop):
    shop.program("ranked", poison=False)
    shop.train("ranked", "one")
    shop.train("ranked", "launched", UNET_CUDA_GRAPH="0")
    shop.same("one", "launched", "without graphs")
    shop.program("apart", "--no-reuse")
    shop.train("apart", "apart", UNET_SHIM_LAZY="1")
    shop.same("one", "apart", "without reuse")
    return "graphs, launches and another plan train the same weights"


def check_several(shop):
    counts = [(4, "four")] + [(2, "two")] * shop.long
    for count, out in counts:
        ranks.execute(ranks.mpirun(count, *ranks.TRAIN, "--out=run_" + out), shop.folder)
        shop.same("one", out, "%d processes" % count)
    return "%s processes leave the files of one" % " and ".join(str(count) for count, _ in counts)


TRAIN = ["train", "--data=data", "--threads=1"]


def connected(shop, count, out, *options, program="beside", words="by NCCL 2", code=0, **environment):
    """A run of PROGRAM by COUNT processes that find each other by TCP; all end with CODE, and one says WORDS."""
    os.environ.update(environment)
    said, codes = ranks.wait(ranks.set_by_hand(shop, count, "./" + program, *TRAIN, "--out=run_" + out, *options))
    for name in environment:
        del os.environ[name]
    if codes != [code] * count or words not in said:
        raise ranks.Failure("%s: exit codes %s, does not say `%s`: %s" % (out, codes, words, said))


def check_synchronised(shop, connects):
    """Batch norms with statistics of all samples of a step: 1, 2 and 4 processes leave the same weights, with graphs or without, whatever
    waits as late as it can, by NCCL where it is there (CONNECTS) and through the host.  They are near those that the CPU trains."""
    net, steps = ranks.synchronised_net(shop), "--steps=5"
    shop.program("synced", *ranks.SYNC, net=net)
    shop.train("synced", "synced", steps)
    host = ["--exchange=host"] if connects else []
    connected(shop, 2, "synced_two", steps, *host, program="synced", words="", UNET_CUDA_GRAPH="0", UNET_SHIM_LAZY="1")
    shop.same("synced", "synced_two", "2 processes, synchronised, without graphs")
    connected(shop, 4, "synced_four", steps, program="synced", words="by NCCL" if connects else "")
    shop.same("synced", "synced_four", "4 processes, synchronised")
    ranks.Workshop.program(shop, "on_cpu", *OPTIONS[1:], *ranks.SYNC, net=net)
    for name in "synced", "on_cpu":  # a whole batch and a short one; later a ReLU's input that is rounding apart from 0 may have either sign
        shop.train(name, name + "_short", "--steps=2")
    return "synchronised batch norms: 1, 2 and 4 processes leave the same weights, those of the CPU within %.1e" % near(
        shop, "synced_short", "on_cpu_short", 3e-7)


def check_nccl(shop):
    connected(shop, 2, "nccl_two", program="connected")
    shop.same("one", "nccl_two", "2 processes by NCCL")
    connected(shop, 2, "host", "--exchange=host", program="connected", words="through the memory of the host")
    shop.same("one", "host", "2 processes through the memory of the host")
    return "2 processes leave the files of one by NCCL, too"


def check_overlap(shop):
    """What waits as late as it can shows whoever forgets to wait; where streams take turns, all are as far as they may be."""
    for count, out, options, variables in ((2, "beside", [], {}), (2, "behind", ["--overlap=no"], {}), (2, "late", [], {"UNET_SHIM_LAZY": "1"}),
                                           (4, "turns", [], {"UNET_SHIM_LAZY": "2", "UNET_CUDA_GRAPH": "0"})):
        connected(shop, count, out, *options, **variables)
        shop.same("one", out, "%d processes, %s" % (count, out))
    return "2 and 4 processes that send buckets beside the backward pass leave the files of one, in three orders of the streams"


# What is planted in exchange.c, the order of streams that shows it, and the program and the run of it that is right.
FAULTS = [("does not wait for buckets", "if (!piece->starts_ranks && e->begun > 0 &&", "if (!piece->starts_ranks && e->begun > 99 &&", "1", "beside", "one"),
          ("sends a bucket too early", "code = cudaStreamWaitEvent(stream, e->complete, 0);", "code = cudaSuccess;", "2", "beside", "one"),
          ("leaves out the statistics of others", "all = {numbers, count};\n    if (is_alone(at.cuda))", "all = {numbers, count};\n    if (all.count > 0)", "0",
           "synced", "synced")]


def build_faulty(shop, name, program, file, line, other):
    """PROGRAM with a runtime in whose FILE stands OTHER in place of LINE."""
    folder = os.path.join(shop.folder, "sources_" + name)
    shutil.copytree(os.path.join(cuda.ROOT, "runtime", "cuda"), folder)
    source = os.path.join(folder, file)
    with open(source) as opened:
        text = opened.read()
    if text.count(line) != 1:
        raise ranks.Failure("%s: nowhere to plant a fault" % file)
    with open(source, "w") as opened:
        opened.write(text.replace(line, other))
    sources = [os.path.join(shop.sources(program), part) for part in os.listdir(shop.sources(program))]
    objects = [part for part in sources if part.endswith(".c.o")] + [shop.shim.kernels(part) for part in sources if part.endswith(".cu")]
    right = shop.shim.objects
    shop.shim.objects = [o for o in right if os.path.basename(o) != file + ".o"] + [shop.shim.compile(source, source + ".o")]
    shop.shim.link(objects, os.path.join(shop.folder, name))
    shop.shim.objects = right


def check_planted(shop):
    faults = FAULTS if shop.long else FAULTS[1:]
    for number, (what, line, other, lazy, program, run) in enumerate(faults):
        name = "faulty%d" % number
        build_faulty(shop, name, program, "exchange.c", line, other)
        try:
            connected(shop, 2, name, "--steps=%d" % (5 if run == "synced" else 7), program=name, UNET_SHIM_LAZY=lazy)
            shop.same(run, name, what)
        except ranks.Failure:
            continue
        raise ranks.Failure("nobody notices a step that " + what)
    return "a step that %s is noticed" % ", or ".join(fault[0] for fault in faults)


def check_times(shop):
    """How long steps wait for other GPUs is told by the log and by `bench`."""
    for out, several in ("one", False), ("behind", True), ("beside", True):
        with open(os.path.join(shop.folder, "run_" + out, "log.csv"), newline="") as file:
            rows = [[float(row[name]) for name in ("exchange_s", "exchange_all_s")] for row in csv.DictReader(file) if row["split"] == "train"]
        if not rows or any((seconds > 0) != several or (all_of_it > 0) != several or (out == "behind" and all_of_it != seconds)
                           for seconds, all_of_it in rows):
            raise ranks.Failure("%s: steps wait for other ranks, and exchanges take, %s s" % (out, rows))
    said, codes = ranks.wait(ranks.set_by_hand(shop, 2, "./beside", "bench", "--threads=1", "--steps=3", "--format=json"))
    measured = json.loads(said[said.index("{"):])["programs"][0] if not any(codes) else {}
    if "by NCCL" not in said or not all(0 < measured[name] < 60 for name in ("exchange", "exchange_all")):
        raise ranks.Failure("`bench` of 2 processes: exit codes %s: %s" % (codes, said))
    return "the log and `bench` tell how long 2 processes wait for each other"


def check_ways(shop):
    """NCCL is taken where it can be; else the host, or what was asked for is refused."""
    os.environ["UNET_SHIM_DEVICES"] = "1"
    connected(shop, 2, "shared", "--steps=2", program="connected", words="ranks 0 and 1 have the same GPU")
    for option in "--exchange=nccl", "--reduce=fast":
        connected(shop, 2, "refused", option, words=option + ": ranks 0 and 1 have the same GPU", code=2)
    os.environ["UNET_SHIM_DEVICES"] = "4"
    connected(shop, 2, "refused", "--reduce=fast", "--exchange=host", words="choose one", code=2)
    return "NCCL is refused where two processes share a GPU"


def near(shop, exact, fast, most=5e-3):
    """By how much the weights of two runs differ, which do so, and not much."""
    one, other = [ranks.read_weights(os.path.join(shop.folder, "run_" + out, "ranks.safetensors")) for out in (exact, fast)]
    worst = max(abs(a - b) for name in one for a, b in zip(one[name], other[name]))
    if not 0 < worst < most:
        raise ranks.Failure("weights of %s and %s differ by %g" % (exact, fast, worst))
    return worst


def check_fast(shop):
    """Another order of the same sums."""
    connected(shop, 4, "fast", "--reduce=fast", words="in an order of its own")
    return "--reduce=fast changes weights by %.1e at most" % near(shop, "one", "fast")


def check_depth(shop):
    """Of a process that needs seven others the kernel adds a tree of eight, though no sums of its own wait in one."""
    program.execute([shop.unetc, "-S", shop.sources("deep"), *OPTIONS, "--ranks=8", "--processes=8", ranks.NET], env=shop.environment)
    with open(os.path.join(shop.sources("deep"), "ranks_kernels.cu")) as file:
        kernels = re.findall(r"void ranks_rank_sum_\d+_add\(.*?\n}\n", file.read(), flags=re.S)
    if not kernels or any("LEVELS = 3" not in kernel for kernel in kernels):
        raise ranks.Failure("8 processes are not added as a tree of three levels: %s" % kernels[:1])
    return "8 processes are added as a tree of three levels"


def check_shards(shop):
    """Each process updates a slice: with clipping, which reads all gradients, and without, where each is sent its slice alone."""
    with open(ranks.NET) as file:
        text = file.read()
    assert "clip       0.5" in text
    net = os.path.join(shop.folder, "ranks.unet")
    with open(net, "w") as file:
        file.write(text.replace("clip       0.5", ""))
    for program, source in [("sliced", ranks.NET)] + [("unclipped", net)] * shop.long:
        shop.program(program, "--processes=2", "--shard-optimizer", net=source, poison=program == "sliced")
        connected(shop, 2, program, program=program)
        connected(shop, 4, program + "_host", "--exchange=host", program=program, words="through the memory of the host")
        shop.same(program, program + "_host", "4 processes that each update a quarter, through the memory of the host")
    shop.same("one", "sliced", "2 processes that each update a half")
    if shop.long:
        connected(shop, 4, "fast_slices", "--reduce=fast", program="unclipped", words="in an order of its own")
        near(shop, "unclipped", "fast_slices")
    return "2 and 4 processes that each update a slice leave the files of one"


def without_partner(shop, out, program, timeout=25, killed=True, **variables):
    """What rank 0 says, and its exit code, where rank 1 is KILLED after three steps, or is stopped."""
    os.environ.update(variables)
    processes = ranks.set_by_hand(shop, 2, "./" + program, *TRAIN, "--out=run_" + out, "--steps=100000", "--timeout=%d" % timeout)
    for name in variables:
        del os.environ[name]
    saved = os.path.join(shop.folder, "run_" + out, "ranks.step-%08d.safetensors" % 3)
    end = time.monotonic() + 60
    while killed and not os.path.exists(saved) and time.monotonic() < end:
        time.sleep(0.01)
    begin = time.monotonic()
    if killed:
        processes[1].kill()
    said, codes = ranks.wait(processes[:1])
    processes[1].kill()
    processes[1].communicate()
    if time.monotonic() - begin > ranks.SECONDS:
        raise ranks.Failure("%s: goes on for %.0f s: %s" % (out, time.monotonic() - begin, said))
    return said, codes[0]


def check_faults(shop):
    """A process that is gone leaves its partners waiting on the device: the host sees it, names it, and ends.  NCCL ends once no graph holds
    an exchange."""
    for out, words, options in (("killed", "rank 1 has ended", {"UNET_SHIM_LAZY": "0"}), ("killed_late", "rank 1 has ended", {"UNET_SHIM_LAZY": "1"}),
                                ("stopped", "nothing came from rank 1", {"UNET_SHIM_LAZY": "1", "UNET_NCCL_STOPS": "1", "timeout": 6, "killed": False})):
        said, code = without_partner(shop, out, "beside", **options)
        if words not in said or code != 4:
            raise ranks.Failure("%s: exit code %s: %s" % (out, code, said))
    build_faulty(shop, "holding", "beside", "ranks.c", "unet_cuda_free_graphs(cuda);", "(void)cuda;")
    said, code = without_partner(shop, "held", "holding", UNET_SHIM_LAZY="1")
    if "a communicator ends while graphs hold its calls" not in said or code == 4:
        raise ranks.Failure("nobody notices graphs that hold exchanges of a group that is left: exit code %s: %s" % (code, said))
    return "a killed process and a stopped one are named; a group that is left before its graphs are gone is noticed"


def check_slow(shop):
    """A GPU that computes for longer than others may be silent waits for nobody meanwhile."""
    connected(shop, 2, "slow", "--steps=1", "--timeout=2", UNET_SHIM_LAZY="1", UNET_SHIM_SLOW="40")
    return "a step may take longer than --timeout"


def main():
    parser = argparse.ArgumentParser()
    for name in "unetc", "runtime", "make-pictures", "cudnn":
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--long", action="store_true")
    # MPI keeps some memory to the end
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", ASAN_OPTIONS="detect_leaks=0")
    with tempfile.TemporaryDirectory() as folder:
        shop = Workshop(parser.parse_args(), folder)
        try:
            several = transport(shop)
            print(check_alone(shop), flush=True)
            print(check_several(shop) if several else
                  "skipped: several processes by MPI (there is no mpirun of Open MPI, or unetc was built without MPI)")
            connects = nccl(shop)
            print(check_synchronised(shop, connects), flush=True)
            for check in (check_nccl, check_overlap, check_planted, check_shards, check_faults,
                          *((check_times, check_ways, check_fast, check_depth, check_slow) if shop.long else ())) if connects else ():
                print(check(shop), flush=True)
            if not connects:
                print("skipped: NCCL (there is no nccl.h)")
        except ranks.Failure as failure:
            sys.exit("FAILED: %s" % failure)


if __name__ == "__main__":
    main()
