#!/usr/bin/env python3
"""Training by ranks on GPUs, run on this processor as steps.py runs programs, under sanitizers.

    ranks.py --unetc=UNETC --runtime=libunet_runtime.a --make-pictures=MAKE_PICTURES --cudnn=FOLDER

tests/whole/ranks.unet has batch norm, dropout, augmentation, accumulation, clipping, averaged weights and a short last
batch.  Captured as graphs or not, with memory that is used again or not, one process leaves the same files; and so do 2 and 4
processes, which send each other gradients through the memory of the host.  Without Open MPI the last is left out, and the
last line says so.  Exits with 77 without the headers of CUDA and cuDNN.  Standard library only."""
import argparse
import os
import shutil
import sys
import tempfile

import cuda
import program

sys.path.insert(0, os.path.join(cuda.ROOT, "tests", "whole"))
import ranks  # noqa: E402

OPTIONS = ["--target=cuda", "-Dwidth=4", "--ranks=4"]


class Workshop(ranks.Workshop):
    def __init__(self, tools, folder):
        super().__init__(tools, folder)
        os.mkdir(folder + "/shim")
        self.environment = {**os.environ, "UNETC_CUDNN": tools.cudnn}
        self.shim = program.Shim(folder + "/shim", tools.runtime)

    def program(self, name, *options):
        sources = os.path.join(self.folder, "sources_" + name)
        program.execute([self.unetc, "-S", sources, "--poison", *OPTIONS, *options, ranks.NET], env=self.environment)
        self.shim.build(sources, os.path.join(self.folder, name))


def transport(shop):
    """What several processes need is linked, where it is there; returns whether it is."""
    if not ranks.mpi_is_there(shop) or shutil.which("mpicc") is None:
        return False
    archive = os.path.join(os.path.dirname(shop.shim.runtime), "libunet_mpi.a")
    shop.shim.objects += ["-Wl,-u,unet_mpi_transport", archive, *program.execute(["mpicc", "--showme:link"]).split()]
    return True


def check_alone(shop):
    shop.program("ranked")
    shop.train("ranked", "one")
    shop.train("ranked", "launched", UNET_CUDA_GRAPH="0")
    shop.same("one", "launched", "without graphs")
    shop.program("apart", "--no-reuse")
    shop.train("apart", "apart", UNET_SHIM_LAZY="1")
    shop.same("one", "apart", "without reuse")
    return "graphs, launches and another plan train the same weights"


def check_several(shop):
    for count, out in ((2, "two"), (4, "four")):
        ranks.execute(ranks.mpirun(count, *ranks.TRAIN, "--out=run_" + out), shop.folder)
        shop.same("one", out, "%d processes" % count)
    return "2 and 4 processes leave the files of one"


def main():
    parser = argparse.ArgumentParser()
    for name in "unetc", "runtime", "make-pictures", "cudnn":
        parser.add_argument("--" + name, required=True)
    # MPI keeps some memory to the end
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", ASAN_OPTIONS="detect_leaks=0")
    with tempfile.TemporaryDirectory() as folder:
        shop = Workshop(parser.parse_args(), folder)
        try:
            several = transport(shop)
            print(check_alone(shop), flush=True)
            print(check_several(shop) if several else
                  "skipped: several processes (there is no mpirun of Open MPI, or unetc was built without MPI)")
        except ranks.Failure as failure:
            sys.exit("FAILED: %s" % failure)


if __name__ == "__main__":
    main()
