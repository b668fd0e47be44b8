#!/bin/sh
# Programs whose stacks have hardly room, or none, for a signal's frame live, with each kind of timer; and programs see of their
# own alternate stacks what they see alone.
set -u
${CC:-cc} -std=gnu11 -O1 -pthread -o "$TMP/stacks" "$SRC/tests/programs/small_stacks.c" || exit 1
"$TMP/stacks" > "$TMP/plain" || { echo "does not even run alone"; exit 1; }
for timer in sigtrap async posix; do
    rm -rf "$TMP/result"
    LWP_TIMER=$timer "$LWP" collect -F 3000 --max-overhead 60 -o "$TMP/result" -- "$TMP/stacks" > "$TMP/output" 2> "$TMP/log"
    status=$?
    samples=$(sed -n 's/^lwp: \([0-9]*\) samples,.*/\1/p' "$TMP/log")
    echo "$timer: status $status, ${samples:-no} samples"
    [ $status = 0 ] && cmp "$TMP/plain" "$TMP/output" && [ "${samples:-0}" -gt 50 ] || { cat "$TMP/log"; exit 1; }
done

${CC:-cc} -std=gnu11 -O1 -pthread -rdynamic -o "$TMP/alternate" "$SRC/tests/programs/alternate_stacks.c" || exit 1
"$TMP/alternate" > "$TMP/plain" || { echo "does not even run alone"; exit 1; }
for timer in sigtrap async posix; do
    rm -rf "$TMP/result"
    LWP_TIMER=$timer "$LWP" collect --no-analyze -F 3000 --max-overhead 60 -o "$TMP/result" -- "$TMP/alternate" > "$TMP/output" 2> "$TMP/log"
    status=$?
    samples=$(sed -n 's/^lwp: \([0-9]*\) samples,.*/\1/p' "$TMP/log")
    echo "alternate stacks, $timer: status $status, ${samples:-no} samples"
    [ $status = 0 ] && diff "$TMP/plain" "$TMP/output" && [ "${samples:-0}" -gt 50 ] || { cat "$TMP/log"; exit 1; }
done
