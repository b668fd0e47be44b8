# A parser of Markdown in Rust: a tree in a Vec of nodes, vectors of events, hash maps of references.
packages=
debs="librust-pulldown-cmark-dev librust-bitflags-dev librust-unicode-width-dev librust-version-check-dev librust-getopts-dev
librust-unicase-dev librust-memchr-dev"
needs="cargo rustc python3"
language=rust
sampled=100 traced=20
build() {
    local crates
    crates=$(cd "$TREE/../debs/usr/share/cargo/registry" && pwd)
    cp -r "$crates"/pulldown-cmark-*/. .
    mkdir -p .cargo
    printf '[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "%s"\n' "$crates" > .cargo/config.toml
    rm -f Cargo.lock
    cat > Cargo.toml <<'T'
[package]
name = "pulldown-cmark"
version = "0.9.2"
edition = "2018"
build = false
[[bin]]
name = "pulldown-cmark"
path = "src/main.rs"
[dependencies]
bitflags = "1"
memchr = "2"
unicase = "2"
getopts = "0.2"
[profile.release]
debug = true
opt-level = 2
T
    CARGO_HOME=$PWD/.home nice cargo build --offline --release -j2 --bin pulldown-cmark
}
run() {
    python3 - "$SIZE" > input.md <<'P'
import random, sys
random.seed(1)
word = lambda: "".join(random.choices("abcdefghij", k=random.randint(2, 9)))
words = [word() for _ in range(2000)]
for i in range(int(sys.argv[1]) * 300):
    print("#" * (i % 4 + 1), random.choice(words), "\n")
    forms = ["%s", "*%s*", "**%s**", "`%s`", "[%s][ref" + str(i % 500) + "]", "%s"]
    print(" ".join(random.choice(forms) % random.choice(words) for _ in range(60)), "\n")
    for _ in range(4):
        print("-", random.choice(words), "<%s@example.org>" % random.choice(words))
    print("\n> quoted", random.choice(words), "\n")
for i in range(500):
    print("[ref%d]: https://example.org/%d \"%s\"" % (i, i, random.choice(words)))
P
    $WITH "$TREE/target/release/pulldown-cmark" < input.md > output
    status=$?
    sha256sum < output
    return $status
}
