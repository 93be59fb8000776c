"""programs.py - the programs that the stages run, and how they are built: for a device with nvcc, or, for a dry run,
for this processor through the shim of tests/cuda.

    programs.py FOLDER [STAGE...]      builds those of the stages (all of them) for a device

Each becomes a folder of FOLDER with `program`, the model behind harness.c, and `plan.json`.
The tests of the kernels become `kernels`, one folder for each type they store.

Environment: UNETC_BUILD, the folder of `unetc` and lib/ (build/ of this repository), or TOOLS, a folder that pack.sh
filled; CUDA_HOME; CUDNN_ROOT, a folder with lib/libcudnn.so.9.
"""
import concurrent.futures
import glob
import json
import os
import shutil
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests"))
import emitted  # noqa: E402

HERE = os.path.join(ROOT, "tests", "gpu")
HARNESS = [os.path.join(HERE, name) for name in ("harness.c", "sweep.c", "fused.c", "assumptions.c")]
OTHERS = [("examples/pp_liteseg/pp_liteseg", 4), ("examples/volume/nnunet", 2), ("examples/milesial/milesial", 1)]  # path, batch
# Every network of examples/ that tests/models has in PyTorch: path, batch of its file.
NETWORKS = [("examples/%s/%s" % (folder, name), batch) for folder, name, batch in (
    ("milesial", "milesial", 1), ("unet_2015", "unet_2015", 1), ("volume", "nnunet", 2), ("pp_liteseg", "pp_liteseg", 4),
    ("resnet34_unet", "resnet34_unet", 8), ("enet", "enet", 10), ("nafnet", "nafnet", 32), ("attention_unet", "attention_unet", 1),
    ("unet_plus_plus", "unet_plus_plus", 16), ("drunet", "drunet", 16), ("fast_scnn", "fast_scnn", 2), ("dncnn", "dncnn", 128),
    ("resunet", "resunet", 4), ("volume", "nnunet_resenc", 2), ("volume", "basic_unet", 2), ("volume", "unet_3d", 1),
    ("volume", "mlperf_unet3d", 2))]
STAGES = ["first", "second", "examples", "numerics", "memory", "speed", "sanitizer", "ranks"]
PRECISIONS = ["bf16", "f32", "f16", "tf32"]  # the most telling first
TYPES = ["float", "__nv_bfloat16", "__half"]
# harness.c counts and measures these.
WRAPPED = ["-Wl,--wrap=" + name for name in ("cudaMalloc", "cudaMallocHost", "cudnnCreate", "cudnnBackendFinalize",
                                             "cudaGraphInstantiate", "cudaGraphLaunch")]


class Spec:
    """A file compiled with given options.  NET and WIDTH: the same net in tests/oracle/record.py.  KIND: the precision, in
    words also that engines may be nondeterministic, in how many bands of rows it computes, or who computes transposed
    convolutions."""

    def __init__(self, file, width, size, batch, precision, nondeterministic=False, bands=0, upconv=None):
        self.file, self.width, self.size, self.batch, self.precision = file, width, size, batch, precision
        self.net, self.define = ("simple", "width") if file == "simple_denoiser" else ("unet", "base")
        self.config = "%s-%d-%dx%d-b%d" % (file, width, size, size, batch)
        self.more = ["--nondeterministic"] * nondeterministic + ["--bands=%d" % bands] * (bands > 0) + ["--upconv=%s" % upconv] * (upconv is not None)
        self.name = "-".join([self.config, precision] + [option.strip("-").replace("=", "-") for option in self.more])
        self.kind = ", ".join([precision] + ["nondeterministic"] * nondeterministic + ["%d bands" % bands] * (bands > 0) + ["upconv by %s" % upconv] * (upconv is not None))

    def options(self):
        return ["--keep-gradients", "--precision=" + self.precision, "-D%s=%d" % (self.define, self.width),
                "--size=%dx%d" % (self.size, self.size), "--batch=%d" % self.batch] + self.more

    def source(self):
        return os.path.join(ROOT, "examples", "denoise", self.file + ".unet")


class Example(Spec):
    """The file at PATH, with a batch; nothing is compared with PyTorch: does it run, how fast, in how much memory?"""

    def __init__(self, path, batch, precision, *more):
        self.path, self.file, self.batch = path, os.path.basename(path), batch
        self.precision = self.kind = precision
        self.more = ["--precision=" + precision, "--batch=%d" % batch] + list(more)
        self.config = "-".join([self.file, "b%d" % batch] + [option.strip("-").replace("=", "-") for option in more])
        self.name = self.config + "-" + precision

    def options(self):
        return self.more

    def source(self):
        return os.path.join(ROOT, self.path + ".unet")


class Trainer(Spec):
    """The whole program of tests/whole/ranks.unet, for 1 or 2 processes, and with NCCL where unetc has it."""

    def __init__(self, width):
        super().__init__("ranks", width, 16, 8, "f32")

    def options(self):
        return ["-Dwidth=%d" % self.width, "--ranks=2"]

    def source(self):
        return os.path.join(ROOT, "tests", "whole", "ranks.unet")


def kept_and_not(networks):
    """Each network twice: as planned by default, which computes nearly free activations again, and with every activation kept."""
    return [Example(path, batch, "bf16", *more) for path, batch in networks for more in ((), ("--no-recompute",))]


# For the test of the kit: the smallest program of each stage, and the tests of kernels for one type.
SMALL = bool(os.environ.get("GPU_KIT_SMALL"))


def specs(stage, dry):
    """The programs of a stage, the most telling first."""
    return all_specs(stage, True)[:1] if SMALL and not dry else all_specs(stage, dry)


def all_specs(stage, dry):
    if stage == "ranks":
        return [Trainer(4 if dry else 32)]

    def each(nets, precisions):
        return [Spec(*net, precision) for precision in precisions for net in nets]

    if dry:
        tiny = ("tiny_unet", 4, 16, 2)
        if stage == "numerics":
            return each([tiny], PRECISIONS) + each([("simple_denoiser", 8, 16, 2)], ["f32"]) + [Spec(*tiny, "f32", bands=2)]
        if stage == "speed":
            return each([tiny], ["bf16", "f32", "f16"]) + [Spec(*tiny, "bf16", True), Spec(*tiny, "bf16", upconv="cudnn")]
        if stage == "first":
            return each([tiny], ["bf16", "f32"]) + [Example("tests/cuda/turns", 2, "bf16")]
        if stage == "examples":
            return kept_and_not([("tests/cuda/turns", 2)])
        if stage == "second":
            return each([tiny], ["bf16", "f32"])
        return each([tiny], ["bf16", "f32"] if stage == "memory" else ["bf16"])
    tiny, medium, large = ("tiny_unet", 16, 256, 6), ("unet_denoiser", 64, 256, 8), ("unet_denoiser", 64, 512, 8)
    small, deep = ("tiny_unet", 16, 64, 4), ("unet_denoiser", 64, 64, 2)
    timed = each([large, tiny, medium], PRECISIONS) + [Spec(*large, "bf16", True), Spec(*large, "bf16", bands=8), Spec(*large, "bf16", upconv="cudnn")]
    if stage == "first":
        return each([tiny, large], ["bf16"]) + each([tiny], ["f32"]) + [Example(*other, "bf16") for other in OTHERS]
    if stage == "second":
        return each([small, deep], ["bf16", "f32", "f16"])
    if stage == "examples":
        return kept_and_not(NETWORKS)
    if stage == "numerics":
        return timed + each([small, deep, ("simple_denoiser", 64, 64, 2)], PRECISIONS) + [
            Spec(*deep, "bf16", True), Spec(*deep, "f32", bands=2), Spec(*deep, "bf16", bands=2)]
    if stage == "memory":
        return each([large], ["bf16", "f32"]) + each([tiny], ["bf16"])
    if stage == "speed":
        return timed
    return each([small], ["bf16", "f32", "f16"])


def with_kernels(stage):
    return stage in ("first", "second", "numerics", "sanitizer")


def stored_types(dry):
    return TYPES[:1] if dry or SMALL else TYPES


def can_build_for_device():
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    return all(os.path.exists(os.path.join(home, part)) for part in ("bin/nvcc", "lib64/libcudnn.so.9"))


def execute(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, **options)
    if done.returncode != 0:
        raise RuntimeError("%s exits %d:\n%s" % (" ".join(command), done.returncode, (done.stdout + done.stderr)[-4000:]))
    return done.stdout


# ---- compilers and libraries ------------------------------------------------------------------------


class ForDevice:
    """nvcc, g++ and the libraries of a build or of pack.sh."""

    def __init__(self, folder):
        self.cuda = os.environ.get("CUDA_HOME", "/usr/local/cuda")
        self.cudnn = [os.path.join(place, sub) for place in (os.environ.get("CUDNN_ROOT"), self.cuda) if place
                      for sub in ("lib", "lib64")]
        tools, build = os.environ.get("TOOLS"), os.environ.get("UNETC_BUILD", os.path.join(ROOT, "build"))
        self.unetc = os.path.join(tools or build, "unetc")
        lib = tools or os.path.join(build, "lib")
        private = tools or os.path.join(build, "private")  # the harness calls what is not of the interface
        self.libraries = [os.path.join(private, "libunet_cuda.a"), os.path.join(lib, "libunet_runtime.a")]
        self.libraries += ["-L" + lib] + emitted.libraries(self.libraries[-1])
        self.rows = os.path.join(tools or os.path.join(build, "tests"), "operator_rows")
        self.include = ["-I" + os.path.join(ROOT, "runtime", part) for part in ("include", "cuda")]
        for place in (os.environ.get("CUDNN_ROOT"), self.cuda):
            self.include += ["-isystem", os.path.join(place, "include")] if place else []
        self.environment = dict(os.environ)
        for place in self.cudnn:
            if "UNETC_CUDNN" not in os.environ and os.path.exists(os.path.join(place, "libcudnn.so.9")):
                self.environment["UNETC_CUDNN"] = place
                break

    def compile(self, source, folder, flags=()):
        target = os.path.join(folder, os.path.basename(source) + ".o")
        if source.endswith(".cu"):
            # For the architecture of the plans, and as PTX for later ones.
            command = [os.path.join(self.cuda, "bin", "nvcc"), "-std=c++17", "-O1" if SMALL else "-O3", "-gencode",
                       "arch=compute_90,code=[sm_90,compute_90]", self.include[0]]
        elif source.endswith(".cpp"):
            command = ["g++", "-std=c++17", "-O2", "-fno-strict-aliasing"] + self.include
        else:
            command = ["gcc", "-std=gnu11", "-D_POSIX_C_SOURCE=200809L", "-O2"] + self.include
        execute(command + list(flags) + ["-c", source, "-o", target])
        return target

    def link(self, objects, program):
        cudnn = ["-L" + place for place in self.cudnn] + ["-l:libcudnn.so.9"]
        self.link_kernels(WRAPPED + objects + self.libraries + cudnn, program)

    def link_trainer(self, objects, program):
        """libnccl.so.2 lies where unetc found it, or among Python's wheels."""
        home = os.path.dirname(self.libraries[0])
        nccl = []
        if os.path.exists(os.path.join(home, "libunet_nccl.a")):
            with open(os.path.join(home, "libraries_nccl")) as file:
                nccl = ["-Wl,-u,unet_nccl_transport", os.path.join(home, "libunet_nccl.a")] + file.read().split()
        cudnn = ["-L" + place for place in self.cudnn] + ["-l:libcudnn.so.9"]
        self.link_kernels(objects + nccl + self.libraries + cudnn, program)

    def kernel_flags(self):
        """The tests' operands are in memory that both sides reach."""
        return ["-I" + os.path.join(HERE, "device"), "-DcudaMalloc=cudaMallocHost", "-DcudaFree=cudaFreeHost"]

    def link_kernels(self, objects, program):
        execute(["g++", "-s", "-static-libstdc++", "-static-libgcc"] + objects +
                ["-L" + os.path.join(self.cuda, sub) for sub in ("lib64", "lib")] +
                ["-lcudart_static", "-lrt", "-ldl", "-lpthread", "-lm", "-o", program])


class ForDryRun:
    """The shim and the stand-in for cuDNN of tests/cuda, without sanitizers: what they would find is looked for there."""

    def __init__(self, folder):
        sys.path.insert(0, os.path.join(ROOT, "tests", "cuda"))
        import program
        build = os.environ.get("UNETC_BUILD", os.path.join(ROOT, "build"))
        program.SANITIZE = program.KERNELS = ["-O0"]
        self.unetc = os.path.join(build, "unetc")
        self.rows = os.path.join(build, "tests", "operator_rows")
        shared = os.path.join(folder, "shim")
        os.makedirs(shared, exist_ok=True)
        self.shim = program.Shim(shared, os.path.join(build, "lib", "libunet_runtime.a"))
        self.shim.include.append("-I" + os.path.join(ROOT, "runtime", "cuda"))
        self.environment = dict(os.environ, UNETC_CUDNN=os.path.join(build, "tests", "cudnn_reference"))

    def compile(self, source, folder, flags=None):
        """FLAGS: of the tests of the kernels, which are no part of a program."""
        target = os.path.join(folder, os.path.basename(source) + ".o")
        if flags is None:
            return self.shim.compile(source, target)
        compiler = ["gcc", "-std=gnu11"] if source.endswith(".c") else ["g++", "-std=c++17", "-fno-strict-aliasing"]
        if source.endswith(".cu"):
            compiler += ["-x", "c++", "-include", os.path.join(self.shim.shim, "shim.h")]
        execute(compiler + ["-O0"] + self.shim.include + list(flags) + ["-c", source, "-o", target])
        return target

    def link_trainer(self, objects, program):
        self.shim.include.append("-I" + self.shim.shim)
        objects += [self.compile(os.path.join(ROOT, part), os.path.dirname(program))
                    for part in ("runtime/nccl/transport.c", "tests/cuda/nccl/nccl.cpp")]
        self.shim.link(objects, program)

    def kernel_flags(self):
        return ["-I" + self.shim.shim]

    def link_kernels(self, objects, program):
        shim = [o for o in self.shim.objects if os.path.basename(o) in ("launch.cpp.o", "stream.cpp.o", "memory.cpp.o")]
        execute(["g++"] + objects + shim + ["-o", program])

    def link(self, objects, program):
        execute(["g++"] + WRAPPED + objects + self.shim.objects + [self.shim.runtime, "-o", program] +
                emitted.libraries(self.shim.runtime))


# ---- building ---------------------------------------------------------------------------------------


def gradient_offsets(plan):
    """Where the plan keeps the gradient of each parameter, in the order of the table of parameters."""
    buffers = {buffer["id"]: buffer for buffer in plan["buffers"]}
    update = next(step for step in plan["programs"]["train"] if step.get("op") in ("sgd", "adam", "rmsprop"))
    read = [buffers[number] for number in update["reads"]]
    offset = {b["name"]: b["offset"] for b in read if b["class"] == "parameter_gradient"}
    return {name[2:]: at for name, at in offset.items()}


def build_spec(tools, folder, spec):
    place = os.path.join(folder, spec.name)
    sources = os.path.join(place, "sources")
    os.makedirs(sources, exist_ok=True)
    command = [tools.unetc] + spec.options() + ["--target=cuda:sm_90"]
    execute(command + ["-S", sources, spec.source()], env=tools.environment)
    plan = execute([command[0], "mem", "--format=json"] + command[1:] + [spec.source()], env=tools.environment)
    with open(os.path.join(place, "plan.json"), "w") as file:
        plan = json.loads(plan)
        kept = {name: plan.get(name) for name in ("arena", "beside", "cost", "device")}
        json.dump(dict(kept, gradients=gradient_offsets(plan)), file)
    with open(os.path.join(sources, "harness_model.c"), "w") as file:
        file.write('#include "%s.h"\nextern const UnetModel *const harness_model;\n'
                   "const UnetModel *const harness_model = &%s_model;\n" % (spec.file, spec.file))
    os.remove(os.path.join(sources, "main.c"))
    given = glob.glob(sources + "/*.c") + glob.glob(sources + "/*.cu") + HARNESS
    tools.link([tools.compile(source, sources) for source in given], os.path.join(place, "program"))
    shutil.rmtree(sources)


def build_trainer(tools, folder, spec):
    place = os.path.join(folder, spec.name)
    sources = os.path.join(place, "sources")
    os.makedirs(sources, exist_ok=True)
    execute([tools.unetc] + spec.options() + ["--target=cuda:sm_90", "-S", sources, spec.source()], env=tools.environment)
    given = glob.glob(sources + "/*.c") + glob.glob(sources + "/*.cu")
    tools.link_trainer([tools.compile(source, sources) for source in given], os.path.join(place, "program"))
    shutil.rmtree(sources)


def build_kernels(tools, folder, stored, rounds):
    """The tests of tests/cuda/kernels, which bring their own convolutions."""
    place, kernels = os.path.join(folder, "kernels-" + stored.strip("_")), os.path.join(ROOT, "tests", "cuda", "kernels")
    sources = os.path.join(place, "sources")
    os.makedirs(sources, exist_ok=True)
    execute([sys.executable, "-B", os.path.join(kernels, "cases.py"), sources, "1", stored, str(rounds), tools.rows])
    flags = tools.kernel_flags() + ["-I" + kernels, "-DUNET_STORED=" + stored]
    objects = [tools.compile(sources + "/kernels.cu", sources, []),
               tools.compile(sources + "/reference.c", sources, ["-Wno-unknown-pragmas"]),
               tools.compile(sources + "/cases.cpp", sources, flags),
               tools.compile(kernels + "/test.cpp", sources, flags)]
    tools.link_kernels(objects, os.path.join(place, "kernels"))
    shutil.rmtree(sources)


def builder(spec):
    return build_trainer if isinstance(spec, Trainer) else build_spec


def build(folder, stages, dry=False, seconds=None):
    """Builds what is missing in FOLDER, the most telling first; for a dry run also, if nvcc is here, some for a device, which
    nobody runs. Begins nothing new after SECONDS: then, and where building fails, a stage does without. Returns whether all
    is there."""
    wanted = {spec.name: spec for stage in stages for spec in specs(stage, dry)}
    missing = [spec for name, spec in wanted.items() if not os.path.exists(os.path.join(folder, name, "program"))]
    types = [t for t in stored_types(dry) if any(with_kernels(stage) for stage in stages) and
             not os.path.exists(os.path.join(folder, "kernels-" + t.strip("_"), "kernels"))]
    if not missing and not types:
        return True
    tools, failed = (ForDryRun if dry else ForDevice)(folder), 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as workers:
        jobs = [workers.submit(build_kernels, tools, folder, t, 1 if SMALL else 2) for t in types]
        jobs += [workers.submit(builder(spec), tools, folder, spec) for spec in missing]
        if dry and can_build_for_device():
            tools, unused = ForDevice(folder), os.path.join(folder, "for a device")
            jobs += [workers.submit(build_kernels, tools, unused, t, 1) for t in types]
            jobs += [workers.submit(builder(spec), tools, unused, spec) for spec in missing[:1]]
        concurrent.futures.wait(jobs, seconds)
        for job in jobs:
            problem = "no time" if job.cancel() else job.exception()
            if problem:
                print("not built: %s" % problem, flush=True)
                failed += 1
    print("built %d of %d programs and tests of kernels" % (len(jobs) - failed, len(jobs)), flush=True)
    return failed == 0


if __name__ == "__main__":
    sys.exit(not build(sys.argv[1], sys.argv[2:] or STAGES))
