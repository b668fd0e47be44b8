#!/bin/bash
# An installed lwp works from wherever it was put, its man pages are sound, and uninstalling leaves nothing behind.
set -u
fail() { echo "FAILED: $*"; exit 1; }
make -C "$BUILD" install DESTDIR="$TMP/root" prefix=/opt/lwp > "$TMP/log" 2>&1 || { cat "$TMP/log"; fail "make install"; }
root=$TMP/root/opt/lwp
"$root/bin/lwp" --version | grep -Eq '^lwp [0-9]' || fail "--version"
printf 'int main(void) { volatile unsigned n = 0; while (++n < 300000000u); }\n' > "$TMP/app.c"
$CC -O1 -g -o "$TMP/app" "$TMP/app.c" || exit 1
cd "$TMP" && "$root/bin/lwp" collect -o result ./app 2> err || { cat err; fail "collect when installed"; }
"$root/bin/lwp" export result > out 2>&1 || { cat out; fail "export when installed"; }
if [ -e "$BUILD/exact/lwp-amd64-linux" ]; then
    "$root/bin/lwp" collect -e exact -o exact sh -c '/bin/true; /bin/true' 2> err || { cat err; fail "the exact engine when installed"; }
    [ "$(find "$root" -type l)" = "" ] || fail "installed links: $(find "$root" -type l)"
fi

if command -v pkg-config > /dev/null; then
    PKG_CONFIG_PATH=$root/share/pkgconfig pkg-config --define-variable=prefix="$root" --cflags lwp > flags || fail "lwp.pc"
    printf '#include <lwp.h>\nint main(void) { LWP_BEGIN(); LWP_END(); }\n' > uses.c
    $CC $(cat flags) -o uses uses.c && ./uses || fail "a program that uses lwp.h"
fi
if command -v mandoc > /dev/null; then
    mandoc -Tlint -W warning "$root"/share/man/man1/*.1 || fail "mandoc -Tlint"
fi

make -C "$BUILD" uninstall DESTDIR="$TMP/root" prefix=/opt/lwp > "$TMP/log" 2>&1 || { cat "$TMP/log"; fail "make uninstall"; }
[ -z "$(find "$root" ! -type d)" ] || fail "left behind: $(find "$root" ! -type d)"
[ ! -e "$root/lib/lwp" ] && [ ! -e "$root/share/doc/lwp" ] || fail "folders of its own left behind"
exit 0
