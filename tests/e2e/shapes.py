#!/usr/bin/python3
"""Right fields, elements, objects and allocation sites, or none: the quick part of tests/long/shapes.py."""
import os
import sys

driver = os.path.join(os.environ["SRC"], "tests/long/shapes.py")
os.execv(sys.executable, [sys.executable, driver, "--quick", "--engine", "light", "--seconds", "1.5"])
