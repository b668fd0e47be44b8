#!/bin/bash
# The worked example of docs/new_analysis.md, as it stands there: it builds, its unit test passes, and report, JSON, schema and page have it.
set -u
fail() { echo "FAILED: $*"; exit 1; }
mkdir "$TMP/build" && cd "$TMP/build" || exit 1
cp -a "$SRC" "$TMP/source" && cp -a "$BUILD/Makefile" "$BUILD/config.h" "$BUILD/obj" "$BUILD/liblwp-light.so" . || exit 1
rm -rf obj/unit
find obj -name '*.d' -exec sed -i "s|$SRC/|$TMP/source/|g" {} + # so that a changed header is seen

# "The file `PATH`:", "In `PATH`, before|after the line with `TEXT`:" and "At the end of `PATH`:", each followed by a fenced block
/usr/bin/python3 - "$SRC/docs/new_analysis.md" "$TMP/source" <<'P' || fail "the page"
import re, sys
page, source = open(sys.argv[1]).read(), sys.argv[2]
fence = r":\n\n```\w*\n(.*?)```\n"
files, blocks = set(), 0
for path, text in re.findall(r"[Tt]he file\s+`([^`]+)`" + fence, page, re.S):
    open(source + "/" + path, "w").write(text)
    files.add(path)
    blocks += 1
for path, where, anchor, text in re.findall(r"[Ii]n\s+`([^`]+)`,\s+(before|after)\s+the\s+line\s+with\s+`([^`]+)`" + fence, page, re.S):
    lines = open(source + "/" + path).read().splitlines(keepends=True)
    at = [i for i, line in enumerate(lines) if anchor in line]
    assert len(at) == 1, "%s: %d lines with %s" % (path, len(at), anchor)
    lines.insert(at[0] + (where == "after"), text)
    open(source + "/" + path, "w").write("".join(lines))
    files.add(path)
    blocks += 1
for path, text in re.findall(r"At the end of\s+`([^`]+)`" + fence, page, re.S):
    open(source + "/" + path, "a").write(text)
    files.add(path)
    blocks += 1
assert blocks == len(re.findall(r"^```\w*$", page, re.M)) / 2, "a block that is no edit"
assert len(files) == 10 and "touches ten files" in page, sorted(files)
P
make srcdir="$TMP/source" CFLAGS='-O1 -Werror' lwp obj/unit/test_read_only > log 2>&1 || { tail -n 30 log; fail "make"; }
obj/unit/test_read_only > log 2>&1 || { cat log; fail "its unit test"; }

cat > app.c <<'C'
#include <stdlib.h>
enum { N = 1 << 22 };
static const unsigned table[N] = {1};
static unsigned sums[N];
int main(void)
{
    unsigned at = 1, sum = 0;
    for (int i = 0; i < 100000000; i++)
        at = at * 1664525 + 1013904223, sum += table[(at >> 8) % N];
    for (int i = 0; i < 30000000; i++)
        at = at * 1664525 + 1013904223, sums[(at >> 8) % N] += at;
    return sum == sums[7];
}
C
$CC -O1 -g -o app app.c || exit 1
"$LWP" collect -q --no-analyze --detect layout -F 2000 --max-overhead 20 -o result ./app
./lwp report result > report || fail "lwp report"
sed -n '/^Only read/,/^$/p' report > only
grep -q ' table: less than' only || { cat report; fail "nothing is said of the table"; }
! grep -q sums only || { cat only; fail "what is written is listed, too"; }
./lwp export --source=none -o page.html result > log 2>&1 || { cat log; fail "lwp export"; }
# Large parts of a page are packed.
/usr/bin/python3 - page.html > unpacked <<'P'
import base64, re, sys, zlib
page = open(sys.argv[1]).read()
print(page)
for part in ("lwp-rest", "lwp-later"):
    packed = "".join(re.findall(f'<script type="text/plain" class="{part}">([^<]*)', page))
    print(zlib.decompress(base64.b64decode(packed)).decode() if packed else "")
P
grep -q 'readOnlyTable' unpacked && grep -q '"stores_below"' unpacked || fail "the page does not have it"
if /usr/bin/python3 -c 'import jsonschema' 2> /dev/null; then
    /usr/bin/python3 -m jsonschema -i result/analysis.json "$TMP/source/docs/analysis.schema.json" || fail "the schema is not obeyed"
fi
exit 0
