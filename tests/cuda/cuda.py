"""cuda.py - where the CUDA toolkit is, for tests that need its headers or its compiler; without them they are skipped."""
import os
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def home(part):
    """The folder of a toolkit that has this part; exits with 77 where there is none."""
    places = [p for p in (os.environ.get("CUDA_HOME"), "/usr/local/cuda") if p]
    for place in places:
        if os.path.exists(os.path.join(place, part)):
            return place
    print("SKIPPED: no %s in %s" % (part, " or ".join(places)))
    sys.exit(77)
