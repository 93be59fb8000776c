"""`python -m unetc` is the compiler."""

import os
import sys

from . import _tools
from ._errors import Error


def main() -> None:
    try:
        path = _tools.compiler()
    except Error as error:
        sys.exit("unetc: %s" % error)
    sys.stdout.flush()
    os.execve(path, [path, *sys.argv[1:]], _tools.environment())


if __name__ == "__main__":
    main()
