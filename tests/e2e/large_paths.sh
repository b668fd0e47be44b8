#!/bin/bash
# Large blocks have their call path where those of small ones have spent what paths may take: else all that a wrapper hands out is one object.
set -u
fail() { echo "$*"; exit 1; }
cd "$TMP" || exit 1
$CC -O2 -g -o many_paths "$SRC/tests/programs/many_paths.c" || fail "compile"
"$LWP" collect -q --no-analyze --max-overhead 1 -o result ./many_paths > out || fail "collect"
"$LWP" dump result/p*/process.lwps > dump || fail "dump"
/usr/bin/python3 - <<'PY' || fail "paths"
parents, blocks = {}, []
for line in open("dump"):
    word = line.split()
    if word[0] == "context":
        parents[word[1]] = word[3]
    elif word[0] == "block" and int(word[word.index("size") + 1]) >= 16 << 20:
        blocks.append(word[word.index("context") + 1])
depths = []
for context in blocks:
    depth = 0
    while context in parents:
        context, depth = parents[context], depth + 1
    depths.append(depth)
print(blocks, depths)
assert len(blocks) == 2 and blocks[0] != blocks[1], blocks
assert min(depths) >= 3, depths # checked(), who called it, and main()
PY
