# Version control: objects by hash, packs searched for deltas, pools of objects carved from blocks, flexible arrays.
packages=git
needs=python3
sampled=200 traced=20
build() {
    nice make -j2 git NO_GETTEXT=1 NO_CURL=1 NO_EXPAT=1 NO_OPENSSL=1 NO_TCLTK=1 NO_PERL=1 NO_PYTHON=1 CFLAGS="$CFLAGS" \
        prefix="$PWD/none"
}
run() {
    export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
    python3 - "$SIZE" > stream <<'P'
import random, sys
random.seed(1)
out = sys.stdout.write
files = {f"dir{i % 20}/file{i}": [f"line {k} {random.random()}" for k in range(60)] for i in range(300)}
for c in range(12 * int(sys.argv[1])):
    out(f"commit refs/heads/main\ncommitter A <a@example.org> {1700000000 + c * 60} +0000\ndata 4\nwork\n")
    for name in random.sample(sorted(files), 3):
        lines = files[name]
        lines[random.randrange(60)] = f"changed {c} {random.random()}"
        text = "\n".join(lines) + "\n"
        out(f"M 100644 inline {name}\ndata {len(text)}\n{text}\n")
P
    git() { $with "$TREE/git" --exec-path="$TREE" "$@"; }
    with=
    git init -q --bare repo
    git --git-dir=repo fast-import --quiet < stream
    with=$WITH
    git --git-dir=repo -c pack.threads=1 pack-objects --all --no-reuse-delta --no-reuse-object --window=20 --depth=50 -q packed < /dev/null
}
