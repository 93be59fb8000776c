"""launches_test.py UNETC: how many launches a training step takes on a GPU, by its plan; these figures may only fall.  And
prediction packs filters once, when weights come, not for each picture.

Without cuDNN, which then names no engine, kernels of ours add some biases, and there are some launches more."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import roofline  # noqa: E402

MOST = {"unet_denoiser": (90, 93), "tiny_unet": (88, 91), "enet": (881, 881), "pp_liteseg": (764, 780)}  # with cuDNN, and without
CASES = [*roofline.DEFAULTS, ["--batch=10", "examples/enet/enet.unet"], ["--batch=4", "examples/pp_liteseg/pp_liteseg.unet"]]


def has_engines(plan):
    return all(one["engine"] is not None for step in plan["programs"]["train"] for one in step.get("engines", []))


def main():
    for words in CASES:
        plan = roofline.plan_of(os.path.abspath(sys.argv[1]), [*words, "--no-recompute"])
        found = sum(launch.begins for launch in roofline.training_launches(plan))
        most = MOST[plan["model"]][not has_engines(plan)]
        print("%s: %d launches%s" % (plan["model"], found, "" if has_engines(plan) else ", without cuDNN"))
        if found > most:
            sys.exit("FAILED: there were %d before" % most)
        again = [step["name"] for step in roofline.unrolled(plan["programs"]["predict"]) if step["op"] == "filter_pack" and not step.get("once")]
        if again:
            sys.exit("FAILED: filters are packed for each picture: %s" % ", ".join(again))


if __name__ == "__main__":
    main()
