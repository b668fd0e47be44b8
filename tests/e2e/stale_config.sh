#!/bin/bash
# Where the source folder was once configured itself, a build in another folder takes its own config.h all the same. What is missing on the
# machine, or was left out, is named.
set -u
fail() { echo "FAILED: $*"; exit 1; }
mkdir "$TMP/source" "$TMP/build" && ln -s "$SRC"/* "$TMP/source/" && rm -f "$TMP/source/config.h" || exit 1
echo '#error another build'\''s config.h' > "$TMP/source/config.h"
cd "$TMP/build" || exit 1
PKG_CONFIG=/nonexistent "$TMP/source/configure" --without-tests --prefix=/opt/of-this-build CC="$CC" > log 2>&1 || { cat log; fail "configure"; }
grep -q 'exact engine.*install pkg-config and valgrind' log || { cat log; fail "without pkg-config"; }
make units > log 2>&1 && fail "unit tests without cmocka"
grep -q 'unit tests need cmocka' log || { cat log; fail "what unit tests need"; }
make obj/lwp.o obj/collector/launch/run_json.o obj/base/path.o > log 2>&1 || { cat log; fail "a build outside of the source"; }
grep -aq /opt/of-this-build/lib obj/base/path.o || fail "another build's LWP_LIBDIR"
exit 0
