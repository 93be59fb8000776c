#!/usr/bin/env python3
"""words.py UNETC [--update]: the words that the syntax files list are those of the compiler's tables.

`unetc words` prints the tables.  --update writes the lists anew.
"""
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VIM = HERE / "vim" / "syntax" / "unet.vim"
TEXTMATE = HERE / "textmate" / "unet.tmLanguage.json"
VALUES = ["true", "false"]
LOGIC = ["and", "or", "not"]
CONTROL = ["return", "for", "in", "if", "elif", "else"]


def table(unetc):
    """The words of each kind; a kind is the name of a group in both syntax files."""
    lines = subprocess.run([unetc, "words"], check=True, capture_output=True, text=True).stdout.splitlines()
    of = {}
    for line in lines:
        kind, text = line.split("\t")
        of.setdefault(kind, []).append(text.split("(")[0])
    return {"declaration": [w for w in of["keyword"] if w not in VALUES + LOGIC + CONTROL],
            "control": CONTROL,
            "logic": LOGIC,
            "value": VALUES,
            "type": of["type"],
            "section": of["section"],
            "operator": of["operator"] + of["function"],
            "setting": list(dict.fromkeys(word for section in of["section"] for word in of[section])),
            "source": of["source"] + of["optimizer"] + of["schedule"]}


def fresh_vim(words):
    text = VIM.read_text()
    for kind, list_of in words.items():
        line = re.compile(rf"^let s:{kind} = .*$", re.MULTILINE)
        if not line.search(text):
            sys.exit(f"{VIM}: no line `let s:{kind} =`")
        text = line.sub(f"let s:{kind} = '{' '.join(list_of)}'", text)
    return text


def fresh_textmate(words):
    """In each pattern called words.KIND the first list of alternatives is that of the kind."""
    grammar = json.loads(TEXTMATE.read_text())
    for kind, list_of in words.items():
        rule = grammar["repository"]["words." + kind]
        key = "match" if "match" in rule else "begin"
        rule[key] = re.sub(r"\((?!\?)[a-z0-9_|]+\)", "(" + "|".join(list_of) + ")", rule[key], count=1)
        re.compile(rule[key])
    return json.dumps(grammar, indent=2) + "\n"


def main():
    words = table(sys.argv[1])
    stale = 0
    for path, text in ((VIM, fresh_vim(words)), (TEXTMATE, fresh_textmate(words))):
        if text == path.read_text():
            continue
        if "--update" in sys.argv:
            path.write_text(text)
        else:
            stale = 1
            print(f"{path.relative_to(ROOT)} is stale: run dsl/editors/words.py UNETC --update")
    return stale


sys.exit(main())
