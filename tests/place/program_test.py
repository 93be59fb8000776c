#!/usr/bin/env python3
"""The program `place`: its output, its exit codes, and what it says about malformed files.

usage: program_test.py PLACE
"""
import os
import subprocess
import sys
import tempfile

HEADER = "id,lower,upper,size\n"

MALFORMED = [  # the text, the line that is wrong
    ("", 1),
    ("id,lower,upper\n0,0,1\n", 1),
    (HEADER + "0,0,1\n", 2),
    (HEADER + "0,0,1,5,6\n", 2),
    (HEADER + "0,0,1,5\n1,0,1,\n", 3),
    (HEADER + "0,0,1,5\n\n1,0,1,5\n", 3),
    (HEADER + "0,0,1,-5\n", 2),
    (HEADER + "0,1,1,5\n", 2),
    (HEADER + "0,2,1,5\n", 2),
    (HEADER + "0,0,1,5x\n", 2),
    (HEADER + "0, 0,1,5\n", 2),
    (HEADER + "0,0,1,5\0\n", 2),
    (HEADER + "0,0,1,99999999999999999999\n", 2),
    (HEADER + "0,0,99999999999,5\n", 2),
    (HEADER + "0,0,1,1" + 300 * "0" + "\n", 2),
    (HEADER + 2 * "0,0,1,2000000000000000000\n", 3),
]


def run(place, *words):
    return subprocess.run([place, *words], capture_output=True, text=True, timeout=60, check=False)


def write(path, text):
    with open(path, "w", newline="", encoding="ascii") as file:
        file.write(text)


def numbers(answer):
    return {key: float(value) for key, value in (line.split() for line in answer.stdout.splitlines())}


def check_answers(place, path, output):
    rows = "7,0,4,100\n3,0,2,50\n9,2,4,50\n1,1,3,25\n"
    for text in (HEADER + rows, (HEADER + rows).replace("\n", "\r\n"), HEADER + rows[:-1]):
        write(path, text)
        answer = run(place, path, "--capacity", "225", "--output", output)
        assert answer.returncode == 0 and answer.stderr == "", answer
        found = numbers(answer)
        assert 175 <= found["arena"] <= 225 and found["lower_bound"] == 175, found
        with open(output, encoding="ascii") as file:
            lines = file.read().splitlines()
        assert lines[0] == "id,lower,upper,size,offset"
        assert [line.rsplit(",", 1)[0] for line in lines[1:]] == rows.split(), lines
    os.remove(output)
    answer = run(place, "--capacity", "174", path, "--output", output)
    assert answer.returncode == 3 and numbers(answer)["lower_bound"] == 175 and not os.path.exists(output), answer
    write(path, HEADER)
    assert numbers(run(place, path, "--capacity", "1"))["arena"] == 0


def check_failures(place, path, output):
    for text, line in MALFORMED:
        write(path, text)
        answer = run(place, path, "--capacity", "100", "--output", output)
        assert answer.returncode == 4 and answer.stdout == "", (text, answer)
        assert f"{path}:{line}: " in answer.stderr, (text, answer.stderr)
    write(path, HEADER + "0,0,1,5\n")
    assert run(place, path, "--capacity", "5", "--output", "/nonexistent/out.csv").returncode == 4
    assert run(place, "/nonexistent/in.csv", "--capacity", "5").returncode == 4
    for words in ([], [path], [path, "--capacity"], [path, "--capacity", "0"], [path, "--capacity", "x"],
                  [path, path, "--capacity", "5"], [path, "--capacity", "5", "--other"], ["--capacity", "5"]):
        assert run(place, *words).returncode == 2, words


def main():
    place = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        path, output = os.path.join(folder, "in.csv"), os.path.join(folder, "out.csv")
        check_answers(place, path, output)
        check_failures(place, path, output)


main()
