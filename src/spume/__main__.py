"""`python -m spume` is the command `spume`."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the current folder, whose modules would stand in for those of the standard library

from spume.cli import main

if __name__ == "__main__":
    sys.exit(main())
