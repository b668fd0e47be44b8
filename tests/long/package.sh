#!/bin/bash
# The Debian package: built without a network, with the same bytes from two folders at two times; lintian has nothing
# against it; in fresh images of the systems in SUITES it installs and works.
#
# SUITES: words "suite" or "suite=mirror", where the package is built anew for others than the system this runs on.
# IMAGES: a folder where bare images are kept, or taken from; by default they are made for each run. Ubuntu's is made there by hand:
# debootstrap --no-check-gpg --variant=minbase --components=main,universe noble IMAGES/noble http://archive.ubuntu.com/ubuntu gutsy
set -u
fail() { echo "FAILED: $*"; exit 1; }
skip() { echo "$*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "needs root, for debootstrap"
for tool in debootstrap dpkg-buildpackage dh lintian git unshare; do
    command -v $tool > /dev/null || skip "needs $tool (./configure --install-deps=all)"
done
here=$(. /etc/os-release && echo "${VERSION_CODENAME:-}") SUITES=${SUITES:-bookworm} IMAGES=${IMAGES:-$TMP/images}
name=lwp-$(sed -n '1s/^lwp \([^ ]*\).*/\1/p' "$SRC/NEWS")
mirror=http://deb.debian.org/debian
mkdir -p "$IMAGES"

unpack() { mkdir -p "$1" && git -C "$SRC" archive --prefix="$name/" HEAD | tar -C "$1" -x; }
build() { (cd "$1/$name" && unshare -n dpkg-buildpackage -b -us -uc) > "$1/log" 2>&1 || { tail -n 30 "$1/log"; fail "dpkg-buildpackage in $1"; }; }

unpack "$TMP/first" && unpack "$TMP/second/further/down" || fail "git archive"
export DEB_BUILD_OPTIONS=nocheck
build "$TMP/first"
TZ=Pacific/Auckland LC_ALL=C HOME=$TMP/nobody build "$TMP/second/further/down"
cd "$TMP/first" || exit 1
for package in *.deb; do
    cmp "$package" "$TMP/second/further/down/$package" || fail "$package differs between two builds"
done
sha256sum *.deb
lintian --allow-root --fail-on error,warning *.changes || fail "lintian"

inside() { # FOLDER COMMAND...: runs it there, with this system's /proc, /dev and /sys
    unshare -m -- sh -c 'root=$1; shift; for one in proc dev sys; do mount --rbind /$one "$root/$one" || exit; done
        DEBIAN_FRONTEND=noninteractive LC_ALL=C exec chroot "$root" "$@"' sh "$@"
}
for wanted in $SUITES; do
    suite=${wanted%%=*} from=$mirror
    [ "$suite" = "$wanted" ] || from=${wanted#*=}
    [ -e "$IMAGES/$suite/etc/os-release" ] || debootstrap --variant=minbase "$suite" "$IMAGES/$suite" "$from" > "$TMP/log" 2>&1 ||
        { tail -n 5 "$TMP/log"; fail "debootstrap of $suite from $from"; }
    fresh=$TMP/$suite packages=$TMP/first
    cp -a "$IMAGES/$suite" "$fresh" && cp /etc/resolv.conf "$fresh/etc" || exit 1
    if [ "$suite" != "$here" ]; then
        builder=$TMP/$suite.builder packages=$TMP/$suite.builder/build
        cp -a "$fresh" "$builder" && unpack "$builder/build" || exit 1
        inside "$builder" sh -c "apt-get update -q && apt-get install -y -q --no-install-recommends build-essential &&
            cd /build/$name && apt-get build-dep -y -q --no-install-recommends ./ && DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage -b -us -uc" \
            > "$TMP/log" 2>&1 || { tail -n 30 "$TMP/log"; fail "the package for $suite"; }
    fi
    cp "$packages"/lwp_*.deb "$TMP/first/$name/debian/tests/smoke" "$fresh/root" || exit 1
    cp "$BUILD/examples-bin/neuron" "$fresh/root" || exit 1
    inside "$fresh" sh -c 'apt-get update -q && apt-get install -y -q --no-install-recommends /root/lwp_*.deb' > "$TMP/log" 2>&1 ||
        { tail -n 30 "$TMP/log"; fail "installing in $suite"; }
    inside "$fresh" /root/smoke /root/neuron 'Split struct neuron' || fail "the smoke test in $suite"
    inside "$fresh" dpkg -P lwp > "$TMP/log" 2>&1 || { cat "$TMP/log"; fail "removing it from $suite"; }
    [ ! -e "$fresh/usr/lib/lwp" ] || fail "left behind in $suite: $(ls -R "$fresh/usr/lib/lwp")"
    echo "$suite: installed, works, removed"
done
exit 0
