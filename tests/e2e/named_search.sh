#!/bin/bash
# A loop that looks for a name with a function that only compares is said to be a linear search, whoever wrote that function; it is not
# where the function does something else, too.
set -u
fail() { echo "$*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
$CC -O2 -g -o named_search "$SRC/tests/programs/named_search.c" || fail "compile"
for how in library nested own inlined counted; do
    "$LWP" collect -q -e exact --detect redundancy --window all -o $how -- ./named_search $how > out || fail "$how: collect"
    "$LWP" analyze -q $how || fail "$how: analyze"
    /usr/bin/python3 - $how <<'PY' || { "$LWP" report $how; fail "$how: findings"; }
import json, sys
how = sys.argv[1]
titles = [f["title"] for f in json.load(open(how + "/analysis.json"))["findings"] if f["title"].startswith("Do not search ")]
print(how, titles)
assert len(titles) == (how != "counted"), titles
assert how == "counted" or f"find_{how} (named_search.c:" in titles[0], titles
assert how == "counted" or titles[0].startswith("Do not search settings from "), titles # not the names, nor the key
looked = [int(title.split(" elements ")[0].split()[-1]) for title in titles]
notes = json.load(open(how + "/analysis.json"))["run"]["notes"] # a few milliseconds: the kernel's part is as large
assert any("What the kernel does for a program is not traced. That is at least" in note for note in notes), notes
assert all(190 <= n <= 210 for n in looked), titles # 200.5 are expected, and 1,500 keys are drawn
PY
    [ $how = counted ] || "$LWP" report $how | tr -s ' \n' '  ' | grep -q "for the whole program" || fail "$how: of what"
done
