"""Builds the wheel: the package, and in unetc/_root all that `cmake --install` puts into a prefix.

    pip wheel --no-build-isolation --no-index --no-deps runtime/python       from the repository, for setuptools alone is asked for

$UNETC_BUILD names a build that is there, an absolute path or one from the repository; else one is made, without tests.  The wheel holds no module that is bound to a version
of Python, for the package calls the compiled models by ctypes: its tag is py3-none-PLATFORM.

Beside the compiler lie libraries that programs link, so that a machine needs a C compiler alone: archives for programs (not of OpenMP,
which gcc brings, for a model links that as a shared library);
for models the shared libjansson, and libomp for compilers of the clang kind.  Their licences lie in _root/share/licenses.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70
    from wheel.bdist_wheel import bdist_wheel

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ARCHIVES = ("png16", "tiff", "deflate", "zstd", "lzma", "jpeg", "gif", "webp", "sharpyuv", "openjp2", "minizip", "niftiio", "znz", "z",
            "jansson", "sodium")
LEFT_OUT = ("share/doc", "share/bash-completion", "share/zsh", "share/fish")


def version():
    with open(os.path.join(ROOT, "CMakeLists.txt")) as file:
        return re.search(r"^project\(unetc VERSION ([\d.]+)", file.read(), re.M).group(1)


def path_of(name):
    """The file by which the C compiler links, or None."""
    path = subprocess.run([os.environ.get("CC", "cc"), "-print-file-name=" + name], stdout=subprocess.PIPE, universal_newlines=True).stdout.strip()
    return os.path.realpath(path) if os.path.isabs(path) else None


def built(temporary):
    """The folder of a build."""
    given = os.environ.get("UNETC_BUILD")
    if given:
        return os.path.join(ROOT, given)  # pip runs this file in its own folder
    folder = os.path.join(temporary, "cmake")
    options = ["-DBUILD_TESTING=OFF", "-DUNETC_MPI=OFF", "-DCMAKE_BUILD_TYPE=Release"]
    if path_of("libjansson.a"):  # then the compiler itself needs the C library alone
        options.append("-DJANSSON_LIBRARY=" + path_of("libjansson.a"))
    subprocess.check_call(["cmake", "-S", ROOT, "-B", folder, *options])
    subprocess.check_call(["cmake", "--build", folder, "--parallel", str(os.cpu_count() or 1)])
    return folder


def licence_of(path, folder):
    """The text that a Debian package has beside the library, if one has."""
    result = subprocess.run(["dpkg", "-S", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True) \
        if shutil.which("dpkg") else None
    package = result.stdout.partition(":")[0] if result and result.returncode == 0 else ""
    text = "/usr/share/doc/%s/copyright" % package
    if package and os.path.exists(text):
        shutil.copyfile(text, os.path.join(folder, package))


def bring_libraries(root):
    """Copies the libraries that programs and models link."""
    home = os.path.dirname(glob.glob(os.path.join(root, "lib*", "**", "libunet_runtime.a"), recursive=True)[0])
    licences = os.path.join(root, "share", "licenses")
    os.makedirs(licences, exist_ok=True)
    brought = {"lib%s.a" % name: path_of("lib%s.a" % name) for name in ARCHIVES}
    brought["libjansson.so"] = path_of("libjansson.so")
    omp = sorted(glob.glob("/usr/lib/llvm-*/lib/libomp.so.5"))
    header = sorted(glob.glob("/usr/lib/llvm-*/lib/clang/*/include/omp.h"))
    if not omp or not header:
        print("note: no libomp (Debian's libomp-dev): models of this wheel need gcc, and the extra `cc` does not compile them", file=sys.stderr)
    else:
        brought["clang/libomp.so.5"], brought["clang/omp.h"] = os.path.realpath(omp[0]), header[0]
        os.makedirs(os.path.join(home, "clang"), exist_ok=True)
    for name, path in brought.items():
        if path:
            shutil.copyfile(path, os.path.join(home, name))
            licence_of(path, licences)
    for archive in glob.glob(os.path.join(home, "libunet_*.a")):
        subprocess.check_call(["strip", "-g", archive])


class BuildPy(build_py):
    """The package with the compiler in it."""

    def run(self):
        super().run()
        package = os.path.join(self.build_lib, "unetc")
        root = os.path.abspath(os.path.join(package, "_root"))
        shutil.rmtree(root, ignore_errors=True)
        folder = built(os.path.abspath(self.get_finalized_command("build").build_temp))
        subprocess.check_call(["cmake", "--install", folder, "--prefix", root, "--strip"])
        for name in LEFT_OUT:
            shutil.rmtree(os.path.join(root, name), ignore_errors=True)
        shutil.copyfile(os.path.join(ROOT, "LICENSE"), os.path.join(root, "LICENSE"))
        bring_libraries(root)
        converter = os.path.join(package, "_from_pytorch")
        shutil.rmtree(converter, ignore_errors=True)
        shutil.copytree(os.path.join(ROOT, "examples", "from_pytorch"), converter,
                        ignore=shutil.ignore_patterns("__pycache__", "*.unet", "*.png"))


class Wheel(bdist_wheel):
    """For any Python 3 on this platform."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", sysconfig.get_platform().replace("-", "_").replace(".", "_")


class Binary(Distribution):
    """Its files are of one platform."""

    def has_ext_modules(self):
        return True


# Nothing is built among the sources, for tests read those.
with tempfile.TemporaryDirectory(prefix="unetc-wheel-") as aside:
    setup(version=version(), cmdclass={"build_py": BuildPy, "bdist_wheel": Wheel}, distclass=Binary,
          options={"build": {"build_base": aside}, "egg_info": {"egg_base": aside}})
