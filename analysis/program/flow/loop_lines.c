/* The source of a machine loop: the innermost inlined function that holds it (nearly) whole, and the first and last
 * line that its instructions have there; an instruction of a function inlined deeper counts with the line of the call.
 * Optimised code mixes in instructions of the surroundings (hoisted, merged), so up to a tenth may lie outside as
 * long as the jumps back to the header lie inside. Instructions that the compiler added seem to belong to whatever
 * stands before them in memory; where that is outside of the loop they do not count. Lines of another file (macros of
 * assembly, #include) do not count either.
 */
#include "analysis/program/debug/scopes.h"
#include "analysis/program/flow/cfg.h"
#include "base/hash.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

struct loop_line {
    const char *file;
    uint32_t line;
    uint64_t row;   /* address where the table says so */
    uint32_t scope; /* of the function or inlined call; LWP_NONE: unknown */
    bool read;
};

enum { CALLS_MAX = 64 };

/* A row of the line table that begins a statement. */
struct loop_statement {
    uint64_t address, key;
};

struct loop_source {
    struct code_module *module;
    const struct cfg *cfg;
    struct code_scopes *scopes;
    struct loop_line *lines; /* of each instruction, read when needed */
    uint32_t *counts;        /* per scope, zero between uses */
    bool *states;            /* of each instruction of the loop asked about: see loop_states() */
    struct loop_statement *statements;
    size_t statement_count, statement_room;
    struct lwp_map *stated;  /* key of a statement -> the last loop asked about that has it, 0: none had */
    uint32_t asked;          /* loops asked about */
    uint32_t opening_line;   /* 0: unknown */
    struct code_range range;
};

static uint64_t loop_statement_key(const char *file, uint32_t line)
{
    return lwp_hash_mix((uintptr_t)file, line);
}

static void loop_take_statement(void *to, uint64_t address, const char *file, uint32_t line)
{
    struct loop_source *source = to;
    LWP_GROW(&source->statements, source->statement_count, &source->statement_room);
    source->statements[source->statement_count++] = (struct loop_statement){address, loop_statement_key(file, line)};
    *lwp_map_at(source->stated, loop_statement_key(file, line)) = 0;
}

struct loop_source *loop_source_new(struct code_module *module, struct code_range range, const struct cfg *cfg)
{
    struct loop_source *source = lwp_zeroed(1, sizeof *source);
    *source = (struct loop_source){.module = module, .cfg = cfg, .range = range};
    source->scopes = code_scopes_at(module, range.low);
    source->stated = lwp_map_new();
    code_statements(module, range.low, range.high, loop_take_statement, source);
    source->opening_line = code_line_opening(module, range.low);
    source->lines = lwp_zeroed(cfg->instruction_count, sizeof *source->lines);
    source->states = lwp_zeroed(cfg->instruction_count, sizeof *source->states);
    source->counts = lwp_zeroed(source->scopes ? source->scopes->count : 0, sizeof *source->counts);
    return source;
}

void loop_source_free(struct loop_source *source)
{
    free(source->lines);
    free(source->counts);
    free(source->states);
    free(source->statements);
    lwp_map_free(source->stated);
    free(source);
}

static const struct loop_line *loop_line(struct loop_source *source, uint32_t instruction)
{
    struct loop_line *line = &source->lines[instruction];
    if (line->read)
        return line;
    line->read = true;
    uint64_t address = source->cfg->instructions[instruction].address;
    code_line_at(source->module, address, &line->file, &line->line, &line->row);
    line->scope = LWP_NONE;
    if (source->scopes)
        line->scope = source->scopes->items[code_scope_find(source->scopes, address)].function;
    return line;
}

/* The function or inlined call that holds this one; LWP_NONE above the outermost. */
static uint32_t loop_outer(const struct loop_source *source, uint32_t scope)
{
    uint32_t parent = source->scopes->items[scope].parent;
    return parent == LWP_NONE ? LWP_NONE : source->scopes->items[parent].function;
}

/* The last instructions of the blocks that jump back to the header. */
#define LOOP_EACH_LATCH(instruction)                                                                                                       \
    for (uint32_t i_ = 0; i_ < loop->block_count; i_++)                                                                                    \
        for (uint32_t b_ = loop->blocks[i_], e_ = source->cfg->edge_first[b_],                                                             \
                      instruction = source->cfg->blocks[b_].first_instruction + source->cfg->blocks[b_].instruction_count - 1;             \
             e_ < source->cfg->edge_first[b_ + 1]; e_++)                                                                                   \
            if (source->cfg->edges[e_] == loop->header)

/* The innermost scope in which the jumps back to the header all are. */
static uint32_t loop_latch_scope(struct loop_source *source, const struct loop_blocks *loop)
{
    uint32_t common = LWP_NONE;
    LOOP_EACH_LATCH(last)
    {
        uint32_t scope = loop_line(source, last)->scope;
        common = common == LWP_NONE ? scope : code_scope_common(source->scopes, common, scope);
    }
    return common == LWP_NONE ? 0 : source->scopes->items[common].function;
}

#define LOOP_EACH(instruction)                                                                                         \
    for (uint32_t i_ = 0; i_ < loop->block_count; i_++)                                                                \
        for (uint32_t instruction = source->cfg->blocks[loop->blocks[i_]].first_instruction,                           \
                      end_ = instruction + source->cfg->blocks[loop->blocks[i_]].instruction_count;                    \
             instruction < end_; instruction++)

static int block_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The block that holds the address; LWP_NONE: not in the loop. */
static uint32_t loop_block_at(const struct loop_source *source, const struct loop_blocks *loop, uint64_t address)
{
    const struct cfg *cfg = source->cfg;
    uint32_t block = (uint32_t)LWP_COUNT_UP_TO(cfg->blocks, cfg->block_count, start, address);
    if (!block || address >= cfg->blocks[--block].end)
        return LWP_NONE;
    return bsearch(&block, loop->blocks, loop->block_count, sizeof(uint32_t), block_compare) ? block : LWP_NONE;
}

/* Has the instruction no line of its own? Line 0 says so. Or it has line and scope from what stands before the loop's code in
 * memory: its row then begins there, or at the start of a block and repeats what the code before it has. */
static bool loop_added(struct loop_source *source, const struct loop_blocks *loop, uint32_t instruction)
{
    const struct loop_line *own = loop_line(source, instruction);
    uint32_t block = own->line ? loop_block_at(source, loop, own->row) : LWP_NONE;
    if (block == LWP_NONE)
        return true;
    uint32_t first = source->cfg->blocks[block].first_instruction;
    if (own->row != source->cfg->blocks[block].start || first == 0 ||
        loop_block_at(source, loop, source->cfg->instructions[first - 1].address) != LWP_NONE)
        return false;
    const struct loop_line *before = loop_line(source, first - 1);
    return before->line == own->line && before->file == own->file && before->scope == own->scope;
}

/* Notes which statements begin in the loop. */
static void loop_find_statements(struct loop_source *source, const struct loop_blocks *loop)
{
    source->asked++;
    for (uint32_t i = 0; i < loop->block_count; i++) {
        const struct cfg_block *block = &source->cfg->blocks[loop->blocks[i]];
        size_t at = block->start ? LWP_COUNT_UP_TO(source->statements, source->statement_count, address, block->start - 1) : 0;
        for (; at < source->statement_count && source->statements[at].address < block->end; at++)
            *lwp_map_at(source->stated, source->statements[at].key) = source->asked;
    }
}

/* Is the instruction's line one that the loop is known to have? Not when the statements of that line all begin elsewhere in the
 * function: a constant or a copy that the compiler shares between several uses keeps the line of one of them. */
static bool loop_states(struct loop_source *source, const struct loop_blocks *loop, uint32_t instruction)
{
    const struct loop_line *own = loop_line(source, instruction);
    uint32_t begins = lwp_map_get(source->stated, loop_statement_key(own->file, own->line));
    return (begins == LWP_MAP_NONE || begins == source->asked) && !loop_added(source, loop, instruction);
}

/* Of the instructions that count: all of them when none does. */
static uint32_t loop_scope(struct loop_source *source, const struct loop_blocks *loop)
{
    uint32_t all = 0, total = 0;
    LOOP_EACH(i)
    {
        all++;
        total += source->states[i];
    }
    LOOP_EACH(i)
    for (uint32_t scope = total && !source->states[i] ? LWP_NONE : loop_line(source, i)->scope; scope != LWP_NONE;
         scope = loop_outer(source, scope))
        source->counts[scope]++;
    total = total ? total : all;
    uint32_t found = loop_latch_scope(source, loop);
    while (found && source->counts[found] < total - total / 10)
        found = loop_outer(source, found);
    LOOP_EACH(i)
    for (uint32_t scope = loop_line(source, i)->scope; scope != LWP_NONE; scope = loop_outer(source, scope))
        source->counts[scope] = 0;
    return found;
}

/* The instruction's line as seen from `scope`: its own, or that of the inlined call it belongs to. */
static bool loop_line_in(struct loop_source *source, uint32_t scope, uint32_t instruction, const char **file,
                         uint32_t *line)
{
    const struct loop_line *own = loop_line(source, instruction);
    *file = own->file;
    *line = own->line;
    if (!source->scopes || own->scope == scope)
        return own->line > 0 && own->file;
    if (!code_scope_holds(source->scopes, scope, own->scope))
        return false;
    uint32_t call = own->scope;
    for (uint32_t outer; (outer = loop_outer(source, call)) != scope; call = outer)
        ;
    *file = source->scopes->items[call].call_file;
    *line = source->scopes->items[call].call_line;
    return *line > 0 && *file;
}

/* Compilers invent instructions that have no line of their own: those seem to belong to whatever comes before them, out
 * of the loop, or get the line that opens the function. So first the lines count that the table states inside of the
 * loop and below the opening, then inherited ones next to those, and all of them only when there are no others. */
enum loop_trust { LOOP_STATED, LOOP_INHERITED, LOOP_ANY };

static void loop_extend(struct loop_source *source, const struct loop_blocks *loop, uint32_t scope,
                        struct loop_lines *result, enum loop_trust trust)
{
    const char *file;
    uint32_t line, low = 0, high = UINT32_MAX, first = result->first_line, last = result->last_line;
    if (trust != LOOP_ANY && scope == 0)
        low = source->opening_line + 1;
    else if (trust != LOOP_ANY) /* code of what it calls may have its scope, but not its lines */
        low = code_scope_declared(source->scopes, scope, result->file);
    if (trust == LOOP_INHERITED) {
        if (!first)
            return;
        low = first - 1 > low ? first - 1 : low;
        high = last + 1;
    }
    LOOP_EACH(i)
    {
        if (!loop_line_in(source, scope, i, &file, &line) || file != result->file || line < low || line > high ||
            (trust == LOOP_STATED && !source->states[i]))
            continue;
        if (!result->first_line || line < result->first_line)
            result->first_line = line;
        if (line > result->last_line)
            result->last_line = line;
    }
}

/* A loop's condition has one line and column in all copies of the loop that the compiler makes. */
static void loop_find_latch(struct loop_source *source, const struct loop_blocks *loop, uint32_t scope, struct loop_lines *result)
{
    uint32_t line = 0, column = 0;
    LOOP_EACH_LATCH(last)
    {
        const struct loop_line *own = loop_line(source, last);
        uint32_t own_column = code_column_at(source->module, source->cfg->instructions[last].address);
        if (own->scope != scope || own->file != result->file || !own->line || !own_column ||
            (line && (line != own->line || column != own_column)))
            return;
        line = own->line;
        column = own_column;
    }
    result->latch_line = line;
    result->latch_column = column;
}

/* The calls that inlined the scope, innermost first: the functions they stand in, and their lines. */
static void loop_calls(struct loop_source *source, uint32_t scope, struct loop_lines *result)
{
    struct lwp_frame calls[CALLS_MAX];
    uint32_t count = 0;
    for (uint32_t outer; count < CALLS_MAX && (outer = loop_outer(source, scope)) != LWP_NONE; scope = outer)
        calls[count++] = (struct lwp_frame){.function = code_scope_name(source->scopes, outer),
                                            .file = source->scopes->items[scope].call_file,
                                            .line = source->scopes->items[scope].call_line,
                                            .inlined = loop_outer(source, outer) != LWP_NONE};
    struct lwp_frame *copy = lwp_arena_alloc(source->module->code->arena, count + 1, sizeof *copy);
    result->calls = memcpy(copy, calls, count * sizeof *copy);
    result->call_count = count;
}

struct loop_lines loop_lines_of(struct loop_source *source, const struct loop_blocks *loop)
{
    struct loop_lines result = {0};
    const char *file;
    uint32_t line, scope = 0, votes = 0;
    loop_find_statements(source, loop);
    LOOP_EACH(i)
    source->states[i] = loop_states(source, loop, i);
    if (source->scopes) {
        scope = loop_scope(source, loop);
        result.function = code_scope_name(source->scopes, scope);
        result.origin = source->scopes->items[scope].origin;
        loop_calls(source, scope, &result);
    }
    LOOP_EACH(i)
    { /* the file of the majority */
        if (!loop_line_in(source, scope, i, &file, &line))
            continue;
        if (!votes)
            result.file = file;
        votes += file == result.file ? 1 : (uint32_t)-1;
    }
    loop_extend(source, loop, scope, &result, LOOP_STATED);
    loop_extend(source, loop, scope, &result, LOOP_INHERITED);
    if (!result.first_line)
        loop_extend(source, loop, scope, &result, LOOP_ANY);
    if (source->scopes)
        loop_find_latch(source, loop, scope, &result);
    return result;
}
