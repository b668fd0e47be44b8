#!/bin/bash
# Every check says yes or no; what is no has a remedy or needs none.
set -u
"$LWP" doctor > "$TMP/out"; status=$?
[ $status = 0 ] || [ $status = 1 ] || exit 1
grep -Eq '^(yes|no) +task-clock' "$TMP/out" || { cat "$TMP/out"; exit 1; }
"$LWP" doctor --json | /usr/bin/python3 -c 'import json, sys
d = json.load(sys.stdin)
assert d["schema"] == "lwp-doctor" and len(d["checks"]) >= 8
assert all(c["found"] for c in d["checks"])' || exit 1
"$LWP" doctor nonsense 2> "$TMP/err"
[ $? = 125 ] && grep -q nonsense "$TMP/err"
