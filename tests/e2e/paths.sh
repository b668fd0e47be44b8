#!/usr/bin/env bash
# What several wrappers merge is distinguished: each array has the name of the function that makes it, however many wrappers are
# between it and malloc, whether they have frame pointers, are in a shared library, allocate on the stack or recurse. Every path
# recorded is one that a control finds that unwinds at every allocation.
set -euo pipefail
. "$SRC/tests/sampled.sh"
cd "$TMP"

cat > wrappers.c << 'END'
#include "wrappers.h"
#include <alloca.h>
#include <stdlib.h>
#include <string.h>
#define WRAPPER(name, inner) void *name(size_t n) { void *p = inner(n); BARRIER; return p; }
WRAPPER(w1, malloc) WRAPPER(w2, w1) WRAPPER(w3, w2) WRAPPER(w4, w3) WRAPPER(w5, w4) WRAPPER(w6, w5)
/* of a frame whose size is computed: its caller is not known */
void *on_stack(size_t n) { char *room = (char *)alloca(n % 512 + 32); memset(room, 1, 32); void *p = w2(n + (size_t)room[3] - 1); BARRIER; return p; }
/* of any depth */
void *recursive(size_t n, int depth) { void *p = depth ? recursive(n, depth - 1) : w1(n); BARRIER; return p; }
END
cat > wrappers.h << 'END'
#include <stddef.h>
#define BARRIER __asm__ volatile("" ::: "memory")
void *w1(size_t), *w2(size_t), *w3(size_t), *w4(size_t), *w5(size_t), *w6(size_t), *on_stack(size_t), *recursive(size_t, int);
END
cat > program.c << 'END'
#include "wrappers.h"
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
struct node { struct node *next; long value[5]; };
#define MAKERS(kind, call) \
    struct node *kind##_a(size_t n) { struct node *p = (struct node *)call; BARRIER; return p; } \
    struct node *kind##_b(size_t n) { struct node *p = (struct node *)call; BARRIER; return p; } \
    struct node *kind##_c(size_t n) { struct node *p = (struct node *)call; BARRIER; return p; }
MAKERS(one, w1(n)) MAKERS(two, w2(n)) MAKERS(three, w3(n)) MAKERS(four, w4(n)) MAKERS(five, w5(n)) MAKERS(six, w6(n))
MAKERS(stack, on_stack(n)) MAKERS(deep, recursive(n, (int)(n / 16 % 7)))
static struct node *(*const makers[])(size_t) = {one_a, one_b, one_c, two_a, two_b, two_c, three_a, three_b, three_c, four_a,
    four_b, four_c, five_a, five_b, five_c, six_a, six_b, six_c, stack_a, stack_b, stack_c, deep_a, deep_b, deep_c};
enum { MAKERS_ALL = sizeof makers / sizeof *makers };
static void *work(void *of)
{
    uint64_t random = (uintptr_t)of + 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        struct node *kept[4];
        for (int k = 0; k < 4; k++)
            kept[k] = makers[(random >> 8 * k & 0xff) % MAKERS_ALL](sizeof(struct node) + (random >> 40 & 3) * 16);
        for (int k = 0; k < 4; k++)
            free(kept[k]);
    }
    for (int m = 0; m < MAKERS_ALL; m++)
        free(makers[m](300000));
    return NULL;
}
int main(void)
{
    pthread_t thread;
    work(NULL);
    pthread_create(&thread, NULL, work, &thread);
    pthread_join(thread, NULL);
    return 0;
}
END

$CC -O1 -g -shared -fPIC -o control.so "$SRC/tests/programs/paths_control.c" -lunwind -ldl -pthread
# LEAST: of all allocations; what the budget of a run this short leaves out is not known, and what else the machine does may spend it at
# once: up to three runs.
against_control() { # LEAST PROGRAM ARGUMENT...
    local least=$1 name status try checked
    shift
    name=$(basename "$1")
    for try in 1 2 3; do
        status=0 checked=0
        rm -rf result control.[0-9]*
        LD_PRELOAD=$PWD/control.so PATHS_CONTROL=$PWD/control "$LWP" collect --no-analyze --max-overhead 60 -o result "$@" \
            > "$name.out" 2> "$name.err" || { cat "$name.err"; return 1; }
        for process in result/p*; do
            [ -e "control.${process#result/p}" ] || continue # a shell leaves none
            checked=$((checked + 1))
            "$LWP" dump "$process/process.lwps" > dump
            python3 "$SRC/tests/truth/paths_check.py" dump "control.${process#result/p}" "$least" || status=$?
            [ "$status" != 1 ] || break 2
        done
        [ "$status" != 0 ] || [ "$checked" = 0 ] || return 0
    done
    echo "  of $name, run $try"
    return 1
}

build() { # NAME COMPILER OPTION...
    local name=$1 compiler=$2
    shift 2
    # shellcheck disable=SC2086
    $compiler -g "$@" -shared -fPIC -o "lib$name.so" wrappers.c
    # shellcheck disable=SC2086
    $compiler -g "$@" -pthread -o "$name" program.c "./lib$name.so"
    # shellcheck disable=SC2086
    $compiler -g "$@" -pthread -o "$name-alone" program.c wrappers.c
}
flags=("-O2")
[ -z "${LONG:-}" ] || flags+=("-O0" "-O2 -fno-omit-frame-pointer" "-O3 -march=x86-64-v3")
for options in "${flags[@]}"; do
    # shellcheck disable=SC2086
    build "c${options//[ =]/}" "$CC" $options
    against_control 0.1 "./c${options//[ =]/}"
    against_control 0.1 "./c${options//[ =]/}-alone"
done
build cxx "${CXX:-g++}" -O2
against_control 0.1 ./cxx
against_control 0.1 sh -c "./cxx; true" # what was allocated before lwp was set up in it, too
if command -v sqlite3 > /dev/null; then # so short that a slow moment of the machine leaves out all but 1 %
    against_control 0.005 sqlite3 :memory: "create table t(a integer primary key, b text);
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) insert into t select i, 'row' || i from n;
        create index tb on t(b); select count(*) from t where b like '%7%'; delete from t where a % 3 = 0; vacuum;"
fi

# The arrays of one size, from three functions.
cat > depth.c << 'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { N = 1 << 18 };
#define NI __attribute__((noinline))
#define BARRIER __asm__ volatile("" ::: "memory")
#define WRAPPER(name, inner) NI void *name(size_t n) { void *p = inner(n); BARRIER; return p; }
WRAPPER(w1, malloc) WRAPPER(w2, w1) WRAPPER(w3, w2) WRAPPER(w4, w3) WRAPPER(w5, w4) WRAPPER(w6, w5)
#define MAKER(name) NI long *name(void) { void *p = W(N * 8); BARRIER; return p; }
MAKER(temperature_new) MAKER(pressure_new) MAKER(salinity_new)
NI long gather(const long *p, long k) { long s = 0; for (long i = 0; i < N; i++) s += p[(i * k) & (N - 1)]; return s; }
int main(int c, char **v)
{
    long *t = temperature_new(), *p = pressure_new(), *q = salinity_new(), s = 0;
    memset(t, 1, N * 8), memset(p, 1, N * 8), memset(q, 1, N * 8);
    for (int r = 0; r < atoi(v[c - 1]); r++)
        s += gather(t, 4099) + gather(p, 4099) + gather(q, 4099);
    printf("%ld\n", s);
    return 0;
}
END
# distinguished DEPTH: what the result "depths" says of them.
distinguished() {
    "$LWP" report --json depths > depths.json
    python3 - "$1" << 'END'
import json, sys
result, depth = json.load(open("depths.json")), int(sys.argv[1])
things = [thing for thing in result["objects"] if thing["kind"] == "heap" and thing["bytes"] == 8 << 18]
made = sorted(tuple(frame["function"] for frame in result["contexts"][thing["context"]]["frames"])[:depth + 2] for thing in things)
wrappers = tuple(f"w{i + 1}" for i in range(depth))
if made != sorted(wrappers + (maker, "main") for maker in ("temperature_new", "pressure_new", "salinity_new")):
    sys.exit(f"behind {depth} wrappers: {made}")
if any(thing["allocations"] != 1 for thing in things):
    sys.exit("several arrays are one object")
END
}
for depth in 1 ${LONG:+2 3 4 5} 6; do
    $CC -O2 -g -DW="w$depth" -o "depth$depth" depth.c
    collect_samples 60 depths 60 -- "./depth$depth" @
    distinguished "$depth" || exit 1
    [ "$depth" = 6 ] || [ -n "${LONG:-}" ] || continue
    # enough rounds for windows of 20,000 of 2,000,000 instructions to meet each array
    "$LWP" collect -q -e exact --force -o depths -- "./depth$depth" 8 > exact.out || exit 1
    distinguished "$depth" || { echo "(exact engine)"; exit 1; }
done
