/* Loop nesting on abstract graphs against two naive definitions, and on compiled programs against the source. */
#include "amount.h"
#include "analysis/program/binary/module.h"
#include "analysis/program/code.h"
#include "analysis/program/flow/loops.h"
#include "programs.h"

enum { NODES = 24 };

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % limit;
}

struct random_graph {
    uint32_t count, first[NODES + 1], targets[NODES * NODES];
    bool edge[NODES][NODES];
};

static void graph_pack(struct random_graph *graph)
{
    uint32_t edges = 0;
    for (uint32_t a = 0; a < graph->count; a++) {
        graph->first[a] = edges;
        for (uint32_t b = 0; b < graph->count; b++)
            if (graph->edge[a][b])
                graph->targets[edges++] = b;
    }
    graph->first[graph->count] = edges;
}

static void graph_reach(const struct random_graph *graph, uint32_t from, const bool *inside, bool *seen)
{
    if (seen[from] || (inside && !inside[from]))
        return;
    seen[from] = true;
    for (uint32_t b = 0; b < graph->count; b++)
        if (graph->edge[from][b])
            graph_reach(graph, b, inside, seen);
}

static void graph_order(const struct random_graph *graph, uint32_t node, bool *seen, bool below[NODES][NODES])
{
    seen[node] = true;
    below[node][node] = true;
    for (uint32_t b = 0; b < graph->count; b++)
        if (graph->edge[node][b] && !seen[b]) {
            graph_order(graph, b, seen, below);
            for (uint32_t x = 0; x < graph->count; x++)
                below[node][x] |= below[b][x];
        }
}

/* Havlak's definition word by word: the loop of h is what reaches h among h's descendants. */
static void naive_nest(const struct random_graph *graph, struct lwp_nest_node *nodes, bool loops[NODES][NODES])
{
    bool seen[NODES] = {0}, below[NODES][NODES] = {{0}};
    graph_order(graph, 0, seen, below);
    for (uint32_t h = 0; h < graph->count; h++) {
        nodes[h] = (struct lwp_nest_node){.outer = UINT32_MAX};
        for (uint32_t x = 0; x < graph->count; x++) {
            bool reached[NODES] = {0};
            loops[h][x] = false;
            if (!seen[h] || !below[h][x])
                continue;
            graph_reach(graph, x, below[h], reached);
            loops[h][x] = reached[h];
            nodes[h].is_header |= graph->edge[x][h];
        }
        if (!nodes[h].is_header)
            memset(loops[h], 0, sizeof loops[h]);
        for (uint32_t x = 0; x < graph->count && nodes[h].is_header; x++)
            for (uint32_t y = 0; y < graph->count; y++)
                if (seen[x] && graph->edge[x][y] && !loops[h][x] && loops[h][y] && y != h)
                    nodes[h].irreducible = true;
    }
    for (uint32_t x = 0; x < graph->count; x++)
        for (uint32_t h = 0; h < graph->count; h++) {
            uint32_t outer = nodes[x].outer;
            if (h != x && loops[h][x] && (outer == UINT32_MAX || below[outer][h]))
                nodes[x].outer = h;
        }
}

static void check_graph(const struct random_graph *graph, const struct lwp_nest_node *expected)
{
    struct lwp_nest_node found[NODES];
    struct lwp_graph view = {graph->count, graph->first, graph->targets};
    lwp_loops_find(&view, found);
    for (uint32_t n = 0; n < graph->count; n++) {
        assert_int_equal(found[n].is_header, expected[n].is_header);
        assert_int_equal(found[n].outer, expected[n].outer);
        assert_int_equal(found[n].irreducible, expected[n].irreducible);
    }
}

static void test_any_graph(void **state)
{
    (void)state;
    int headers = 0, irreducible = 0;
    random_state = 1;
    for (int round = 0; round < LONG_AMOUNT(20000, 2000); round++) {
        struct random_graph graph = {.count = 1 + random_below(round % 2 ? 8 : NODES)};
        uint32_t edges = random_below(graph.count * 3 + 1);
        for (uint32_t e = 0; e < edges; e++)
            graph.edge[random_below(graph.count)][random_below(graph.count)] = true;
        graph_pack(&graph);
        struct lwp_nest_node expected[NODES];
        bool loops[NODES][NODES];
        naive_nest(&graph, expected, loops);
        check_graph(&graph, expected);
        for (uint32_t n = 0; n < graph.count; n++) {
            headers += expected[n].is_header;
            irreducible += expected[n].irreducible;
        }
    }
    assert_true(headers > LONG_AMOUNT(10000, 1000) && irreducible > LONG_AMOUNT(1000, 100));
}

/* Natural loops: edges go back only to a dominator; the loop is what reaches the edge's source without its target. */
static void test_reducible_graph(void **state)
{
    (void)state;
    int nested = 0;
    random_state = 2;
    for (int round = 0; round < LONG_AMOUNT(5000, 500); round++) {
        struct random_graph graph = {.count = 2 + random_below(NODES - 2)};
        bool dominates[NODES][NODES], natural[NODES][NODES] = {{0}};
        for (uint32_t b = 1; b < graph.count; b++) {
            graph.edge[random_below(b)][b] = true;
            if (random_below(2))
                graph.edge[random_below(b)][b] = true;
        }
        for (uint32_t d = 0; d < graph.count; d++) {
            bool without[NODES] = {0}, inside[NODES];
            for (uint32_t x = 0; x < NODES; x++)
                inside[x] = x != d;
            graph_reach(&graph, 0, inside, without);
            for (uint32_t x = 0; x < graph.count; x++)
                dominates[d][x] = !without[x];
        }
        uint32_t back = random_below(60);
        for (uint32_t i = 0; i < back; i++) {
            uint32_t from = random_below(graph.count), to = random_below(graph.count);
            if (dominates[to][from])
                graph.edge[from][to] = true;
        }
        graph_pack(&graph);
        for (uint32_t h = 0; h < graph.count; h++)
            for (uint32_t s = 0; s < graph.count; s++) {
                if (!graph.edge[s][h] || !dominates[h][s])
                    continue;
                natural[h][h] = true;
                bool without_h[NODES];
                for (uint32_t x = 0; x < NODES; x++)
                    without_h[x] = x != h;
                for (uint32_t x = 0; x < graph.count; x++) {
                    bool reached[NODES] = {0};
                    graph_reach(&graph, x, without_h, reached);
                    natural[h][x] |= x != h && dominates[h][x] && reached[s];
                }
            }
        struct lwp_nest_node expected[NODES];
        for (uint32_t x = 0; x < graph.count; x++) {
            expected[x] = (struct lwp_nest_node){.outer = UINT32_MAX, .is_header = natural[x][x]};
            for (uint32_t h = 0; h < graph.count; h++)
                if (h != x && natural[h][x] && (expected[x].outer == UINT32_MAX || natural[expected[x].outer][h]))
                    expected[x].outer = h;
            nested += expected[x].is_header && expected[x].outer != UINT32_MAX;
        }
        check_graph(&graph, expected);
    }
    assert_true(nested > LONG_AMOUNT(500, 50));
}

/* A long chain of loops within loops must cost neither the stack nor minutes. */
static void test_large_graph(void **state)
{
    (void)state;
    enum { LARGE = AMOUNT(200000, 30000) };
    uint32_t *first = calloc(LARGE + 1, sizeof *first), *targets = calloc(LARGE * 2, sizeof *targets), edges = 0;
    struct lwp_nest_node *nodes = calloc(LARGE, sizeof *nodes);
    random_state = 3;
    for (uint32_t n = 0; n < LARGE; n++) {
        first[n] = edges;
        if (n + 1 < LARGE)
            targets[edges++] = n + 1;
        targets[edges++] = random_below(LARGE);
    }
    first[LARGE] = edges;
    struct lwp_graph graph = {LARGE, first, targets};
    lwp_loops_find(&graph, nodes);
    free(first);
    free(targets);
    free(nodes);
}

struct marked_loop {
    char name[32], function[32];
    uint32_t first, last;
    bool seen;
};

/* "loop NAME", "loop NAME in FUNCTION" and "end NAME" in the source. */
static size_t read_marks(struct marked_loop *marks, size_t room)
{
    char path[1024], line[512], name[32], function[32];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/tests/programs/loops.c", LWP_SOURCE);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (uint32_t number = 1; fgets(line, sizeof line, file); number++) {
        const char *comment = strstr(line, "/* ");
        if (!comment || !strstr(comment, "*/"))
            continue;
        if (sscanf(comment, "/* loop %31s", name) == 1 && count < room) {
            struct marked_loop *mark = &marks[count++];
            *mark = (struct marked_loop){.first = number};
            snprintf(mark->name, sizeof mark->name, "%s", name);
            if (sscanf(comment, "/* loop %*s in %31s", function) == 1)
                snprintf(mark->function, sizeof mark->function, "%s", function);
        }
        for (const char *end = comment; (end = strstr(end, "end ")); end += 4)
            for (size_t i = 0; i < count; i++)
                if (sscanf(end, "end %31s", name) == 1 && !strcmp(marks[i].name, name))
                    marks[i].last = number;
    }
    fclose(file);
    return count;
}

static struct lwp_code *load(const char *path, struct lwp_arena *arena)
{
    static const char *const functions[] = {"triad", "nest", "interpret", "both", "no_loop", "list_sum"};
    struct lwp_code *code = lwp_code_new(arena);
    assert_int_equal(lwp_code_module(code, path, NULL, 0), 0);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        uint64_t address = programs_symbol(path, functions[i]);
        if (address)
            lwp_code_symbolize(code, 0, address);
    }
    return code;
}

static uint32_t distance(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* Each machine loop is one of the marked loops, and each marked loop is there. Optimised code may lose a line at
 * either end, no more. */
static void check_program(const char *compiler, const char *flags, uint32_t slack)
{
    char path[256];
    struct marked_loop marks[16];
    if (!programs_build(compiler, flags, "loops.c", path, sizeof path))
        return;
    size_t count = read_marks(marks, 16);
    assert_int_equal(count, 7);
    struct lwp_arena *arena = lwp_arena_new();
    struct lwp_code *code = load(path, arena);
    for (uint32_t l = 0; l < code->loop_count; l++) {
        const struct lwp_loop *loop = lwp_code_loop(code, l);
        struct marked_loop *mark = NULL;
        for (size_t i = 0; i < count; i++)
            if (distance(marks[i].first, loop->first_line) <= slack &&
                distance(marks[i].last, loop->last_line) <= slack)
                mark = &marks[i];
        if (!mark)
            fail_msg("%s %s: loop at %s %u-%u is none of the source", compiler, flags, loop->function, loop->first_line,
                     loop->last_line);
        mark->seen = true;
        if (*mark->function)
            assert_string_equal(loop->function, mark->function);
        assert_non_null(strstr(loop->file, "loops.c"));
        const struct lwp_loop *parent = lwp_code_loop(code, loop->parent);
        assert_int_equal(loop->depth, parent ? parent->depth + 1 : 1);
        bool inside = !strcmp(mark->name, "first") || !strcmp(mark->name, "second") || !strcmp(mark->name, "third");
        if (!strstr(flags, "unroll") && !strstr(flags, "znver")) /* which make further machine loops of the outer one */
            assert_int_equal(parent != NULL, inside);
        /* Copies of one source loop have one id and the same lines. */
        const struct lwp_loop *source = lwp_code_loop(code, lwp_code_source_loop(code, l));
        assert_int_equal(source->first_line, loop->first_line);
        assert_int_equal(source->last_line, loop->last_line);
    }
    for (size_t i = 0; i < count; i++)
        if (!marks[i].seen)
            fail_msg("%s %s: loop '%s' was not found", compiler, flags, marks[i].name);
    lwp_code_free(code);
    lwp_arena_free(arena);
}

static void test_source_loops(void **state)
{
    (void)state;
    static const char *const compilers[] = {"gcc", "clang"};
    static const char *const flags[] = {
        "-g -O0", "-g -O1", "-g -O2", "-g -O3 -march=skylake-avx512", "-g -O3 -march=znver3", "-g -O3 -mavx2 -funroll-loops -fno-pie -no-pie", "-gdwarf-4 -O2",
    };
    for (size_t i = 0; i < 2; i++)
        for (size_t f = 0; f < sizeof flags / sizeof *flags; f += LONG_AMOUNT(1, 2))
            check_program(compilers[i], flags[f], f ? 1 : (uint32_t)i); /* at -O0 clang counts the closing brace in, gcc nothing */
}

/* tests/programs/inlined.c: each loop has the lines of the function that it was written in, and the call that inlined it. */
static void check_inlined(const char *compiler, const char *flags)
{
    static const struct {
        const char *in, *function;
        uint32_t first, last;
        uint32_t calls[2]; /* lines in the function above */
    } loops[] = {{"tour", "nearest", 21, 26, {45, 46}},
                 {"tour", "around", 36, 38, {44, 47}},
                 {"nests", "nests", 57, 59, {0, 0}},
                 {"nests", "nests", 60, 62, {0, 0}},
                 {"passes", "scale", 67, 69, {76, 76}}};
    enum { LOOPS = sizeof loops / sizeof *loops };
    char path[256];
    if (!programs_build(compiler, flags, "inlined.c -lm", path, sizeof path))
        return;
    struct lwp_arena *arena = lwp_arena_new();
    struct lwp_code *code = lwp_code_new(arena);
    bool seen[LOOPS][2] = {{false}}, outer = false; /* that of scale() */
    assert_int_equal(lwp_code_module(code, path, NULL, 0), 0);
    lwp_code_symbolize(code, 0, programs_symbol(path, "tour"));
    lwp_code_symbolize(code, 0, programs_symbol(path, "nests"));
    lwp_code_symbolize(code, 0, programs_symbol(path, "passes"));
    for (uint32_t l = 0; l < code->loop_count; l++) {
        const struct lwp_loop *loop = lwp_code_loop(code, l);
        bool found = (loop->first_line >= 55 && loop->last_line <= 56) || strcmp(loop->function, "passes") == 0;
        for (size_t i = 0; i < LOOPS; i++) {
            if (strcmp(loop->function, loops[i].function) != 0 || loop->first_line < loops[i].first || loop->last_line > loops[i].last)
                continue;
            found = true;
            outer = outer || (strcmp(loop->function, "scale") == 0 && loop->first_line == loops[i].first);
            assert_int_equal(loop->call_count, strcmp(loops[i].in, loops[i].function) != 0);
            if (!loop->call_count)
                seen[i][0] = seen[i][1] = true;
            else {
                assert_string_equal(loop->calls[0].function, loops[i].in);
                assert_true(loop->calls[0].line == loops[i].calls[0] || loop->calls[0].line == loops[i].calls[1]);
                seen[i][0] = seen[i][0] || loop->calls[0].line == loops[i].calls[0];
                seen[i][1] = seen[i][1] || loop->calls[0].line == loops[i].calls[1];
            }
        }
        if (!found)
            fail_msg("%s %s: loop %s %u-%u is none of the source", compiler, flags, loop->function, loop->first_line, loop->last_line);
    }
    for (size_t i = 0; i < LOOPS; i++)
        if (!seen[i][0] || !seen[i][1])
            fail_msg("%s %s: a loop of %s was not found", compiler, flags, loops[i].function);
    if (!outer)
        fail_msg("%s %s: the outer loop of scale() is taken for another function's", compiler, flags);
    lwp_code_free(code);
    lwp_arena_free(arena);
}

static void test_inlined_loops(void **state)
{
    (void)state;
    check_inlined("gcc", "-g -O2 -finline-functions");
    check_inlined("gcc", "-g -O3");
    check_inlined("clang", "-g -O2");
    check_inlined("clang", "-g -O3");
}

/* clang makes a vector loop and a remainder out of `triad`: two machine loops, one source loop. */
static void test_vector_and_remainder(void **state)
{
    (void)state;
    char path[256];
    if (!programs_build("clang", "-g -O3 -mavx2", "loops.c", path, sizeof path))
        skip();
    struct lwp_arena *arena = lwp_arena_new();
    struct lwp_code *code = lwp_code_new(arena);
    lwp_code_module(code, path, NULL, 0);
    lwp_code_symbolize(code, 0, programs_symbol(path, "triad"));
    assert_true(code->loop_count >= 2);
    for (uint32_t l = 0; l < code->loop_count; l++)
        assert_int_equal(lwp_code_source_loop(code, l), lwp_code_source_loop(code, 0));
    lwp_code_free(code);
    lwp_arena_free(arena);
}

/* Without debug info: the same machine loops, but no lines. */
static void test_stripped(void **state)
{
    (void)state;
    char path[256], stripped[300];
    if (!programs_build("gcc", "-g -O2", "loops.c", path, sizeof path))
        skip();
    uint64_t nest = programs_symbol(path, "nest");
    snprintf(stripped, sizeof stripped, "%s.stripped", path);
    assert_true(programs_run("strip -o %s %s", stripped, path));
    struct lwp_arena *arena = lwp_arena_new();
    struct lwp_code *with = lwp_code_new(arena), *code = lwp_code_new(arena);
    lwp_code_symbolize(with, lwp_code_module(with, path, NULL, 0), nest);
    uint32_t module = lwp_code_module(code, stripped, NULL, 0);
    const struct lwp_symbolized *location = lwp_code_symbolize(code, module, nest);
    assert_int_equal(location->function_low, nest); /* from .eh_frame */
    assert_null(location->frames[0].function);
    assert_true(code->loop_count >= 4);
    assert_int_equal(code->loop_count, with->loop_count);
    for (uint32_t l = 0; l < code->loop_count; l++) {
        assert_int_equal(lwp_code_loop(code, l)->header, lwp_code_loop(with, l)->header);
        assert_int_equal(lwp_code_loop(code, l)->depth, lwp_code_loop(with, l)->depth);
        assert_int_equal(lwp_code_loop(code, l)->first_line, 0);
        assert_int_equal(lwp_code_source_loop(code, l), l);
    }
    lwp_code_free(with);
    lwp_code_free(code);
    lwp_arena_free(arena);
}

/* p[j].x and p[j].y go through the same register: 8 bytes apart, in one loop. p[j].w is in another. */
static void test_siblings(void **state)
{
    (void)state;
    static const char *const compilers[] = {"gcc", "clang"};
    for (size_t c = 0; c < 2; c++) {
        char path[256];
        if (!programs_build(compilers[c], "-g -O2 -fno-unroll-loops", "loops.c", path, sizeof path))
            continue;
        struct lwp_arena *arena = lwp_arena_new();
        struct lwp_code *code = lwp_code_new(arena);
        lwp_code_module(code, path, NULL, 0);
        uint64_t low = programs_symbol(path, "nest");
        const struct lwp_symbolized *function = lwp_code_symbolize(code, 0, low);
        int pairs = 0;
        for (uint64_t at = low; at < function->function_high; at++) {
            struct lwp_sibling siblings[8];
            const struct lwp_symbolized *location = lwp_code_symbolize(code, 0, at);
            if (location->loop == LWP_NONE || location->frames[0].line == 0)
                continue;
            size_t count = lwp_code_siblings(code, 0, at, siblings, 8);
            for (size_t i = 0; i < count && i < 8; i++) {
                assert_int_equal(siblings[i].loop, location->loop);
                assert_int_equal(siblings[i].bytes, 8);
                assert_true(siblings[i].load && !siblings[i].store);
                if (siblings[i].address == at)
                    assert_int_equal(siblings[i].delta, 0);
                else
                    assert_int_equal(llabs(siblings[i].delta), 8);
                pairs += siblings[i].address != at;
            }
        }
        assert_int_equal(pairs, 2); /* x sees y, y sees x */
        lwp_code_free(code);
        lwp_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_graph),
        cmocka_unit_test(test_reducible_graph),
        cmocka_unit_test(test_large_graph),
        cmocka_unit_test(test_source_loops),
        cmocka_unit_test(test_inlined_loops),
        cmocka_unit_test(test_vector_and_remainder),
        cmocka_unit_test(test_stripped),
        cmocka_unit_test(test_siblings),
    };
    return cmocka_run_group_tests(tests, programs_set_up, programs_tear_down);
}
