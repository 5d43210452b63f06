"""python -m airy is the command `airy`."""

import os
import shutil
import sys


def find_command() -> str:
    from . import _build

    beside = os.path.join(os.path.dirname(sys.executable), "airy")
    for path in (*_build.COMMANDS, beside, shutil.which("airy")):
        if path and os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
    sys.exit("python -m airy: the command airy is not installed")


def main() -> None:
    command = find_command()
    sys.stdout.flush()
    os.execv(command, ["airy", *sys.argv[1:]])


if __name__ == "__main__":
    main()
