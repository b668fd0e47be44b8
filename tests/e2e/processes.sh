#!/bin/bash
# Children by fork, vfork, exec, posix_spawn, system and bare clone end as they would, have a folder each with samples,
# and leave their parent's files whole.
set -u
cd "$TMP" || exit 1
$CC -O1 -g -o processes "$SRC/tests/programs/processes.c" || exit 1
./processes > plain 2> err < /dev/null
[ $? = 10 ] || { echo "FAILED: without lwp"; exit 1; }
failed=0
for times in 1 3 9; do # a busy machine takes few samples of what is short
    rm -rf r
    WORK_TIMES=$times "$LWP" collect --detect layout -F 2000 --max-overhead 50 --no-analyze -o r -- ./processes > with 2> err < /dev/null
    [ $? = 10 ] || { echo "FAILED: status"; cat err; failed=1; }
    diff plain with || { echo "FAILED: another output"; failed=1; }
    good=0
    for folder in r/p*; do
        for file in "$folder"/*.lwps; do
            "$LWP" dump "$file" > dump 2> warnings # complains of those whose process was killed or exec'ed
            grep -q '[1-9][0-9]* damaged' warnings && { echo "FAILED: $file is damaged"; cat warnings; failed=1; }
            case $file in *t[0-9]*) [ "$(grep -c '^sample' dump)" -gt 20 ] && good=$((good + 1)) ;; esac
        done
    done
    [ $good -lt 9 ] || break
done
# the parent, six forked, vfork's and posix_spawn's images, the latter twice; not the two that closed all files
[ $good -ge 9 ] || { echo "FAILED: only $good images have samples"; ls -R r; failed=1; }
ls -d r/p*.1 > list || { echo "FAILED: no second image of one process"; failed=1; }
"$LWP" report r > report 2> err || { echo "FAILED: no report"; cat err; failed=1; }

"$LWP" collect --no-analyze --no-follow-fork -o r-first -- ./processes > with 2> err < /dev/null
diff plain with || { echo "FAILED: another output when children are not followed"; failed=1; }
[ "$(ls -d r-first/p* | wc -l)" = 1 ] || { echo "FAILED: children were followed"; ls r-first; failed=1; }

# What its calls of the allocator cost a process that is not set up is known, too.
cat > calls.c << 'END'
#include <stdlib.h>
int main(void)
{
    for (int i = 0; i < 100000000; i++) {
        void *volatile block = malloc(16);
        free(block);
    }
    return 0;
}
END
$CC -O1 -o calls calls.c || exit 1
"$LWP" collect -q --max-overhead 0.1 --no-analyze -o r-calls -- sh -c './calls; :' 2> err
python3 -c 'import json; exit(json.load(open("r-calls/run.json"))["overhead_percent"] < 10)' || { echo "FAILED: calls of the allocator cost nothing"; failed=1; }

# What a process that waits has recorded is not written again and again.
"$LWP" collect -q --no-analyze -o waits -- sleep 4 2> err &
collecting=$!
for i in $(seq 200); do ls waits/p*/process.lwps > list 2> err && break; sleep 0.1; done
file=$(cat list)
sleep 0.7
before=$(stat -c %y "$file")
sleep 1
[ "$before" = "$(stat -c %y "$file")" ] || { echo "FAILED: a file is written again though nothing came to it"; failed=1; }
kill $collecting
wait $collecting
exit $failed
