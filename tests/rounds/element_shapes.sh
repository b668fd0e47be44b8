#!/bin/sh
# Element sizes and fields of programs that walk their blocks in every way, by each compiler there is: none is wrong.
set -u
"$SRC/tests/truth/elements.py" && "$SRC/tests/truth/elements.py" --seconds 1.5
