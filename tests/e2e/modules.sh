#!/bin/bash
# What became of the program's files since the run is said, and the analysis goes on: another build, gone, no ELF file
# any more, unreadable, doubtful; and debug info beside the program (split, separate) names the types.
set -u
cd "$TMP" || exit 1
failed=0
cat > walk.c <<'END'
#include <stdio.h>
#include <time.h>
struct record { long key; double weight; long rest[6]; };
static struct record records[400000];
#ifdef OTHER
int other(int x) { return x * 3; }
#endif
__attribute__((noinline)) double walk(int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += records[i].weight += 1;
    return sum;
}
int main(void)
{
    double sum = 0;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (double end = now.tv_sec + now.tv_nsec * 1e-9 + 0.5; now.tv_sec + now.tv_nsec * 1e-9 < end; clock_gettime(CLOCK_MONOTONIC, &now))
        sum += walk(400000);
    printf("%g\n", sum);
    return 0;
}
END

# run NAME FLAGS...: builds walk in a folder NAME and collects NAME/result
run() {
    name=$1; shift
    mkdir -p "$name" && cp walk.c "$name" && (cd "$name" && $CC -O1 "$@" -c walk.c && $CC "$@" -o walk walk.o && "$LWP" collect --no-analyze -F 2000 --max-overhead 25 -o result -- ./walk) > "$name/log" 2>&1 ||
        { cat "$name/log"; exit 1; }
}

# says WHAT RESULT PATTERN: a note that matches; with '-' before it: none that does
says() {
    "$LWP" analyze --force --no-measure "$2" > err 2>&1 || { echo "FAILED: $1: analyze:"; cat err; failed=1; return; }
    /usr/bin/python3 - "$2/analysis.json" "$3" <<'END' || { echo "FAILED: $1"; failed=1; }
import json, re, sys
notes = json.load(open(sys.argv[1]))["run"]["notes"]
pattern, wanted = sys.argv[2], True
if pattern[0] == "-":
    pattern, wanted = pattern[1:], False
found = [n for n in notes if re.search(pattern, n)]
if bool(found) != wanted or len(found) > 1:
    print("\n".join(notes))
    sys.exit(1)
END
}

# type_is WHAT RESULT TYPE: the type of the hottest object, "null" for none
type_is() {
    /usr/bin/python3 - "$2/analysis.json" "$3" <<'END' || { echo "FAILED: $1"; failed=1; }
import json, sys
root = json.load(open(sys.argv[1]))
hot = max((o for o in root["objects"] if o["kind"] == "static"), key=lambda o: o["share"], default={})
name = hot.get("type")
if str(name or "null") != sys.argv[2]:
    print("type %s, wanted %s" % (name, sys.argv[2]))
    sys.exit(1)
END
}

run plain -g -Wl,--build-id=sha1
says "untouched" plain/result '-walk( is|: the| may)'
type_is "untouched" plain/result 'struct record'
(cd plain && cp walk kept && $CC -O1 -g -DOTHER -Wl,--build-id=sha1 -o walk walk.c)
says "another build" plain/result 'walk is another build than the one that ran'
type_is "another build" plain/result null
echo "text now" > plain/walk
says "no ELF file" plain/result 'walk is no x86-64 ELF file'
rm plain/walk
says "gone" plain/result 'walk is gone since the run'
type_is "gone" plain/result null
mkdir plain/walk
says "a folder" plain/result '-crash'
rmdir plain/walk
cp plain/kept plain/walk
if [ "$(id -u)" != 0 ]; then
    chmod 0 plain/walk
    says "unreadable" plain/result 'walk may not be read'
    chmod 755 plain/walk
fi
says "there again" plain/result '-walk( is|: the| may)'
type_is "there again" plain/result 'struct record'

run bare -g -Wl,--build-id=none
says "no build-id" bare/result '-build-id'
type_is "no build-id" bare/result 'struct record'
touch -d "2 seconds" bare/walk # times of files are compared by the second
says "no build-id, written later" bare/result 'walk was written after the run began and has no build-id'

run split -g -gsplit-dwarf
says "split" split/result '-compile units'
type_is "split" split/result 'struct record'
rm split/*.dwo
says "split, .dwo gone" split/result "walk: the debug info of 1 compile units was not found.*walk.dwo"
type_is "split, .dwo gone" split/result null

run separate -g
if objcopy --version > err 2>&1; then
    (cd separate && objcopy --only-keep-debug walk walk.debug && strip walk && objcopy --add-gnu-debuglink=walk.debug walk &&
        mkdir away && mv walk.debug away)
    says "stripped" separate/result 'has no debug info'
    type_is "stripped" separate/result null
    LWP_DEBUG_PATH=$TMP/separate/away
    export LWP_DEBUG_PATH
    says "separate" separate/result '-debug info'
    type_is "separate" separate/result 'struct record'
fi
exit $failed
