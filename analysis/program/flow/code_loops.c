/* Loops of the profiled program: decodes a function when first asked about it (cfg.c), nests its loops (loops.c),
 * finds their source (loop_lines.c) and sees which machine loops are one source loop: the compiler makes a vector
 * loop, its remainder, unswitched and peeled copies out of one. Those get the same lines. Work is bounded: functions
 * above some megabytes and loops nested absurdly deep are left without. */
#include "analysis/program/flow/code_loops.h"

#include "analysis/program/flow/cfg.h"
#include "analysis/program/flow/loops.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

enum { FLOW_DEPTH_LIMIT = 32, FLOW_MEMBER_LIMIT = 4 * 1000 * 1000, FLOW_LINE_SLACK = 3, FLOW_PAIR_LIMIT = 3000 };

static void flow_function_free(struct flow_function *function)
{
    if (!function)
        return;
    free(function->blocks);
    free(function->edge_first);
    free(function->edges);
    free(function);
}

uint32_t code_loop_order(const struct lwp_code *code, const struct flow_function *function, uint32_t loop, uint32_t header, uint32_t *order,
                         uint32_t *position)
{
    const uint32_t all = function->block_count;
    uint32_t *stack = lwp_zeroed(all, sizeof *stack), *next = lwp_zeroed(all, sizeof *next), depth = 0, at = all;
    memset(position, 0xff, all * sizeof *position);
    stack[depth++] = header;
    next[header] = function->edge_first[header];
    position[header] = 0; /* seen */
    while (depth) {
        uint32_t block = stack[depth - 1];
        if (next[block] == function->edge_first[block + 1]) {
            order[--at] = block;
            depth--;
            continue;
        }
        uint32_t to = function->edges[next[block]++];
        if (position[to] != LWP_NONE || !code_loop_holds(code, loop, function->blocks[to].loop))
            continue;
        position[to] = 0;
        next[to] = function->edge_first[to];
        stack[depth++] = to;
    }
    memmove(order, order + at, (all - at) * sizeof *order);
    for (uint32_t i = 0; i < all - at; i++)
        position[order[i]] = i;
    free(stack);
    free(next);
    return all - at;
}

void code_flow_free(struct code_kept *functions)
{
    for (size_t i = 0; i < functions->count; i++)
        flow_function_free(functions->items[i]);
    code_kept_free(functions);
}

/* The loops of one function while they are worked out. */
struct flow_loop {
    uint64_t depth, header; /* sorted by these; the header is a block */
    uint32_t parent;        /* index of a flow_loop or LWP_NONE */
    struct loop_lines lines;
    uint32_t source; /* index of the loop that stands for all of this source loop */
};

struct flow_work {
    struct code_module *module;
    struct code_range range;
    struct cfg cfg;
    struct lwp_nest_node *nest;
    uint32_t *loop_of; /* header block -> flow_loop */
    struct flow_loop *loops;
    uint32_t loop_count;
};

static uint32_t flow_depth(const struct flow_work *work, uint32_t header)
{
    uint32_t depth = 0;
    for (; header != LWP_NONE && depth <= FLOW_DEPTH_LIMIT; header = work->nest[header].outer)
        depth++;
    return depth;
}

/* Lists the loops, outer ones first. */
static void flow_list(struct flow_work *work)
{
    size_t capacity = 0;
    for (uint32_t b = 0; b < work->cfg.block_count; b++) {
        work->loop_of[b] = LWP_NONE;
        uint32_t depth = work->nest[b].is_header ? flow_depth(work, b) : 0;
        if (!depth || depth > FLOW_DEPTH_LIMIT)
            continue;
        LWP_GROW(&work->loops, work->loop_count, &capacity);
        work->loops[work->loop_count++] = (struct flow_loop){.header = b, .parent = LWP_NONE, .depth = depth};
    }
    LWP_SORT(work->loops, work->loop_count, lwp_by_first_two);
    for (uint32_t l = 0; l < work->loop_count; l++) {
        struct flow_loop *loop = &work->loops[l];
        uint32_t outer = work->nest[loop->header].outer;
        work->loop_of[loop->header] = l;
        loop->parent = outer == LWP_NONE ? LWP_NONE : work->loop_of[outer];
        loop->source = l;
    }
}

/* The innermost listed loop of a block. */
static uint32_t flow_loop_of(const struct flow_work *work, uint32_t block)
{
    uint32_t header = work->nest[block].is_header ? block : work->nest[block].outer;
    for (int guard = 0; header != LWP_NONE && work->loop_of[header] == LWP_NONE && guard < 1000; guard++)
        header = work->nest[header].outer;
    return header == LWP_NONE ? LWP_NONE : work->loop_of[header];
}

static void flow_find_lines(struct flow_work *work)
{
    struct loop_source *source = loop_source_new(work->module, work->range, &work->cfg);
    uint32_t *first = lwp_zeroed((size_t)work->loop_count + 2, sizeof *first), *members = NULL;
    for (uint32_t b = 0; b < work->cfg.block_count; b++)
        for (uint32_t l = flow_loop_of(work, b); l != LWP_NONE; l = work->loops[l].parent)
            first[l + 2]++;
    for (uint32_t l = 0; l < work->loop_count; l++)
        first[l + 2] += first[l + 1];
    if (first[work->loop_count + 1] > FLOW_MEMBER_LIMIT) /* loops without lines, rather than minutes */
        goto out;
    members = lwp_zeroed(first[work->loop_count + 1], sizeof *members);
    for (uint32_t b = 0; b < work->cfg.block_count; b++)
        for (uint32_t l = flow_loop_of(work, b); l != LWP_NONE; l = work->loops[l].parent)
            members[first[l + 1]++] = b;
    for (uint32_t l = 0; l < work->loop_count; l++) {
        struct loop_blocks blocks = {members + first[l], first[l + 1] - first[l], (uint32_t)work->loops[l].header};
        work->loops[l].lines = loop_lines_of(source, &blocks);
    }
out:
    free(members);
    free(first);
    loop_source_free(source);
}

static bool flow_encloses(const struct flow_work *work, uint32_t outer, uint32_t inner)
{
    while (inner != LWP_NONE && inner > outer) /* outer loops come first */
        inner = work->loops[inner].parent;
    return inner == outer;
}

static bool flow_same_code(const struct loop_lines *a, const struct loop_lines *b)
{
    return a->file && a->file == b->file && a->first_line && b->first_line && a->origin == b->origin && a->function == b->function;
}

static uint32_t flow_root(struct flow_work *work, uint32_t loop)
{
    while (work->loops[loop].source != loop)
        loop = work->loops[loop].source;
    return loop;
}

/* Is `a` a copy of `b` in which parts are left out (unswitched on a condition under which loops in it do not run)? */
static bool flow_same_latch(const struct flow_work *work, uint32_t a, uint32_t b)
{
    const struct loop_lines *x = &work->loops[a].lines, *y = &work->loops[b].lines;
    return work->loops[a].depth == work->loops[b].depth && x->first_line == y->first_line && x->latch_column &&
           x->latch_line == y->latch_line && x->latch_column == y->latch_column;
}

/* Are the lines of `b` those of `a` or a little more? Not when the loop around `a` already has that few. */
static bool flow_same_lines(const struct flow_work *work, uint32_t a, uint32_t b)
{
    const struct loop_lines *x = &work->loops[a].lines, *y = &work->loops[b].lines;
    if (!flow_same_code(x, y) || y->first_line > x->first_line || y->last_line < x->last_line)
        return false;
    if (flow_same_latch(work, a, b))
        return true;
    if (x->first_line - y->first_line > FLOW_LINE_SLACK || y->last_line - x->last_line > FLOW_LINE_SLACK)
        return false;
    bool equal = y->first_line == x->first_line && y->last_line == x->last_line;
    uint32_t parent = work->loops[a].parent;
    const struct loop_lines *around = parent == LWP_NONE ? NULL : &work->loops[parent].lines;
    return equal || !around || !flow_same_code(around, y) || around->last_line - around->first_line > y->last_line - y->first_line;
}

/* Joins machine loops of one source loop: each with the one beside it that has the same lines or the fewest more. */
static void flow_join(struct flow_work *work)
{
    if (work->loop_count > FLOW_PAIR_LIMIT)
        return;
    for (uint32_t a = 0; a < work->loop_count; a++) {
        uint32_t best = LWP_NONE, best_lines = UINT32_MAX;
        for (uint32_t b = 0; b < work->loop_count; b++) {
            if (a == b || flow_encloses(work, a, b) || flow_encloses(work, b, a) || !flow_same_lines(work, a, b))
                continue;
            uint32_t lines = work->loops[b].lines.last_line - work->loops[b].lines.first_line;
            if (lines < best_lines) {
                best = b;
                best_lines = lines;
            }
        }
        if (best == LWP_NONE)
            continue;
        uint32_t x = flow_root(work, a), y = flow_root(work, best);
        work->loops[x > y ? x : y].source = x < y ? x : y;
    }
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t a = 0; a < work->loop_count; a++) {
            struct loop_lines *own = &work->loops[a].lines, *all = &work->loops[flow_root(work, a)].lines;
            struct loop_lines *to = pass ? own : all, *from = pass ? all : own;
            if (from->first_line < to->first_line)
                to->first_line = from->first_line;
            if (from->last_line > to->last_line)
                to->last_line = from->last_line;
        }
}

static void flow_publish(struct flow_work *work, struct flow_function *function)
{
    struct lwp_code *code = work->module->code;
    uint32_t base = (uint32_t)code->loop_count;
    struct code_range range;
    const char *symbol = NULL;
    code_function_at(work->module, work->range.low, &range, &symbol);
    for (uint32_t l = 0; l < work->loop_count; l++) {
        const struct flow_loop *loop = &work->loops[l];
        LWP_GROW(&code->loops, code->loop_count, &code->loop_capacity);
        struct lwp_loop *made = lwp_arena_alloc(code->arena, 1, sizeof *made);
        *made = (struct lwp_loop){
            .module = work->module->index,
            .parent = loop->parent == LWP_NONE ? LWP_NONE : base + loop->parent,
            .depth = (uint32_t)loop->depth,
            .source = base + flow_root(work, l),
            .header = work->cfg.blocks[loop->header].start,
            .function = loop->lines.function ? loop->lines.function
                        : symbol             ? code_demangle(code, symbol)
                                             : NULL,
            .file = loop->lines.file,
            .first_line = loop->lines.first_line,
            .last_line = loop->lines.last_line,
            .calls = loop->lines.calls,
            .call_count = loop->lines.call_count,
        };
        code->loops[code->loop_count++] = made;
    }
    for (uint32_t b = 0; b < function->block_count; b++) {
        uint32_t loop = flow_loop_of(work, b);
        function->blocks[b].loop = loop == LWP_NONE ? LWP_NONE : base + loop;
        function->blocks[b].header = loop == LWP_NONE ? LWP_NONE : (uint32_t)work->loops[loop].header;
    }
}

static struct flow_function *flow_build(struct code_module *module, struct code_range range)
{
    struct flow_work work = {.module = module, .range = range};
    if (!cfg_build(module, range, &work.cfg)) {
        cfg_free(&work.cfg);
        return NULL;
    }
    uint32_t count = work.cfg.block_count;
    work.nest = lwp_zeroed(count, sizeof *work.nest);
    work.loop_of = lwp_zeroed(count, sizeof *work.loop_of);
    struct lwp_graph graph = {count, work.cfg.edge_first, work.cfg.edges};
    lwp_loops_find(&graph, work.nest);
    flow_list(&work);
    if (work.loop_count) {
        flow_find_lines(&work);
        flow_join(&work);
    }
    struct flow_function *function = lwp_zeroed(1, sizeof *function);
    function->range = range;
    function->blocks = lwp_zeroed(count, sizeof *function->blocks);
    function->block_count = count;
    for (uint32_t b = 0; b < count; b++)
        function->blocks[b] = (struct flow_block){.start = work.cfg.blocks[b].start, .end = work.cfg.blocks[b].end};
    flow_publish(&work, function);
    function->edge_first = work.cfg.edge_first;
    function->edges = work.cfg.edges;
    work.cfg.edge_first = work.cfg.edges = NULL;
    cfg_free(&work.cfg);
    free(work.nest);
    free(work.loop_of);
    free(work.loops);
    return function;
}

const struct flow_function *code_flow_at(struct code_module *module, uint64_t address)
{
    struct code_range range;
    const char *name;
    bool fresh;
    if (!code_function_at(module, address, &range, &name))
        return NULL;
    void **kept = code_kept_at(&module->functions, lwp_hash_mix(range.low, range.high), &fresh);
    if (fresh)
        *kept = flow_build(module, range);
    return *kept;
}

uint32_t code_flow_block(const struct flow_function *function, uint64_t address)
{
    size_t count = LWP_COUNT_UP_TO(function->blocks, function->block_count, start, address);
    return count && address < function->blocks[count - 1].end ? (uint32_t)count - 1 : LWP_NONE;
}

uint32_t code_loop_at(struct code_module *module, uint64_t address)
{
    const struct flow_function *function = code_flow_at(module, address);
    uint32_t block = function ? code_flow_block(function, address) : LWP_NONE;
    return block == LWP_NONE ? LWP_NONE : function->blocks[block].loop;
}

bool code_loop_holds(const struct lwp_code *code, uint32_t outer, uint32_t loop)
{
    while (loop != LWP_NONE && loop != outer)
        loop = code->loops[loop]->parent;
    return loop == outer;
}

const struct lwp_loop *lwp_code_loop(const struct lwp_code *code, uint32_t loop)
{
    return loop < code->loop_count ? code->loops[loop] : NULL;
}

uint32_t lwp_code_source_loop(const struct lwp_code *code, uint32_t loop)
{
    return loop < code->loop_count ? code->loops[loop]->source : LWP_NONE;
}
