#!/bin/bash
# lwp collect notes below which folders the program's source is: where it was started, where its file is, and what its debug
# information names, each with the work tree around it; never all of the machine or of somebody's home.
set -u
fail() { echo "FAIL: $*"; exit 1; }
cd "$TMP" || exit 1
top=$(pwd -P) system=$(dirname "$(realpath /bin/true)") failed=0
mkdir -p .git home/tree/.git home/tree/src home/tree/include home/loose bin empty
cat > home/tree/include/sum.h <<'E2'
#include <stdio.h>
#include <stdlib.h>
struct item { double value; long rest[7]; };
static inline double sum(const struct item *all, int count)
{
    double total = 0;
    for (int i = 0; i < count; i++)
        total += all[i].value; /* in the header */
    return total;
}
E2
cat > home/tree/src/main.c <<'E2'
#include "../include/sum.h"
int main(void)
{
    double total = 0;
    struct item *all = calloc(300000, sizeof *all);
    for (int round = 0; round < 150; round++)
        total += sum(all, 300000);
    printf("%g\n", total);
}
E2
cp home/tree/src/main.c home/loose/loose.c && sed -i 's|"../include|"../tree/include|' home/loose/loose.c
sed 's|"../include|"tree/include|' home/tree/src/main.c > home/direct.c
for program in tree/src/main loose/loose direct; do
    ${CC:-cc} -g -O1 -o "bin/${program##*/}" "home/$program.c" || exit 1
done

roots() { # folder to start it in, what lwp collect is given..., "--", roots that there should be, besides the compiler's
    local folder=$1 given=() wanted
    shift
    while [ "$1" != -- ]; do given+=("$1"); shift; done
    shift
    wanted=$(printf '%s\n' "$@" | sort)
    rm -rf "$top/r"
    (cd "$folder" && HOME=$top/home "$LWP" collect -q --no-analyze -o "$top/r" -- "${given[@]}" > /dev/null) || { echo "FAIL: lwp collect"; failed=1; }
    python3 -c 'import json, sys; print("\n".join(r for r in json.load(open(sys.argv[1] + "/r/run.json"))["source_roots"] if r not in ("/usr/include", "/usr/lib/gcc")))' "$top" | sort > noted
    [ "$(cat noted)" = "$wanted" ] || { echo "FAIL: in $folder, ${given[*]}: noted"; cat noted; echo "instead of"; echo "$wanted"; failed=1; }
}
roots "$top/empty" "$top/bin/main" -- "$top/empty" "$top/bin" "$top/home/tree"
roots "$top/empty" "$top/bin/loose" -- "$top/empty" "$top/bin" "$top/home/loose"
roots "$top/empty" "$top/bin/direct" -- "$top/empty" "$top/bin"
roots "$top/home" "$top/bin/direct" -- "$top/home" "$top/bin"
roots "$top/home/tree/src" "$top/bin/main" -- "$top/home/tree" "$top/bin"
roots "$top" "$top/bin/main" -- "$top/bin" "$top/home/tree"
roots / /bin/true -- "$system"
ln -s "$top/home/tree/src" link
roots "$top/link" sh -c : -- "$top/home/tree" "$system"

rm -r r && (cd empty && HOME=$top/home "$LWP" collect -q -F 5000 --max-overhead 50 -o ../r ../bin/main > /dev/null) || fail "lwp collect"
"$LWP" export -o - r 2> err | grep -q "in the header" || { cat err; fail "the header of the program's work tree is not shown"; }
exit $failed
