#!/bin/bash
# A full disk: the program runs on as if alone, and lwp says what was lost.
set -u
cd "$TMP" || exit 1
[ "$(id -u)" = 0 ] || { echo "needs root to mount a small tmpfs"; exit 77; }
mkdir disk && mount -t tmpfs -o size=400k none disk 2> err || { echo "cannot mount a tmpfs here"; exit 77; }
trap 'umount disk' EXIT
cat > app.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    enum { N = 1 << 22 };
    int *a = malloc(N * sizeof *a), sum = 0;
    for (int i = 0; i < N; i++)
        a[i] = i;
    for (int r = 0; r < 200; r++)
        for (int i = 0; i < N; i += 16)
            sum += a[i];
    printf("%d\n", sum);
    return 3;
}
C
$CC -O2 -g -o app app.c && ./app > expected
# room for run.json and one page more: of the process's file and its thread's only one can be written, however few samples there are
head -c $((400 * 1024 - 2 * 4096)) /dev/zero > disk/filler
"$LWP" collect -F 8000 --max-overhead 50 -o disk/result -- ./app > output 2> err
status=$?
cmp expected output || { echo "the output changed"; exit 1; }
[ $status = 3 ] || { echo "status $status instead of 3"; cat err; exit 1; }
grep -Eiq '[1-9][0-9]* records were lost|records were lost: .*space' err || { echo "nothing was said about the loss:"; cat err; exit 1; }
grep -q 'block all signals' err && { echo "the full disk was taken for the program's fault:"; cat err; exit 1; }
exit 0
