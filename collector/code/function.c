/* Code is decoded from the function's start, so that instruction boundaries are certain. Jumps come from the same code, from
 * other parts of the function (the compiler moves cold code away) and from jump tables: anything the function takes the
 * address of is read as one, which marks too much rather than too little. Not seen: jumps from code whose bounds are not known. */
#include "collector/code/function.h"

#include "collector/code/insn.h"

#include <string.h>
#include <sys/mman.h>

enum {
    FUNCTION_BYTES_MAX = 192 * 1024,
    FUNCTIONS_MAX = 256,
    ARENA_BYTES = 1024 * 1024,
    TABLES_MAX = 512,
    TABLE_CHUNK = 128,
    TABLE_CHUNKS_MAX = 64,
    SIBLINGS_MAX = 4,
};

struct lwp_functions {
    const struct lwp_program *program;
    struct lwp_function function[FUNCTIONS_MAX];
    uint32_t count, used; /* of the arena */
    struct lwp_insn_flow insn;
    uint64_t tables[TABLES_MAX]; /* while one function is decoded */
    uint32_t table_count;
    uint64_t siblings[SIBLINGS_MAX][2];
    uint32_t sibling_count;
    uint8_t arena[ARENA_BYTES] __attribute__((aligned(16)));
};

struct lwp_functions *lwp_functions_new(const struct lwp_program *program)
{
    struct lwp_functions *functions = program->memory(sizeof *functions);
    if (functions)
        functions->program = program;
    return functions;
}

void lwp_functions_free(struct lwp_functions *functions)
{
    if (functions)
        munmap(functions, sizeof *functions);
}

void lwp_functions_forget(struct lwp_functions *functions)
{
    functions->count = functions->used = 0;
}

static void *arena_take(struct lwp_functions *functions, uint32_t bytes)
{
    bytes = (bytes + 15) & ~15u;
    if (bytes > ARENA_BYTES - functions->used)
        return NULL;
    void *memory = functions->arena + functions->used;
    functions->used += bytes;
    return memory;
}

static void bit_set(uint8_t *bits, uint64_t offset)
{
    bits[offset / 8] = (uint8_t)(bits[offset / 8] | 1u << (offset % 8));
}

static bool function_holds(const struct lwp_function *function, uint64_t address)
{
    return address >= function->low && address < function->high;
}

static void function_enter(struct lwp_function *function, uint64_t target)
{
    if (function_holds(function, target))
        bit_set(function->entered, target - function->low);
}

/* A jump out of the function that goes into the middle of another one, or depends on a condition, leads to a part of it. */
static void function_note_sibling(struct lwp_functions *functions, const struct lwp_insn_flow *insn)
{
    uint64_t low, high;
    for (uint32_t i = 0; i < functions->sibling_count; i++)
        if (insn->target >= functions->siblings[i][0] && insn->target < functions->siblings[i][1])
            return;
    if (functions->sibling_count == SIBLINGS_MAX || !functions->program->bounds(functions->program, insn->target, &low, &high) || high - low > FUNCTION_BYTES_MAX ||
        (insn->op == LWP_OP_JMP && insn->target == low))
        return;
    functions->siblings[functions->sibling_count][0] = low;
    functions->siblings[functions->sibling_count++][1] = high;
}

static void function_note_table(struct lwp_functions *functions, uint64_t address)
{
    for (uint32_t i = 0; i < functions->table_count && i < TABLES_MAX; i++)
        if (functions->tables[i] == address)
            return;
    if (functions->table_count < TABLES_MAX)
        functions->tables[functions->table_count] = address;
    functions->table_count++; /* above the bound: too many */
}

static bool table_chunk(const struct lwp_program *program, struct lwp_function *function, uint64_t table, uint64_t at)
{
    int32_t entry[TABLE_CHUNK];
    size_t got = program->read(program, at, entry, sizeof entry, LWP_READ_NOW);
    bool some = false;
    for (size_t i = 0; i < got / 4; i++) {
        uint64_t target = table + (uint64_t)(int64_t)entry[i]; /* relative to the table */
        if (function_holds(function, target)) {
            function_enter(function, target);
            some = true;
        }
        if (i % 2)
            continue;
        memcpy(&target, &entry[i], sizeof target); /* or an address; `got` is whole or the tail is garbage of ours */
        if (i + 1 < got / 4 && function_holds(function, target)) {
            function_enter(function, target);
            some = true;
        }
    }
    return some;
}

static void function_read_tables(struct lwp_functions *functions, struct lwp_function *function)
{
    if (functions->table_count > TABLES_MAX) {
        memset(function->entered, 0xff, (function->high - function->low + 7) / 8);
        return;
    }
    for (uint32_t i = 0; i < functions->table_count; i++) {
        uint64_t table = functions->tables[i];
        if (function_holds(function, table)) {
            function_enter(function, table); /* the address of a label */
            continue;
        }
        for (unsigned chunk = 0; chunk < TABLE_CHUNKS_MAX; chunk++)
            if (!table_chunk(functions->program, function, table, table + chunk * TABLE_CHUNK * 4))
                break;
    }
}

/* Decodes [low, high): the function itself, or another part of it, of which only the jumps into the function count. */
static bool function_scan(struct lwp_functions *functions, struct lwp_function *function, uint64_t low, uint64_t high)
{
    bool own = low == function->low, indirect = false;
    const struct lwp_program *program = functions->program;
    uint32_t room = (ARENA_BYTES - functions->used) / (uint32_t)sizeof *function->jumps;
    struct lwp_insn_flow *insn = &functions->insn;
    functions->table_count = 0;
    for (uint64_t at = low; at < high; at += insn->length) {
        unsigned bytes = high - at < 15 ? (unsigned)(high - at) : 15;
        if (!lwp_insn_flow(insn, at, program->code(program, at, bytes), bytes))
            break; /* what lies beyond is not known to be code */
        if (own)
            bit_set(function->starts, at - low);
        indirect |= insn->indirect;
        if (insn->table)
            function_note_table(functions, insn->table);
        if (insn->op != LWP_OP_JMP && insn->op != LWP_OP_JCC)
            continue;
        if (!function_holds(function, insn->target)) {
            if (own)
                function_note_sibling(functions, insn);
        } else {
            if (function->jump_count >= room)
                return false;
            bit_set(function->targets, insn->target - function->low);
            function->jumps[function->jump_count++] = (struct lwp_jump){
                .from = own ? (uint32_t)(at - low) : LWP_JUMP_ELSEWHERE, .to = (uint32_t)(insn->target - function->low),
                .back = own && insn->target <= at, .condition = insn->op == LWP_OP_JCC ? insn->condition : LWP_JUMP_ALWAYS};
        }
    }
    if (indirect)
        function_read_tables(functions, function);
    return true;
}

static bool function_decode(struct lwp_functions *functions, struct lwp_function *function)
{
    uint32_t bytes = (uint32_t)(function->high - function->low + 7) / 8;
    function->starts = arena_take(functions, bytes);
    function->entered = arena_take(functions, bytes);
    function->targets = arena_take(functions, bytes);
    if (!function->starts || !function->entered || !function->targets)
        return false;
    memset(function->starts, 0, bytes);
    memset(function->targets, 0, bytes);
    memset(function->entered, 0, bytes);
    function->jumps = (void *)(functions->arena + functions->used);
    function->jump_count = 0;
    functions->sibling_count = 0;
    if (!function_scan(functions, function, function->low, function->high))
        return false;
    for (uint32_t i = 0; i < functions->sibling_count; i++)
        if (!function_scan(functions, function, functions->siblings[i][0], functions->siblings[i][1]))
            return false;
    functions->used += (function->jump_count * (uint32_t)sizeof *function->jumps + 15) & ~15u;
    return true;
}

const struct lwp_function *lwp_function_at(struct lwp_functions *functions, uint64_t ip)
{
    for (uint32_t i = 0; i < functions->count; i++)
        if (function_holds(&functions->function[i], ip))
            return &functions->function[i];
    struct lwp_function found = {0};
    if (!functions->program->bounds(functions->program, ip, &found.low, &found.high) || found.high - found.low > FUNCTION_BYTES_MAX)
        return NULL;
    for (int again = 0; again < 2; again++) {
        if (functions->count < FUNCTIONS_MAX && function_decode(functions, &found)) {
            functions->function[functions->count] = found;
            return &functions->function[functions->count++];
        }
        lwp_functions_forget(functions); /* full: start over */
    }
    return NULL;
}
