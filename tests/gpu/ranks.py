"""ranks.py - training by two processes, each on a GPU of its own: by NCCL, beside the backward pass and behind it, through the memory
of the host, and by NCCL's own sums; all but the last must leave the bytes of one process.  How long a step waits for the other process, and
how long their exchange takes, is from the log.  With one GPU there is one process, and that is said."""
import csv
import os
import shutil
import statistics
import sys
import tempfile
import time

import programs
from stage import Stage, output

sys.path.insert(0, os.path.join(programs.ROOT, "tests", "whole"))
import ranks as whole  # noqa: E402

HEAD = ["processes", "gradients", "bytes as of one process", "largest difference of a weight", "seconds of the run",
        "ms that a step waits", "ms of its exchange"]
WAYS = [("by NCCL", ["--exchange=nccl"], True), ("by NCCL, behind the backward pass", ["--overlap=no", "--exchange=nccl"], True),
        ("through the host", ["--exchange=host"], True), ("by NCCL, --reduce=fast", ["--reduce=fast"], False)]


def devices(stage):
    return 2 if stage.dry else sum(line.startswith("GPU ") for line in output(["nvidia-smi", "-L"]).splitlines())


class Shop:
    """A folder of runs."""

    def __init__(self, stage, spec, folder):
        self.stage, self.spec, self.folder = stage, spec, folder
        whole.write_data(os.path.join(folder, "data"))
        shutil.copy(stage.path(spec, "program"), folder)

    def train(self, count, out, *options):
        """Seconds of a run by COUNT processes, or None where it failed or time ran out."""
        begin = time.monotonic()
        command = ["./program", "train", "--data=data", "--threads=1", "--timeout=60", "--out=run_" + out, *options]
        said, codes = whole.wait(whole.set_by_hand(self, count, *command), self.stage.left())
        self.stage.note_said(self.spec, said.encode())
        right = self.stage.check("%s: exit codes %s: %s" % (out, codes, said[-1000:]), not any(codes))
        return time.monotonic() - begin if right else None

    def waited(self, out):
        """Milliseconds of a step, the median of the log's rows: of waiting, and of the exchange."""
        with open(os.path.join(self.folder, "run_" + out, "log.csv"), newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["split"] == "train"]
        return ["%.3f" % (1e3 * statistics.median(float(row[name]) for row in rows)) for name in ("exchange_s", "exchange_all_s")]

    def weights(self, out):
        return os.path.join(self.folder, "run_" + out, "ranks.checkpoint.safetensors")


def compare(shop, count, way, options, exact, table):
    out = options[0].strip("-")
    seconds = shop.train(count, out, *options)
    if seconds is None:
        return
    one, other = shop.weights("one"), shop.weights(out)
    same = whole.read(one) == whole.read(other)
    weights = [whole.read_weights(path) for path in (one, other)]
    worst = max(abs(a - b) for name in weights[0] for a, b in zip(weights[0][name], weights[1][name]))
    table.add(count, way, "yes" if same else "no", "%.1e" % worst, "%.1f" % seconds, *shop.waited(out))
    shop.stage.check("%d processes, %s: other bytes than of one process" % (count, way), same or not exact)
    shop.stage.check("%d processes, %s: a weight differs by %g" % (count, way, worst), worst < 5e-3)


def main():
    stage = Stage("ranks", __doc__)
    spec = programs.specs("ranks", stage.dry)[0]
    table = stage.table("A run of seven steps of %s" % spec.name, HEAD)
    count = min(2, devices(stage))
    if stage.check("%s: not built" % spec.name, os.path.exists(stage.path(spec, "program"))):
        with tempfile.TemporaryDirectory() as folder:
            if stage.dry:
                os.environ["UNET_SHIM_DEVICES"] = "2"
            shop = Shop(stage, spec, folder)
            seconds = shop.train(1, "one")
            if seconds is not None:
                table.add(1, "in one GPU", "yes", "0", "%.1f" % seconds, *shop.waited("one"))
            if count < 2:
                stage.say("- one GPU: two processes were not tried")
            for way, options, exact in WAYS if count > 1 and seconds is not None else ():
                if not stage.late(way):
                    compare(shop, count, way, options, exact, table)
    stage.done()


if __name__ == "__main__":
    main()
