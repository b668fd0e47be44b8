#!/bin/sh
# Element sizes and fields of programs that walk their blocks in every way: none is wrong. All compilers and flags are in
# tests/rounds/element_shapes.sh.
set -u
"$SRC/tests/truth/elements.py" --seconds 0.3 --builds "c:-O2:-g"
