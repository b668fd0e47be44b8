#!/bin/sh
# Nine of ten promised ranges contain what following the advice brings, over the examples and a family of loops; nothing is
# promised where all fields of a structure are used together. Lists each program: promised, measured, inside or not.
/usr/bin/python3 "$SRC/tests/truth/gain_runs.py" "$LWP" "$SRC" "$TMP"
