"""kit_test.py - whether the kit works on a machine that has nothing: packed by the real tools, unpacked where there is a C library, a
shell and a Python alone, and run to the point where the driver is asked.

The smallest program of each stage is packed.  That machine is a folder with the files of some packages of this one, into which
`run.sh first` is sent by chroot.  Its Python has a torch that says that there is a GPU, and cuDNN lies where PyTorch's wheels have
it.  The only thing that may be missing is the GPU.

SKIPPED (77) without nvcc and cuDNN, dpkg, or the right to change the root.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CUDA = os.environ.get("CUDA_HOME", "/usr/local/cuda")
PACKAGES = ["bash", "coreutils", "sed", "grep", "tar", "python3", "libc6", "libstdc++6"]  # the last is cuDNN's
# Libraries that the other machine has: of its C library, and cuDNN.
THERE = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2", "libcudnn.so.9", "libnccl.so.2"}
NEWEST_GLIBC = (2, 39)  # Ubuntu 24.04
MOST_BYTES = 64 << 20   # of the working tree with .gpu/, that may travel
MOST_FILES, MOST_SECONDS = 4, 120
TORCH = """__version__ = "2.0"
class version: cuda = "13.0"
class cuda: is_available = staticmethod(lambda: True)
class backends:
    class cudnn: version = staticmethod(lambda: 91900)
"""


def skip(why):
    print("SKIPPED: " + why)
    sys.exit(77)


def output(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True, universal_newlines=True, **options).stdout


# ---- the machine ------------------------------------------------------------------------------------


def with_dependencies(packages):
    """Of those that are installed: an alternative that is not may be left out."""
    text = output("dpkg-query", "-W", "-f", "${Package}\t${Provides}\t${Depends}, ${Pre-Depends}\n")
    needs, provider = {}, {}
    for line in text.splitlines():
        name, provides, depends = line.split("\t")
        needs[name] = [[re.split(r"[ :(]", word.strip())[0] for word in one.split("|")] for one in depends.split(",")]
        for virtual in provides.split(","):
            provider.setdefault(virtual.split("(")[0].strip(), name)
    found, left = set(), list(packages)
    while left:
        name = left.pop()
        name = name if name in needs else provider.get(name)
        if name and name not in found:
            found.add(name)
            left += [next((word for word in words if word in needs), "") for words in needs[name]]
    return sorted(found)


def copy_packages(packages, to):
    """Their files, at their real places: /bin may be a link to /usr/bin."""
    for top in ("bin", "lib", "lib64", "sbin"):
        if os.path.islink("/" + top):
            os.symlink(os.readlink("/" + top), os.path.join(to, top))
            os.makedirs(os.path.join(to, os.readlink("/" + top)), exist_ok=True)
    for path in output("dpkg-query", "-L", *packages).splitlines():
        if not os.path.lexists(path) or os.path.isdir(path) or re.match(r"/usr/share/(doc|man|locale|info)/", path):
            continue
        real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
        os.makedirs(to + os.path.dirname(real), exist_ok=True)
        if not os.path.lexists(to + real):
            shutil.copy2(path, to + real, follow_symlinks=False)


def make_machine(to):
    copy_packages(with_dependencies(PACKAGES), to)
    for folder in ("tmp", "dev", "proc", "root"):
        os.makedirs(os.path.join(to, folder), exist_ok=True)
    open(os.path.join(to, "dev", "null"), "w").close()
    wheels = output("chroot", to, "/usr/bin/python3", "-c", "import sys; print(sys.path[-1])").strip()
    for name, text in (("torch", TORCH), ("numpy", ""), ("nvidia", "")):
        os.makedirs(to + os.path.join(wheels, name), exist_ok=True)
        with open(to + os.path.join(wheels, name, "__init__.py"), "w") as file:
            file.write(text)
    lib = to + os.path.join(wheels, "nvidia", "cudnn", "lib")
    os.makedirs(lib)
    shutil.copy2(os.path.realpath(os.path.join(CUDA, "lib64", "libcudnn.so.9")), os.path.join(lib, "libcudnn.so.9"))


def copy_repository(to):
    """Bytes that travel."""
    names = output("git", "-C", ROOT, "ls-files", "-z", "-co", "--exclude-standard").split("\0")
    size = 0
    for name in filter(None, names):
        source, target = os.path.join(ROOT, name), os.path.join(to, name)
        if os.path.exists(source):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
            size += os.path.getsize(source)
    return size


# ---- what was packed --------------------------------------------------------------------------------


def problems_of(program):
    """Libraries that the other machine lacks, and a newer C library than it has."""
    needed = re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-d", program))
    versions = [tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([\d.]+)", output("readelf", "-V", program))]
    found = ["wants " + name for name in needed if name not in THERE]
    return found + ["wants glibc %d.%d" % v[:2] for v in set(versions) if v[:2] > NEWEST_GLIBC]


def check_programs(kit, unpacked):
    subprocess.run([sys.executable, "-W", "ignore", "-m", "tarfile", "-e", os.path.join(kit, "programs.tar.xz"), unpacked], check=True)
    programs = [os.path.join(folder, name) for top in (unpacked, os.path.join(kit, "tools")) for folder, _, names in os.walk(top)
                for name in names if name in ("program", "kernels", "unetc", "operator_rows")]
    wrong = ["%s %s" % (os.path.relpath(program, unpacked), problem) for program in programs for problem in problems_of(program)]
    print("%d programs packed" % len(programs))
    return wrong if len(programs) > 3 else ["only %s are packed" % programs]


# ---- running ----------------------------------------------------------------------------------------


def run_there(machine, stage):
    begin = time.monotonic()
    done = subprocess.run(["chroot", machine, "/usr/bin/env", "-i", "PATH=/usr/bin:/bin", "HOME=/root", "OUT=/root/out", "GPU_KIT_SMALL=1",
                           "/bin/bash", "/root/project/tests/gpu/run.sh", stage],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, timeout=600)
    out = os.path.join(machine, "root", "out")
    files = sorted(os.listdir(out)) if os.path.isdir(out) else []
    text = open(os.path.join(out, stage + ".md")).read() if stage + ".md" in files else ""
    seconds = time.monotonic() - begin
    wrong = []
    if done.returncode != 1 or not text.startswith("# %s: FAILED" % stage):
        wrong.append("it exits %d" % done.returncode)
    if "no GPU that CUDA can use" not in text:
        wrong.append("it does not come as far as the driver")
    if "loading shared libraries" in text + done.stdout:
        wrong.append("a library is missing")
    if files != [stage + ".json", stage + ".md"] or len(files) > MOST_FILES:
        wrong.append("it leaves %s" % files)
    if seconds > MOST_SECONDS:
        wrong.append("it takes %d s" % seconds)
    print("%s: %d s, leaves %s" % (stage, seconds, files))
    return wrong if not wrong else wrong + ["\n" + done.stdout[-3000:] + text[-2000:]]


def main():
    if not all(os.path.exists(os.path.join(CUDA, part)) for part in ("bin/nvcc", "lib64/libcudnn.so.9")):
        skip("no nvcc and cuDNN in %s" % CUDA)
    if not shutil.which("dpkg-query") or os.geteuid() != 0:
        skip("no dpkg, or not root")
    with tempfile.TemporaryDirectory() as folder:
        machine, kit = os.path.join(folder, "machine"), os.path.join(folder, "machine/root/project/.gpu")
        os.makedirs(os.path.dirname(kit))
        size = copy_repository(os.path.dirname(kit))
        subprocess.run([os.path.join(HERE, "pack.sh")], check=True, env=dict(os.environ, GPU_KIT=kit, GPU_KIT_SMALL="1"))
        make_machine(machine)
        wrong = check_programs(kit, os.path.join(folder, "unpacked"))
        size += sum(os.path.getsize(os.path.join(f, name)) for f, _, names in os.walk(kit) for name in names)
        if size > MOST_BYTES:
            wrong.append("%d bytes would travel" % size)
        print("%.1f MiB travel" % (size / 2**20))
        for problem in wrong + run_there(machine, "first"):
            print("WRONG: " + problem)
            wrong.append(problem)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
