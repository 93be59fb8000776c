"""No comment has a phrase that makes comments hard to read.

A comment says more with a noun than with "what is", "those that", "that of", "those of" or "of which", and a sentence reads better if it
does not begin with What, Of, Those or Where.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
PHRASE = re.compile(r"\b(what is|those that|that of|those of|of which)\b|(?:^|[.:;!?]\s+)(?:What|Of|Those|Where)\b")
# A text in quotes, which may have the signs of a comment in it, or a comment.
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*(.*?)\*/|//([^\n]*)', re.S)
ENDS = (".c", ".h", ".cu", ".cuh", ".cpp", ".in", ".def", ".l", ".y")


def source_files():
    """All source files but generated ones, which copy templates."""
    for top in ("compiler", "runtime", "dsl", "templates", "examples", "tests"):
        for folder, _, files in os.walk(os.path.join(ROOT, top)):
            yield from (os.path.relpath(os.path.join(folder, name), ROOT) for name in sorted(files) if name.endswith(ENDS))


def found_in(name):
    """The phrases in the comments of one file, each with its line."""
    with open(os.path.join(ROOT, name), encoding="utf-8", errors="replace") as file:
        text = file.read()
    for comment in COMMENT.finditer(text):
        words = re.sub(r"\s*\n\s*\*?\s*", " ", comment.group(1) or comment.group(2) or "").strip()
        for phrase in PHRASE.finditer(words):
            yield text.count("\n", 0, comment.start()) + 1, phrase.group(0).strip(".:;!? ")


def main():
    found = [f"{name}:{line}: {phrase}" for name in source_files() for line, phrase in found_in(name)]
    for phrase in found:
        print(f"FAILED: {phrase}: say it with a noun")
    return 1 if found else 0


sys.exit(main())
