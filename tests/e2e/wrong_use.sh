#!/bin/bash
# Wrong use gets one clear sentence and the right status.
set -u
cd "$TMP" || exit 1
failed=0

# wants STATUS 'PATTERN' COMMAND...: the status, and exactly one line on stderr that matches
wants() {
    status=$1 pattern=$2; shift 2
    "$@" > out 2> err < /dev/null
    got=$?
    if [ $got != "$status" ] || ! grep -Eq "$pattern" err || [ "$(wc -l < err)" != 1 ]; then
        echo "FAILED: $* -> status $got (wanted $status), stderr wanted '$pattern' in one line:"; cat err
        failed=1
    fi
}

printf 'int main(void) { return 0; }\n' > app.c
$CC -o app app.c && $CC -static -o static app.c || exit 1
echo text > plain
mkdir empty results
printf '#!/no/such/interpreter\n' > script && chmod +x script
printf 'no\0text\n' > data && chmod +x data

wants 125 'no program' "$LWP" collect
wants 127 'not found' "$LWP" collect ./missing
wants 127 'not found' "$LWP" collect no-such-program-anywhere
wants 127 '\./app' "$LWP" collect app
wants 126 'cannot execute' "$LWP" collect ./plain
wants 126 'cannot execute|directory' "$LWP" collect ./empty
wants 126 'neither a program nor a script' "$LWP" collect ./data
wants 125 'static' "$LWP" collect --detect sharing ./static
wants 125 'exists' "$LWP" collect -o results ./app
"$LWP" collect -q --no-analyze -o written sleep 60 > out 2> err & # until it is ended below
for wait in $(seq 100); do [ -e written/run.json ] && break; sleep 0.05; done # once it is locked
wants 125 'still being written' "$LWP" collect --force -o written ./app
kill %1
wait
wants 125 'translates' "$LWP" collect --no-analyze valgrind ./app
wants 125 'result directory' "$LWP" collect -o /proc/nothing ./app
wants 125 'did you mean .--max-overhead' "$LWP" collect --max-overheat 3 ./app
wants 125 'wants a number' "$LWP" collect -F many ./app
wants 125 'LWP_MAX_OVERHEAD wants a number' env LWP_MAX_OVERHEAD=200 "$LWP" collect ./app
wants 125 'wants one of|engine' "$LWP" collect -e magic ./app
wants 125 "did you mean 'lwp report'" "$LWP" reprot
for command in $("$LWP" help --rows | cut -d ' ' -f 1 | grep -vx help); do # the same status of all commands
    wants 125 'unknown option' "$LWP" "$command" --no-such-option
done
for command in report serve export analyze; do
    "$LWP" $command empty > out 2> err < /dev/null
    status=$?
    if [ $status = 0 ] || [ $status -gt 2 ] || ! grep -q 'lwp collect' err; then
        echo "FAILED: $command of an empty folder: status $status"; cat err; failed=1
    fi
    "$LWP" $command /no/such/folder > out 2> err < /dev/null
    [ $? != 0 ] && [ -s err ] || { echo "FAILED: $command of nothing"; cat err; failed=1; }
    "$LWP" $command > out 2> err < /dev/null
    [ $? != 0 ] && [ -s err ] || { echo "FAILED: $command without a folder"; cat err; failed=1; }
done
if [ "$(id -u)" = 0 ]; then
    cp app setuid && chmod u+s setuid
    if command -v setpriv > /dev/null; then
        chmod 755 . && setpriv --reuid 65534 --clear-groups "$LWP" collect -o /tmp/lwp-setuid.$$ ./setuid > out 2> err
        status=$?
        [ $status = 125 ] && grep -q 'setuid' err || { echo "FAILED: setuid program: status $status"; cat err; failed=1; }
    fi
fi
exit $failed
