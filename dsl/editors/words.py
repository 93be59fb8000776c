#!/usr/bin/env python3
"""words.py [--update]: the words of the language that the syntax files list are those of the compiler's tables.

The tables are read where they stand: keywords in unet.l, operators in ops.def, functions, settings, sources,
optimizers and schedules in compiler/front.  --update writes the lists anew.
"""
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FRONT = ROOT / "compiler" / "front"
VIM = HERE / "vim" / "syntax" / "unet.vim"
TEXTMATE = HERE / "textmate" / "unet.tmLanguage.json"
VALUES = ["true", "false"]
LOGIC = ["and", "or", "not"]
CONTROL = ["return", "for", "in", "if", "elif", "else"]


def found(path, pattern, at_least):
    words = re.findall(pattern, path.read_text(), re.MULTILINE)
    if len(words) < at_least:
        sys.exit(f"{path}: the table is not where words.py looks for it")
    return words


def table():
    """The words of each kind; a kind is the name of a group in both syntax files."""
    keywords = found(ROOT / "dsl" / "unet.l", r'^"([a-z]+)" +return', 17)
    operators = found(ROOT / "compiler" / "ir" / "ops.def", r'^OP\(\w+, "\w+",\s+"(\w+)\(', 40)
    functions = found(FRONT / "lower_function.c", r'\{"(\w+)", function_', 10)
    settings = found(FRONT / "settings.c", r'^    \{"(\w+)", "\w+\(', 30)
    sources = found(FRONT / "settings_data.c", r'^        \{"(\w+)\(.*read_', 5)
    optimizers = found(FRONT / "settings_train.c", r'^    \{"(\w+)",$', 4)
    schedules = found(FRONT / "settings_train.c", r'^    \{"(\w+)", "\w+\(', 5)
    sections = found(FRONT / "settings.c", r'^static const char \*const section_name\[\w*\] = \{(.*)\}', 1)
    types = found(FRONT / "lower_input.c", r'\[KIND_\w+\] = "(\w+)"[,}]', 3)
    return {"declaration": [w for w in keywords if w not in VALUES + LOGIC + CONTROL],
            "control": CONTROL,
            "logic": LOGIC,
            "value": VALUES,
            "type": sorted(set(types)),
            "section": re.findall(r"\w+", sections[0]),
            "operator": operators + functions,
            "setting": settings,
            "source": sources + optimizers + schedules}


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
    words = table()
    stale = 0
    for path, text in ((VIM, fresh_vim(words)), (TEXTMATE, fresh_textmate(words))):
        if text == path.read_text():
            continue
        if "--update" in sys.argv:
            path.write_text(text)
        else:
            stale = 1
            print(f"{path.relative_to(ROOT)} is stale: run dsl/editors/words.py --update")
    return stale


sys.exit(main())
