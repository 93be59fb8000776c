"""emitted.py - what `unetc -S FOLDER` wrote, as tests compile it around a main function of their own."""
import glob
import os
import shlex


def sources(folder):
    """The files of C without the program's main.c."""
    return sorted(path for path in glob.glob(os.path.join(folder, "*.c")) if os.path.basename(path) != "main.c")


def program(execute, flags, files, more, output):
    """Compiles FILES by $CC, each by itself, since tests/cached_cc keeps objects, and links them with MORE.  EXECUTE: runs a command."""
    compiler, objects = shlex.split(os.environ.get("CC", "cc")), []
    for number, file in enumerate(files):
        objects.append("%s.%d.o" % (output, number))
        execute(compiler + flags + ["-c", file, "-o", objects[-1]])
    execute(compiler + flags + objects + more + ["-o", output])


def libraries(runtime):
    """What programs that link the runtime library RUNTIME link besides."""
    with open(os.path.join(os.path.dirname(runtime), "libraries")) as file:
        return file.read().split()


def gradient_offsets(plan):
    """Where the gradient of each parameter lies that training changes, by its name, as the update reads it; nothing if they do not
    stay there until the step ends (--keep-gradients)."""
    buffers = {buffer["id"]: buffer for buffer in plan["buffers"]}
    updates = [step for step in plan["programs"]["train"] if step.get("op") in ("sgd", "adam", "rmsprop")]
    read = [buffers[number] for number in updates[0]["reads"]] if len(updates) == 1 else []
    return {buffer["name"][len("d "):]: buffer["offset"] for buffer in read if buffer["class"] == "parameter_gradient"}
