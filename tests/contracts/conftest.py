"""Makes the ballistic method of tests/support, which has no grid, one of the methods under test."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import ballistic

ballistic.register()
