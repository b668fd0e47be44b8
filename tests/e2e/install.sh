#!/bin/bash
# An installed lwp works, its man pages are sound, and help speaks of every command.
set -u
fail() { echo "FAILED: $*"; exit 1; }
make -C "$BUILD" install DESTDIR="$TMP/root" prefix=/opt/lwp > "$TMP/log" 2>&1 || { cat "$TMP/log"; fail "make install"; }
root=$TMP/root/opt/lwp
"$root/bin/lwp" --version | grep -Eq '^lwp [0-9]' || fail "--version"
printf 'int main(void) { volatile unsigned n = 0; while (++n < 300000000u); }\n' > "$TMP/app.c"
$CC -O1 -g -o "$TMP/app" "$TMP/app.c" || exit 1
cd "$TMP" && "$root/bin/lwp" collect -o result ./app 2> err || { cat err; fail "collect when installed"; }
"$root/bin/lwp" export result > out 2>&1 || { cat out; fail "export when installed"; }
[ -s "$root/include/lwp.h" ] || fail "no lwp.h"
for command in collect analyze report diff check serve export doctor dump; do
    "$root/bin/lwp" help | grep -q "^  $command " || fail "help without $command"
    "$root/bin/lwp" help $command > by-help || fail "help $command"
    "$root/bin/lwp" $command --help > by-option || fail "$command --help"
    cmp by-help by-option || fail "help $command differs from $command --help"
    [ -s "$root/share/man/man1/lwp-$command.1" ] || fail "no man page of $command"
done
if command -v mandoc > /dev/null; then
    mandoc -Tlint -W warning "$root"/share/man/man1/*.1 || fail "mandoc -Tlint"
fi
exit 0
