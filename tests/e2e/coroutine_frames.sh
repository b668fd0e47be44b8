#!/bin/bash
# The frame of a coroutine is called after its function, and is not advised to be changed: the compiler lays it out.
set -u
. "$SRC/tests/sampled.sh"
fail() { echo "FAILED: $*"; exit 1; }
cd "$TMP" || exit 1
cat > frames.cc <<'C'
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <vector>
struct sequence {
    struct promise_type {
        long value;
        sequence get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(long next) { value = next; return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};
static sequence numbers(long from, long step)
{
    long seen[8] = {from};
    for (;;) {
        seen[0] += step;
        co_yield seen[0];
    }
}
int main(int argc, char **argv)
{
    std::vector<sequence> all;
    double sum = 0;
    for (long i = 0; i < 200000; i++)
        all.push_back(numbers(i, i));
    for (long times = atol(argv[argc - 1]); times > 0; times--)
        for (auto &one : all) {
            one.handle.resume();
            sum += one.handle.promise().value;
        }
    return printf("%g\n", sum) < 0;
}
C
${CXX:-g++} -std=c++20 -O2 -g -o frames frames.cc 2> errors || { echo "no coroutines: $(head -n 1 errors)"; exit 77; }
collect_samples 150 frames.r 30 -F 997 --max-overhead 50 -- ./frames @ || fail "collect"
"$LWP" analyze -q -f --no-measure frames.r || fail "analyze"
/usr/bin/python3 - << 'PY' || exit 1
import json, sys
analysis = json.load(open("frames.r/analysis.json"))
frames = [o for o in analysis["objects"] if str(o["type"]) in ("frame of numbers(long, long)", "__coro_frame_ty")]
if not frames:
    sys.exit(f"FAILED: {[(o['name'], o['type']) for o in analysis['objects']]}")
wrong = [f["title"] for f in analysis["findings"] if f["id"].startswith(("split", "reorder", "pool"))]
if wrong:
    sys.exit(f"FAILED: {wrong}")
PY
