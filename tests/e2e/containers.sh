#!/bin/bash
# Nodes of the C++ library's containers: what the program keeps in them is split, in its own declaration, where loops use a part of it; not
# where they use all of it, nor where what is gained is not known. LONG: clang's debug information, too.
set -u
. "$SRC/tests/sampled.sh"
cd "$TMP" || exit 1
fail() { echo "FAILED: $*"; exit 1; }
cat > containers.cc <<'C'
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
struct Entry {
    int price;
    char text[80];
    int qty;
    long created;
};
struct Whole {
    double a, b;
};
enum { N = 200000 };
static unsigned long state = 1;
static unsigned long draw() { return (state = state * 6364136223846793005ul + 1442695040888963407ul) >> 33; }
static std::list<Entry> list;
static std::list<Whole> whole;
static std::map<long, Entry> map;
__attribute__((noinline)) long walk()
{
    long sum = 0;
    for (const Entry &each : list)
        sum += (long)each.price * each.qty;
    return sum;
}
__attribute__((noinline)) double walk_whole()
{
    double sum = 0;
    for (const Whole &each : whole)
        sum += each.a * each.b;
    return sum;
}
__attribute__((noinline)) long search()
{
    long sum = 0;
    for (int i = 0; i < N / 4; i++) {
        auto found = map.find((long)(draw() % N));
        if (found != map.end())
            sum += found->second.price;
    }
    return sum;
}
int main(int c, char **v)
{
    double sum = 0;
    const char *what = v[1];
    for (long i = 0; i < N; i++)
        if (!strcmp(what, "list"))
            list.push_back({(int)draw(), "text", 1, i});
        else if (!strcmp(what, "whole"))
            whole.push_back({(double)draw(), 1});
        else
            map.emplace((long)(draw() % N), Entry{1, "text", 1, i});
    list.sort([](const Entry &a, const Entry &b) { return a.price < b.price; });
    whole.sort([](const Whole &a, const Whole &b) { return a.a < b.a; });
    for (int r = 0; r < atoi(v[c - 1]); r++)
        sum += !strcmp(what, "list") ? (double)walk() : !strcmp(what, "whole") ? walk_whole() : (double)search();
    printf("%g\n", sum);
}
C
compile() { # COMPILER
    case $1 in *clang*) set -- clang++ ;; *) set -- g++ ;; esac
    command -v "$1" > /dev/null || return 1
    "$@" -std=c++17 -O2 -g -o containers containers.cc
}
compile "$CC" || { echo "no C++ compiler"; exit 77; }
check() { # RESULTS...
    /usr/bin/python3 - "$@" <<'PY' || fail "advice"
import json, re, subprocess, sys
problems = []
def check(holds, what):
    if not holds:
        problems.append(what)
        print("wrong:", what)
for name in sys.argv[1:]:
    data = json.load(open(f"{name}/analysis.json"))
    splits = [s for s in data["splits"] if s.get("container")]
    reasons = {data["objects"][r["object"]]["type"]: r for r in data["left_alone"] if r["object"] is not None}
    if name.startswith("list"):
        check(len(splits) == 1 and splits[0]["kind"] == "split", f"{name}: {splits} {reasons}")
        for split in splits:
            check(split["container"] == "std::list" and split["payload"] == "Entry" and split["type"] == "std::_List_node<Entry>", split)
            check(split["groups"][0]["fields"] == ["_M_next", "_M_prev", "price", "qty"], split["groups"])
            check(split["cold"]["fields"] == ["text", "created"] and split["link"] == "pointer", split["cold"])
            declared = data["objects"][split["object"]]["declared"]
            check(declared["file"].endswith("containers.cc") and declared["line"] == 6, declared)
            source = split["declaration"] + 'static_assert(sizeof(Entry) == 16 && sizeof(Entry_cold) == 88, "sizes");\n'
            done = subprocess.run(["g++", "-fsyntax-only", "-x", "c++", "-"], input=source, text=True, capture_output=True)
            check(done.returncode == 0, f"{name}: the declaration does not compile: {done.stderr}{source}")
            finding = next(f for f in data["findings"] if "split" in f["refs"])
            check(re.match(r"Split Entry in the nodes of a std::list.* 2 groups: loops use \d+ of its 96 bytes", finding["title"]), finding["title"])
            check("std::vector instead of the std::list" in finding["next_step"], finding["next_step"])
            check("std::pmr" in finding["next_step"] and finding["expected_speedup"][0] > 1, finding)
    else:
        check(not [s for s in splits if s["kind"] == "split"], f"{name}: {splits}")
    if name.startswith("map"):
        check(any(kind.startswith("std::_Rb_tree_node") and reason.get("code") == "unknown_gain" and "of Entry in its nodes" in reason["sentence"]
                  for kind, reason in reasons.items() if kind), f"{name}: {reasons}")
sys.exit(len(problems) > 0)
PY
}
run() { # SUFFIX
    for what in list whole map; do
        collect_samples 250 "$what$1" 10 -q -F 2000 --max-overhead 50 -- ./containers $what @ || fail "collect $what"
        "$LWP" analyze -q --no-measure "$what$1" || fail "analyze $what"
    done
    check "list$1" "whole$1" "map$1"
}
run ""
[ -z "${LONG:-}" ] || { compile clang && run -clang; }
exit 0
