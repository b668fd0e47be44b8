#!/usr/bin/python3
"""The fault table (docs/faults.md): in each situation the program leaves with lwp what it leaves alone."""
import os, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.environ["SRC"], "tests", "faults"))
from driver import main
from situations import LONG, SITUATIONS

sys.exit(main([case for case in SITUATIONS if case.name not in LONG]))
