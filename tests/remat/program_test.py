#!/usr/bin/env python3
"""The program `remat`: its output, its exit codes, and what it says about malformed files.

usage: program_test.py REMAT
"""
import os
import subprocess
import sys
import tempfile

# 0 is read at once and at the end; 1 to 3 are a chain with a wide middle.
GRAPH = "5 5 3\n4 1\n3 10\n6 10\n1 10\n1 10\n0 1\n1 2\n2 3\n0 4\n3 4\n"

# The same with comments; 3 takes the place of 2, needs 1 byte while it runs, must not run again and lives to the end.
EXTENDED = ("# comment\n5 5 3\n4 1 0 0 0 # first\n3 10\n6 10\n# comment\n1 10 1 1 1\n1 10#last\n0 1\n1 2\n2 3 1\n0 4\n"
            "3 4\n")

MALFORMED = [  # the text, the line that is wrong
    ("", 1),
    ("5 5\n", 1),
    ("5 5 3 1\n", 1),
    ("5  5 3\n", 1),
    ("1 0 2\n1 1\n", 1),
    ("-1 0 0\n", 1),
    ("x 0 0\n", 1),
    ("99999999 0 0\n", 1),
    ("1 99999999999 0\n", 1),
    ("2 1 1\n1 1\n1\n0 1\n", 3),
    ("2 1 1\n1 1\n1 -1\n0 1\n", 3),
    ("2 1 1\n1 1\n1 1x\n0 1\n", 3),
    ("2 1 1\n1 1\n1 1\0\n0 1\n", 3),
    ("2 1 1\n1 1\n1 1\n", 4),
    ("2 1 1\n1 1\n1 1\n1 0\n", 4),
    ("2 1 1\n1 1\n1 1\n0 0\n", 4),
    ("2 1 1\n1 1\n1 1\n0 2\n", 4),
    ("2 1 1\n1 1\n1 1\n0 1\n0 1\n", 5),
    ("2 0 1\n" + 2 * "600000000000000000 1\n", 3),
    ("2 0 1\n" + 2 * "1 600000000000000000\n", 3),
    ("2 0 1\n1 99999999999999999999\n", 2),
    ("2 1 1\n1 1 1\n1 1\n0 1\n", 2),
    ("2 1 1\n1 1 1 1\n1 1\n0 1\n", 2),
    ("2 1 1\n1 1 1 1 1 1\n1 1\n0 1\n", 2),
    ("2 1 1\n# comment\n1 1\n1 1\n0 1 1 1\n", 5),
    ("2 0 1\n1 1" + 300 * "0" + "\n", 2),
]


def run(remat, *words):
    return subprocess.run([remat, *words], capture_output=True, text=True, timeout=60, check=False)


def write(path, text):
    with open(path, "w", newline="", encoding="ascii") as file:
        file.write(text)


def numbers(answer):
    return {key: float(value) for key, value in (line.split() for line in answer.stdout.splitlines())}


def operations(path):
    with open(path, encoding="ascii") as file:
        return [int(line) for line in file]


def check_answers(remat, path, output):
    for text in (GRAPH, GRAPH.replace("\n", "\r\n"), GRAPH[:-1]):
        write(path, text)
        answer = run(remat, path, "--mem", "100", "--output", output)
        assert answer.returncode == 0 and answer.stderr == "", answer
        found = numbers(answer)
        assert found["cost"] == 41 and found["peak"] == 13 and found["cost_lower_bound"] == 41, found
        assert operations(output) == [0, 1, 2, 3, 4]
    answer = run(remat, "--mem", "9", path, "--output", output)
    found = numbers(answer)
    assert answer.returncode == 0 and found["cost"] == 42 and found["peak"] == 9, answer
    assert found["cost_lower_bound"] == 42 and operations(output) == [0, 1, 2, 3, 0, 4], answer
    os.remove(output)
    answer = run(remat, path, "--mem", "9", "--max-cost", "41", "--output", output)
    assert answer.returncode == 3 and not os.path.exists(output), answer
    answer = run(remat, path, "--mem", "8", "--output", output)
    assert answer.returncode == 3 and numbers(answer)["peak_lower_bound"] == 9, answer
    assert not os.path.exists(output)
    write(path, EXTENDED)
    answer = run(remat, path, "--mem", "9", "--output", output)
    assert answer.returncode == 0 and numbers(answer)["peak"] == 9, answer
    assert operations(output) == [0, 1, 2, 3, 0, 4], answer
    assert run(remat, path, "--mem", "8").returncode == 3
    os.remove(output)
    write(path, "0 0 0\n")
    assert numbers(run(remat, path, "--mem", "1"))["cost"] == 0


def check_failures(remat, path, output):
    for text, line in MALFORMED:
        write(path, text)
        answer = run(remat, path, "--mem", "100", "--output", output)
        assert answer.returncode == 4 and answer.stdout == "", (text, answer)
        assert f"{path}:{line}: " in answer.stderr, (text, answer.stderr)
    write(path, GRAPH)
    assert run(remat, path, "--mem", "50", "--output", "/nonexistent/ops").returncode == 4
    assert run(remat, "/nonexistent/graph.txt", "--mem", "5").returncode == 4
    for words in ([], [path], [path, "--mem"], [path, "--mem", "0"], [path, "--mem", "x"], [path, "--mem", "-5"],
                  [path, path, "--mem", "5"], [path, "--mem", "5", "--other"], ["--mem", "5"],
                  [path, "--mem", "5", "--max-cost"], [path, "--mem", "5", "--output"]):
        assert run(remat, *words).returncode == 2, words


def main():
    remat = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        path, output = os.path.join(folder, "graph.txt"), os.path.join(folder, "operations.txt")
        check_answers(remat, path, output)
        check_failures(remat, path, output)


main()
