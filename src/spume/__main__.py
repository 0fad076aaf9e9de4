"""`python -m spume` is the command `spume`."""

import sys

from spume.cli import main

if __name__ == "__main__":
    sys.exit(main())
