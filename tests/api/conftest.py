"""Makes the ballistic method of tests/support available to the tests of this folder and to their scenes."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import ballistic

ballistic.register()
