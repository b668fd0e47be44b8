#!/bin/bash
# strlen() in the condition of a loop: what a kept length saves is most of the time that strlen() takes, not only that of its loads.
set -u
. "$SRC/tests/sampled.sh"
fail() { echo "FAILED: $*"; exit 1; }
cd "$TMP" || exit 1
cat > length.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static __attribute__((noinline)) void turn(char *text)
{
    for (size_t i = 0; i < strlen(text); i++)
        text[i] ^= 1;
}
int main(int argc, char **argv)
{
    enum { LENGTH = 20000 };
    char *text = malloc(LENGTH + 1);
    memset(text, 'b', LENGTH);
    text[LENGTH] = 0;
    for (long times = atol(argv[argc - 1]) * 10; times > 0; times--)
        turn(text);
    return puts(text + LENGTH - 3) < 0;
}
C
$CC -O2 -g -o length length.c || fail "compile"
collect_samples 300 length.r 60 -F 997 --max-overhead 50 -- ./length @ || fail "collect"
"$LWP" analyze -q -f --no-measure length.r || fail "analyze"
/usr/bin/python3 - << 'PY'
import json, sys
analysis = json.load(open("length.r/analysis.json"))
found = [f for f in analysis["findings"] if " counts the length of text again: " in f["title"]]
taken = sum(r["share"] for r in analysis["loops"] if "strlen" in (r["function"] or ""))
if not found:
    print("too few of its loads were watched")
    sys.exit(77)
# ... with its instructions before and after the loop, which count as those of the loop that calls it.
if found[0]["speedup"] < 1 / (1 - 0.97 * taken):
    sys.exit(f"FAILED: strlen()'s loop takes {taken}, and only {found[0]['speedup']} is predicted")
if found[0]["expected_speedup"][1] < 1 / (1 - 0.9 * taken):
    sys.exit(f"FAILED: strlen() takes {taken}, and {found[0]['expected_speedup']} are predicted")
print(taken, found[0]["expected_speedup"])
PY
