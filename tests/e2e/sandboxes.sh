#!/bin/bash
# Programs in sandboxes run as without lwp, with the same output and status: bubblewrap, firejail, containers by unshare, and
# Chromium with its sandbox. What cannot reach lwp from inside is not recorded.
set -u
cd "$TMP" || exit 1
chmod 777 .
cat > work.c <<'C'
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; long value; };
int main(void)
{
    struct node *list = NULL;
    unsigned long sum = 0;
    for (long i = 0; i < 100000; i++) {
        struct node *node = malloc(sizeof *node);
        *node = (struct node){list, i};
        list = node;
    }
    for (int turn = 0; turn < 400; turn++)
        for (struct node *node = list; node; node = node->next)
            sum += (unsigned long)node->value;
    printf("%lu\n", sum);
}
C
$CC -O1 -g -o work work.c || exit 1
failed=0 tried=""
same() { # NAME COMMAND...: as without lwp, if that works here
    name=$1; shift
    timeout 60 "$@" > plain 2> plain.err < /dev/null || { echo "$name: does not run here: $(tail -n 1 plain.err)"; return 1; }
    timeout 100 "$LWP" collect -q --no-analyze -o "$name" -- "$@" > with 2> with.err < /dev/null
    status=$?
    [ $status = 0 ] || { echo "FAILED: $name: status $status"; tail -n 5 with.err; failed=1; }
    diff plain with || { echo "FAILED: $name: another output"; failed=1; }
    grep -v '^lwp: ' with.err | diff plain.err - || { echo "FAILED: $name: other errors"; failed=1; }
    tried="$tried $name"
}
recorded() { # NAME: samples of the work in it
    for file in "$1"/p*/t*.lwps; do "$LWP" dump "$file"; done 2> /dev/null | grep -q '^sample' || { echo "FAILED: $1: no samples"; failed=1; }
}
has() { command -v "$1" > /dev/null || { echo "$1 is not installed"; return 1; }; }
if has bwrap; then
    same bwrap bwrap --bind / / --dev /dev --proc /proc ./work && recorded bwrap
    same bwrap_all bwrap --ro-bind / / --dev /dev --proc /proc --unshare-all ./work
fi
if has firejail; then
    same firejail firejail --quiet --noprofile --allusers ./work && recorded firejail
    same firejail_profile firejail --quiet --noprofile --allusers --seccomp --caps.drop=all ./work
fi
if has unshare; then
    same container unshare --user --map-root-user --pid --fork --mount --mount-proc --net --ipc --uts ./work
    same user unshare --user --map-root-user ./work && recorded user
fi

# Chromium, as an ordinary user: its renderers confine themselves by a filter that kills for prctl(PR_GET_SECCOMP).
browser=$(command -v chromium || command -v chromium-browser || echo none)
as_user=()
[ "$(id -u)" = 0 ] && as_user=(runuser -u nobody --)
if [ "$browser" != none ] && { [ "$(id -u)" != 0 ] || command -v runuser > /dev/null; }; then
    echo '<html><body><script>document.body.textContent = "sum " + [1, 2, 3].reduce((a, b) => a + b)</script></body></html>' > page.html
    page() { # PREFIX...
        "${as_user[@]}" env HOME="$PWD/home" timeout -k 5 60 "$@" "$browser" --headless --disable-gpu --user-data-dir="$PWD/home/$RANDOM" \
            --dump-dom "file://$PWD/page.html" 2> page.err
    }
    mkdir -m 777 home results
    chmod 644 page.html
    if page > plain && grep -q 'sum 6' plain; then
        page "$LWP" collect -q --no-analyze -o results/chromium > with || { echo "FAILED: chromium: status $?"; tail -n 5 page.err; failed=1; }
        diff plain with || { echo "FAILED: chromium: another page"; failed=1; }
        tried="$tried chromium"
    else
        echo "chromium: does not run here: $(tail -n 1 page.err)"
    fi
fi
[ -n "$tried" ] || exit 77
echo "tried:$tried"
exit $failed
