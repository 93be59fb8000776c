"""cut_off.py PROGRAMS OUT STAGE... - kills stages of a dry run once they have a result, and looks whether OUT has it."""
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LONGEST = 120
LATER = {"first": "## The fastest engines"}  # what a stage has when it is in its middle, if not its first row


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def rows(text):
    """Rows of tables in Markdown, without their heads."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return len(lines) - 2 * sum(line.startswith("| ---") for line in lines)


def is_in_its_middle(stage, text):
    return LATER.get(stage, "") in text and rows(text) > 0


def cut_off(folder, out, stage):
    name = os.path.join(out, stage)
    process = subprocess.Popen([sys.executable, "-B", os.path.join(HERE, stage + ".py"), folder, out, "--dry-run"],
                               stdout=subprocess.DEVNULL)
    end = time.monotonic() + LONGEST
    while process.poll() is None and not is_in_its_middle(stage, read(name + ".md")) and time.monotonic() < end:
        time.sleep(0.01)
    was_running = process.poll() is None
    process.kill()
    process.wait()
    text, results = read(name + ".md"), json.loads(read(name + ".json"))
    finished = "not finished" not in text.splitlines()[0]
    print("%s: %s with %d rows and %d results" % (stage, "was through" if finished else "cut off", rows(text), len(results)))
    return rows(text) > 0 and len(results) > 4 and (finished or was_running)


if __name__ == "__main__":
    sys.exit(not all([cut_off(sys.argv[1], sys.argv[2], stage) for stage in sys.argv[3:]]))
