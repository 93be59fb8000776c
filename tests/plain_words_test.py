"""Counts phrases that make comments hard to read.  Their number in each folder may only fall.

    plain_words_test.py [--update]

A comment says more with a noun than with "what is", "those that", "that of", "those of" or "of which", and a sentence reads better if it
does not begin with What, Of, Those or Where.  plain_words.txt beside this file has the number in each folder of two levels.  A folder
that is not listed may have none.  --update writes the numbers of today, and refuses if one is larger than before.
"""
import collections
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
LIMITS = os.path.join(HERE, "plain_words.txt")
PHRASE = re.compile(r"\b(what is|those that|that of|those of|of which)\b|(?:^|[.:;!?]\s+)(?:What|Of|Those|Where)\b")
COMMENT = re.compile(r"/\*(.*?)\*/|//([^\n]*)", re.S)
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
    count, where = collections.Counter(), collections.defaultdict(list)
    for name in source_files():
        folder = "/".join(name.split("/")[:2]) if name.count("/") > 1 else name.split("/")[0]
        for line, phrase in found_in(name):
            count[folder] += 1
            where[folder].append(f"{name}:{line}: {phrase}")
    limit = {}
    if os.path.exists(LIMITS):
        with open(LIMITS, encoding="ascii") as file:
            limit = {folder: int(number) for folder, number in (line.split() for line in file)}
    more = [folder for folder in sorted(count) if count[folder] > limit.get(folder, 0)]
    if "--update" in sys.argv[1:] and (not more or not limit):
        with open(LIMITS, "w", encoding="ascii") as file:
            file.writelines(f"{folder} {count[folder]}\n" for folder in sorted(count) if count[folder] > 0)
        return 0
    for folder in more:
        print("\n".join(where[folder]))
        print(f"FAILED: comments in {folder} have {count[folder]} of these phrases, and may have {limit.get(folder, 0)}: say it with a noun\n")
    fewer = [folder for folder in limit if count[folder] < limit[folder]]
    if fewer:
        print("fewer than before in " + ", ".join(fewer) + ": tests/plain_words_test.py --update makes that the limit")
    print(f"{sum(count.values())} phrases in {len(count)} folders")
    return 1 if more else 0


sys.exit(main())
