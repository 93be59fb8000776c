#!/usr/bin/env python3
"""Models for a GPU as libraries (library_test.c), run on this processor as steps.py runs programs, under sanitizers.

    library.py --unetc=UNETC --runtime=libunet_runtime.a --make-pictures=MAKE_PICTURES --cudnn=FOLDER

  two models  of the same file, one in f32 and one in bf16, link into one program; each predicts there what it predicts
              alone
  once        prediction packs its weights once for many pictures, where the budget allows that: the same bits as where it
              packs them for each, also when others were pushed or a training step ran in between; captured as
              a graph or not, at once or lazily

Exits with 77 without the headers of CUDA and cuDNN.  Standard library only."""
import argparse
import glob
import json
import os
import re
import shutil
import sys
import tempfile

import cuda
import program

NET = os.path.join(cuda.ROOT, "examples", "denoise", "tiny_unet.unet")
MODELS = {"first": "f32", "second": "bf16"}
OPTIONS = ["--target=cuda", "-Dbase=4", "--size=16x16", "--batch=3"]
PICTURES = 2
WAYS = [{}, {"UNET_CUDA_GRAPH": "0"}, {"UNET_SHIM_LAZY": "1"}, {"UNET_SHIM_LAZY": "2"}]


class Workshop:
    def __init__(self, tools, folder):
        self.unetc, self.folder, self.made = tools.unetc, folder, 0
        self.environment = {**os.environ, "UNETC_CUDNN": tools.cudnn}
        os.mkdir(folder + "/shim")
        self.shim = program.Shim(folder + "/shim", tools.runtime)
        here = os.path.dirname(os.path.abspath(__file__))
        self.main = self.shim.compile(os.path.join(here, "library_test.c"))

    def emit(self, name, *options):
        """The folder of the model's sources, and its plan."""
        self.made += 1
        folder = os.path.join(self.folder, "%s%d" % (name, self.made))
        os.mkdir(folder)
        net = os.path.join(folder, name + ".unet")
        shutil.copy(NET, net)
        words = OPTIONS + ["--precision=" + MODELS[name], *options]
        program.execute([self.unetc, "-S", folder, "--poison", *words, net], env=self.environment)
        plan = program.execute([self.unetc, "mem", "--format=json", *words, net], env=self.environment)
        return folder, json.loads(plan)

    def link(self, *folders):
        """A program of the models in FOLDERS, without the main() of each."""
        objects = [self.main]
        for folder in folders:
            objects += [self.shim.kernels(source) for source in glob.glob(folder + "/*.cu")]
            objects += [self.shim.compile(source, source + ".o") for source in glob.glob(folder + "/*.c")
                        if os.path.basename(source) != "main.c"]
        self.made += 1
        path = os.path.join(self.folder, "program%d" % self.made)
        headers = [header for folder in folders for header in glob.glob(folder + "/*.h") if not header.endswith("_plan.h")]
        names = [os.path.splitext(os.path.basename(header))[0] for header in headers]
        with open(path + ".c", "w") as table:
            table.write("".join('#include "%s"\n' % header for header in headers))
            table.write("extern const UnetModel *const models[];\n")
            table.write("const UnetModel *const models[] = {%s, NULL};\n" % ", ".join("&%s_model" % name for name in names))
        self.shim.link(objects + [self.shim.compile(path + ".c", path + ".o")], path)
        return path


def predictions(path, rounds=2, **environment):
    """What each model predicts from each picture by the weights of each seed, and how many kernels were launched."""
    said = program.execute([path, str(rounds)], env={**os.environ, **environment, "UNET_SHIM_REPORT": "1"})
    found = {}
    for name, seed, picture, bits in re.findall(r"^(\w+) (\d) (\d) ([0-9a-f]{16})$", said, re.M):
        if found.setdefault((name, seed, picture), bits) != bits:
            raise RuntimeError("%s predicts from picture %s, weights of seed %s, %s and %s" % (
                name, picture, seed, found[name, seed, picture], bits))
    return found, int(re.search(r"(\d+) launches", said).group(1))


def steps_once(plan):
    """Those that run once, all for packing, and how many more pack."""
    steps = plan["programs"]["predict"]
    once = sum(step.get("once", False) for step in steps)
    return once, sum(step["op"] == "filter_pack" for step in steps) - once


def packing_launches(plan):
    """For each picture; one for all of a section."""
    steps = plan["programs"]["predict"]
    packs = [step for step in steps if step["op"] == "filter_pack" and not step.get("once", False)]
    sections = lambda some: {step["section"][0] for step in some if "section" in step}
    casts = sections(step for step in steps if step["op"] == "cast")  # which is launched anyway
    return sum("section" not in step for step in packs) + len(sections(packs) - casts)


def check_two_models(sources, shop):
    both, _ = predictions(shop.link(*(folder for folder, _ in sources.values())))
    for name, (folder, _) in sources.items():
        alone, _ = predictions(shop.link(folder))
        beside = {key: bits for key, bits in both.items() if key[0] == name}
        yield alone == beside and len(set(alone.values())) == len(alone) > 0, "%s beside another model: %s, alone: %s" % (
            name, beside, alone)


def check_once(sources, shop):
    """Packed weights stay from picture to picture, unless the budget is too small for that."""
    each = {name: shop.emit(name, "--programs=predict") for name in MODELS}
    each = {name: shop.emit(name, "--programs=predict", "--mem=%d" % (plan["arena"]["bytes"] - 1))
            for name, (_, plan) in each.items()}
    for name in MODELS:
        once, more = steps_once(sources[name][1])
        yield once > 0 and more == 0, "%s: %d steps run once, %d more pack" % (name, once, more)
        yield steps_once(each[name][1]) == (0, once), "%s, with too little memory: %s steps run once, pack" % (
            name, steps_once(each[name][1]))
    packs = sum(packing_launches(plan) for _, plan in each.values())
    once, each = (shop.link(*(folder for folder, _ in made.values())) for made in (sources, each))
    expected = predictions(each)[0]
    for way in WAYS:
        found = predictions(once, **way)[0]
        yield found == expected, "%s: packed once: %s, for each picture: %s" % (way, found, expected)
    fewer, more = (predictions(path, 3, UNET_CUDA_GRAPH="0")[1] - predictions(path, 2, UNET_CUDA_GRAPH="0")[1]
                   for path in (once, each))
    yield more - fewer == PICTURES * packs > 0, "%d launches for %d pictures packed once, %d packed for each" % (
        fewer, PICTURES, more)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("unetc", "runtime", "make-pictures", "cudnn"):
        parser.add_argument("--" + name, required=True)
    tools, failures = parser.parse_args(), 0
    for header in ("cuda_runtime_api.h", "cudnn_graph.h"):
        cuda.home("include/" + header)
    with tempfile.TemporaryDirectory() as folder:
        shop = Workshop(tools, folder)
        sources = {name: shop.emit(name) for name in MODELS}
        for check in (check_two_models, check_once):
            try:
                complaints = [what for good, what in check(sources, shop) if not good]
            except RuntimeError as failure:
                complaints = [str(failure)]
            for complaint in complaints:
                print("FAILED: " + complaint, flush=True)
            failures += len(complaints)
    print("%d failures" % failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
