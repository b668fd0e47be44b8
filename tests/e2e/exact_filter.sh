#!/bin/bash
# Translated code leaves out superblocks that surely hit only where nobody else wants to know of them: the samples are the
# same ones as where it does not, for a program of small pieces, of strings that lie anywhere, and of threads.
set -u
fail() { echo "FAILED: $*"; exit 1; }
[ -x "$BUILD/exact/lwp-amd64-linux" ] || { echo "the exact engine was not built"; exit 77; }
cd "$TMP" || exit 1
$CC -O1 -g -pthread -Wall -Wextra -Werror -o turns "$SRC/tests/programs/turns.c" || fail "compile"
samples() { # FOLDER DETECT PROGRAM...: samples by thread, without the times, which are as exact as superblocks are looked at
    local name=$1 detect=$2
    shift 2
    timeout 60 "$LWP" collect -q --force -e exact --detect "$detect" --window all -o $name -- "$@" > out 2> err || { cat err; fail "run $*"; }
    for file in $(ls $name/p*/t[1-9]*.lwps | sort -V); do
        "$LWP" dump $file
    done | sed -n -E 's/^sample time [0-9]+//p; /^ +access/p' > $name.txt
    [ "$(wc -l < $name.txt)" -gt 10000 ] || fail "few samples of $*"
}
compare() {
    # names of one length: where the stack begins depends on the lengths of paths
    samples filtered layout "$@"
    samples complete layout,spatial "$@"
    cmp -s filtered.txt complete.txt && return
    samples repeated layout "$@"
    cmp -s filtered.txt repeated.txt || { echo "skip  $*: it does not do the same twice (glibc 2.39 and later print thread ids)"; return; }
    diff filtered.txt complete.txt | head
    fail "$*: not the same samples"
}
$CC -O1 -g -Wall -Wextra -Werror -o strings "$SRC/tests/programs/strings.c" || fail "compile"
compare ./strings
compare ./turns
