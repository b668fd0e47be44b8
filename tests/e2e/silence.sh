#!/bin/sh
# Where there is no advice it is said why, in text, Markdown, JSON and on the page: what could not be measured, that nothing is to
# be gained, and what is left alone for a reason. The program says which by its first argument.
set -u
. "$SRC/tests/sampled.sh"
cd "$TMP" || exit 1
cat > work.cc <<'C'
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <unistd.h>
#include <vector>
struct four { double a, b, c, d; };
static unsigned long state = 1;
static inline unsigned long pick(unsigned long n) { state = state * 6364136223846793005ul + 1442695040888963407ul; return (state >> 33) % n; }
__attribute__((noinline)) double compute(long rounds)
{
    double x = 1;
    for (long i = 0; i < rounds * 20000; i++)
        x = x * 0.999999 + 1e-3 / (x + 1);
    return x;
}
__attribute__((noinline)) double together(four *all, long n, long rounds) /* every field of an element, elements at random */
{
    double sum = 0;
    for (long i = 0; i < rounds * 2000; i++) {
        const four *at = &all[pick((unsigned long)n)];
        sum += at->a * at->b + at->c * at->d;
    }
    return sum;
}
__attribute__((noinline)) double in_order(const double *values, long n, long rounds)
{
    double sum = 0;
    for (long r = 0; r < rounds; r++)
        for (long i = 0; i < n; i += 8)
            sum += values[i] + values[i + 1] + values[i + 2] + values[i + 3] + values[i + 4] + values[i + 5] + values[i + 6] + values[i + 7];
    return sum;
}
__attribute__((noinline)) long lookups(std::map<long, long> &tree, long n, long rounds)
{
    long found = 0;
    for (long i = 0; i < rounds * 500; i++)
        found += tree.find((long)pick((unsigned long)n))->second;
    return found;
}
struct pair { pair *next; long value; };
__attribute__((noinline)) long follow(const pair *at, long n, long rounds) /* nodes from malloc, all of which is used */
{
    long sum = 0;
    for (long i = 0; i < rounds * n / 16; i++, at = at->next)
        sum += at->value;
    return sum;
}
__attribute__((noinline)) const pair *find(const pair *at, long value)
{
    while (at && at->value != value)
        at = at->next;
    return at;
}
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    long rounds = argc > 2 ? atol(argv[2]) : 1, n = 1 << 20;
    double result = 0;
    if (!strcmp(what, "compute"))
        result = compute(rounds);
    if (!strcmp(what, "together") || !strcmp(what, "lost")) {
        four *all = *what == 't' ? new four[(size_t)n] : (four *)sbrk(n * (long)sizeof(four)); /* as some allocators do */
        for (long i = 0; i < n; i++)
            all[i] = four{1, 2, 3, (double)i};
        result = together(all, n, rounds);
    }
    if (!strcmp(what, "order")) {
        double *values = (double *)calloc((size_t)n * 8, sizeof *values);
        result = in_order(values, n * 8, rounds);
    }
    if (!strcmp(what, "nodes")) {
        std::vector<pair *> all((size_t)n);
        for (long i = 0; i < n; i++)
            all[(size_t)i] = new pair{nullptr, i};
        for (long i = 0; i < n; i++)
            all[(size_t)(i * 7919 % n)]->next = all[(size_t)((i + 1) * 7919 % n)];
        result = (double)follow(all[0], n, rounds);
    }
    if (!strcmp(what, "search")) { /* in a list of few enough nodes to stay in the first-level cache */
        pair *all = nullptr;
        for (long i = 0; i < 500; i++)
            all = new pair{all, i};
        for (long i = 0; i < rounds * 1000; i++)
            result += find(all, (long)pick(500)) != nullptr;
    }
    if (!strcmp(what, "map")) {
        std::map<long, long> tree;
        for (long i = 0; i < n / 4; i++)
            tree[i] = i;
        result = (double)lookups(tree, n / 4, rounds);
    }
    return printf("%g\n", result) < 0;
}
C
cat > chase.c <<'C'
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; long rest[15]; };
int main(int argc, char **argv)
{
    long n = 100000, rounds = argc > 1 ? atol(argv[1]) : 1;
    struct node *all = calloc((size_t)n, sizeof *all), *at = all;
    for (long i = 0; i < n; i++)
        all[i].next = &all[(i * 7919 + 1) % n];
    for (long i = 0; i < n * rounds; i++)
        at = at->next;
    return printf("%d\n", at == all) < 0;
}
C
g++ -O2 -g -o work work.cc && gcc -O2 -s -fno-asynchronous-unwind-tables -fno-unwind-tables -o chase chase.c || exit 1
collect_samples 120 compute 1000 -- ./work compute @ && collect_samples 150 together 20000 -- ./work together @ || exit 1
collect_samples 120 order 100 -- ./work order @ && collect_samples 120 map 6000 -- ./work map @ || exit 1
collect_samples 120 lost 10000 -- ./work lost @ || exit 1
collect_samples 400 nodes 300 -F 2000 --max-overhead 50 --detect layout -- ./work nodes @ && "$LWP" analyze --no-measure nodes > out 2>&1 || exit 1
collect_samples 120 search 200 --detect layout -- ./work search @ || exit 1
collect_samples 120 unknown 50 -- ./chase @ || exit 1
"$LWP" collect --no-analyze -o windows -e exact --detect layout --window 5000:4000000000 -- ./chase 1 > out 2>&1 || { cat out; exit 77; }
"$LWP" collect --no-analyze -o part -e exact --window 20000:400000 -- ./work together 60 > out 2>&1 || { cat out; exit 1; }
for result in compute together order search map lost unknown windows part; do
    "$LWP" analyze $result > out 2>&1 && "$LWP" report $result > $result.txt && "$LWP" report --format markdown $result > $result.md &&
        "$LWP" export -o $result.html $result > out 2>&1 || { cat out; exit 1; }
done
python3 - << 'P'
import json, re
def flat(text): return re.sub(r"\s+", " ", re.sub(r"[\\`]", "", text))
def check(name, kind, code, *says):
    a = json.load(open(name + "/analysis.json"))
    silence = a["silence"]
    assert not a["findings"] and silence["kind"] == kind and silence["code"] == code, (name, silence, a["findings"], a["left_alone"])
    for file in name + ".txt", name + ".md":
        text = flat(open(file).read())
        assert silence["sentence"] in text and all(s in text for s in says), (file, text)
        assert "nothing was found" not in text, file
    page = open(name + ".html").read()
    assert json.dumps(silence["sentence"])[1:-1] in page or silence["sentence"] in page, name
    return a
def reasons(a): return {a["objects"][r["object"]]["name"]: r for r in a["left_alone"]}
def top(a): # the hottest data object has a reason
    first = a["left_alone"][0]
    assert first["object"] == 0, a["left_alone"]
    return first
a = check("compute", "nothing_to_gain", "nothing_stalled", "so no layout can make it more than")
assert not any("--detect" in n and "not possible" in n for n in a["run"]["notes"]), a["run"]["notes"]
a = check("search", "not_measured", "search_length", "% of the time goes to a search from one element to the next, at work.cc:")
a = check("together", "left_alone", "left_alone", "together")
assert top(a)["code"] == "used_together" and "4 fields" in top(a)["sentence"], top(a)
a = json.load(open("nodes/analysis.json")) # a pool would bring them together, but that was not run
assert "16 bytes lie 32 bytes apart" in top(a)["sentence"] and "from a pool" in top(a)["sentence"], a["left_alone"]
low, high = top(a)["expected_speedup"]
assert low <= top(a)["speedup"] <= high and "%.2fx as fast (%.2fx to %.2fx)" % (top(a)["speedup"], low, high) in top(a)["sentence"], top(a)
a = check("order", "left_alone", "left_alone", "sequentially") if json.load(open("order/analysis.json"))["run"]["stall_share"] >= 0.02 else None
assert not a or top(a)["code"] == "sequential", top(a)
a = json.load(open("map/analysis.json")) # the type is the library's: advice that says so, or a reason, or only where its nodes lie can be changed
advised = [s["caution"] for s in a["splits"] if 0 in s["objects"]]
says = {"library_type": "std::", "gain_below_threshold": "from a pool"}.get(top(a)["code"] if not advised else None)
assert all(c and "not yours to change" in c for c in advised) and (advised or says and says in top(a)["sentence"]), a["left_alone"]
a = json.load(open("lost/analysis.json"))
assert top(a)["code"] == "unknown_data" and "no block whose allocation was recorded" in top(a)["sentence"], a["left_alone"]
assert "by the code" in top(a)["sentence"] and top(a)["sentence"].endswith("memory stall on four"), a["left_alone"]
a = check("unknown", "not_measured", "no_addresses", "-e exact")
assert a["run"]["stall_share"] is None and a["coverage"]["of"] == "time" and a["coverage"]["share"] < 0.5, (a["run"]["stall_share"], a["coverage"])
assert "of it memory stall" not in open("unknown.txt").read().split("No advice")[0]
a = check("windows", "not_measured", "windows_missed", "--window all", "dynamic loader")
assert a["coverage"]["of"] == "instructions" and a["coverage"]["share"] < 0.01, a["coverage"]
a = json.load(open("part/analysis.json"))
recorded = re.search(r"Windows recorded ([\d.]+) %", flat(open("part.txt").read()))
assert recorded and abs(float(recorded[1]) / 100 - a["coverage"]["share"]) < 0.001, (recorded, a["coverage"])
assert 0.03 < a["coverage"]["share"] < 0.08, a["coverage"] # 20000 of 20000 and a gap of 400000 in the mean
assert a["findings"] or "windows recorded" in a["silence"]["sentence"], a["silence"]
P
