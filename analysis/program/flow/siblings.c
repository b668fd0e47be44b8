/* Which accesses of a loop use the same base and index values. Every general register gets a symbolic value, "the
 * value made at place P plus a constant", at each instruction of the loop's body, walked from the header once around
 * in an order that visits a block after those before it. Where ways meet with different values, and at the head of an
 * inner loop for what it changes, a new value begins. */
#include "analysis/program/flow/code_loops.h"
#include "analysis/program/flow/decode.h"

#include <stdlib.h>
#include <string.h>

enum { REGISTERS = 16, SIBLING_BLOCK_LIMIT = 4096, SIBLING_ACCESS_LIMIT = 20000 };

/* What a register holds: the value born at `place` (an instruction address or block start, with the register) plus. */
struct value {
    uint64_t place;
    int64_t plus;
    int8_t born_in; /* register at its birth; -1: not known yet */
};

struct values {
    struct value of[REGISTERS];
    bool known; /* some way leads here */
};

struct access {
    struct lwp_sibling sibling;
    struct value base, index;
    uint8_t scale;
    int8_t base_kind; /* -1: no base */
    int8_t index_kind;
};

struct walk {
    struct code_module *module;
    const struct flow_function *function;
    uint32_t loop;
    uint32_t *order, count;  /* blocks of the body, header first */
    uint32_t *position;      /* block -> place in order, or LWP_NONE */
    uint32_t *changed_below; /* block -> registers written in the loop it heads */
    struct values *in;       /* per place in order */
    struct access *accesses;
    size_t access_count, access_capacity;
};

static bool walk_in_loop(const struct walk *walk, uint32_t block)
{
    const struct lwp_code *code = walk->module->code;
    uint32_t loop = walk->function->blocks[block].loop;
    while (loop != LWP_NONE && loop != walk->loop)
        loop = code->loops[loop]->parent;
    return loop != LWP_NONE;
}

/* Reverse postorder of the body from its header. */
static bool walk_order(struct walk *walk, uint32_t header)
{
    const struct flow_function *function = walk->function;
    uint32_t count = function->block_count, depth = 0, members = 0;
    uint32_t *stack = malloc((count + 1) * sizeof *stack), *next = malloc((count + 1) * sizeof *next);
    uint8_t *seen = calloc(count + 1, 1);
    bool ok = stack && next && seen;
    if (ok) {
        stack[depth++] = header;
        next[header] = function->edge_first[header];
        seen[header] = 1;
    }
    while (ok && depth) {
        uint32_t b = stack[depth - 1];
        if (next[b] == function->edge_first[b + 1]) {
            walk->order[members++] = b;
            depth--;
            continue;
        }
        uint32_t to = function->edges[next[b]++];
        if (seen[to] || !walk_in_loop(walk, to))
            continue;
        seen[to] = 1;
        next[to] = function->edge_first[to];
        stack[depth++] = to;
    }
    for (uint32_t i = 0; i < members / 2; i++) {
        uint32_t swap = walk->order[i];
        walk->order[i] = walk->order[members - 1 - i];
        walk->order[members - 1 - i] = swap;
    }
    walk->count = members;
    for (uint32_t i = 0; i < members; i++)
        walk->position[walk->order[i]] = i;
    free(stack);
    free(next);
    free(seen);
    return ok && members && members <= SIBLING_BLOCK_LIMIT;
}

typedef void walk_visit(struct walk *walk, struct values *values, uint64_t address,
                        const struct code_instruction *instruction, uint32_t block);

static void walk_block(struct walk *walk, uint32_t block, struct values *values, walk_visit *visit)
{
    const struct flow_block *own = &walk->function->blocks[block];
    for (uint64_t address = own->start; address < own->end;) {
        struct code_instruction instruction = code_decode_at(walk->module, address, true);
        visit(walk, values, address, &instruction, block);
        address += instruction.length ? instruction.length : 1;
    }
}

static void walk_note_writes(struct walk *walk, struct values *values, uint64_t address,
                             const struct code_instruction *instruction, uint32_t block)
{
    (void)values;
    (void)address;
    const struct lwp_code *code = walk->module->code;
    for (uint32_t loop = walk->function->blocks[block].loop; loop != LWP_NONE && loop != walk->loop;
         loop = code->loops[loop]->parent) {
        uint32_t header = code_flow_block(walk->function, code->loops[loop]->header);
        if (header != LWP_NONE)
            walk->changed_below[header] |= instruction->written;
    }
}

static struct value value_at(const struct values *values, int8_t reg)
{
    return reg >= 0 ? values->of[reg] : (struct value){.born_in = -1};
}

static bool value_same_birth(const struct value *a, const struct value *b)
{
    return a->place == b->place && a->born_in == b->born_in;
}

static void walk_step(struct walk *walk, struct values *values, uint64_t address,
                      const struct code_instruction *instruction, uint32_t block)
{
    const struct lwp_memory_operand *memory = &instruction->memory;
    if (memory->exists && (memory->base >= 0 || memory->index >= 0) && walk->access_count < SIBLING_ACCESS_LIMIT) {
        struct access access = {
            .sibling = {.address = address,
                        .delta = memory->displacement,
                        .bytes = memory->bytes,
                        .load = memory->load,
                        .store = memory->store,
                        .loop = walk->function->blocks[block].loop},
            .base = value_at(values, memory->base),
            .index = value_at(values, memory->index),
            .scale = memory->index >= 0 ? memory->scale : 0,
            .base_kind = memory->base >= 0 ? 0 : memory->base,
            .index_kind = memory->index >= 0 ? 0 : memory->index,
        };
        access.sibling.delta += access.base.plus + access.index.plus * access.scale;
        LWP_GROW(&walk->accesses, walk->access_count, &walk->access_capacity);
        walk->accesses[walk->access_count++] = access;
    }
    struct value copied = value_at(values, instruction->source);
    copied.plus += instruction->constant;
    for (int reg = 0; reg < REGISTERS; reg++)
        if (instruction->written >> reg & 1)
            values->of[reg] = (struct value){.place = address, .born_in = reg};

    if (instruction->copies && instruction->destination >= 0 && copied.born_in >= 0)
        values->of[instruction->destination] = copied;
}

/* Values on entry to a block, from all ways into it within one iteration. */
static void walk_enter(struct walk *walk, uint32_t at, const struct values *outs, const uint32_t *preds, uint32_t count)
{
    uint32_t block = walk->order[at];
    struct values *in = &walk->in[at];
    uint64_t phi = walk->function->blocks[block].start | (uint64_t)1 << 63; /* no instruction is up there */
    bool late = false;
    for (uint32_t i = 0; i < count && at; i++) {
        uint32_t from = walk->position[preds[i]];
        if (from >= at) {
            late = true; /* a way back: of an inner loop, or of an irreducible one */
            continue;
        }
        if (!in->known) {
            *in = outs[from];
            in->known = true;
            continue;
        }
        for (int reg = 0; reg < REGISTERS; reg++)
            if (!value_same_birth(&in->of[reg], &outs[from].of[reg]) || in->of[reg].plus != outs[from].of[reg].plus)
                in->of[reg] = (struct value){.place = phi, .born_in = reg};
    }
    const struct lwp_code *code = walk->module->code;
    const struct flow_block *own = &walk->function->blocks[block];
    bool heads = own->header == block && own->loop != walk->loop && code->loops[own->loop]->header == own->start;
    uint32_t fresh = !in->known || (late && !heads) ? 0xffff : late ? walk->changed_below[block] : 0;
    for (int reg = 0; reg < REGISTERS; reg++)
        if (fresh >> reg & 1)
            in->of[reg] = (struct value){.place = phi, .born_in = reg};
    in->known = true;
}

static bool walk_values(struct walk *walk)
{
    const struct flow_function *function = walk->function;
    struct values *outs = calloc(walk->count, sizeof *outs);
    uint32_t *first = calloc((size_t)walk->count + 2, sizeof *first), *preds = NULL;
    bool ok = outs && first;
    size_t edges = 0;
    for (uint32_t i = 0; ok && i < walk->count; i++) /* count, then place the predecessors inside the body */
        for (uint32_t e = function->edge_first[walk->order[i]]; e < function->edge_first[walk->order[i] + 1]; e++)
            if (walk->position[function->edges[e]] != LWP_NONE) {
                first[walk->position[function->edges[e]] + 2]++;
                edges++;
            }
    ok = ok && (preds = malloc((edges + 1) * sizeof *preds));
    for (uint32_t i = 0; ok && i < walk->count; i++)
        first[i + 2] += first[i + 1];
    for (uint32_t i = 0; ok && i < walk->count; i++)
        for (uint32_t e = function->edge_first[walk->order[i]]; e < function->edge_first[walk->order[i] + 1]; e++)
            if (walk->position[function->edges[e]] != LWP_NONE)
                preds[first[walk->position[function->edges[e]] + 1]++] = walk->order[i];
    for (uint32_t i = 0; ok && i < walk->count; i++) {
        walk_enter(walk, i, outs, preds + first[i], first[i + 1] - first[i]);
        outs[i] = walk->in[i];
        walk_block(walk, walk->order[i], &outs[i], walk_step);
    }
    free(outs);
    free(first);
    free(preds);
    return ok;
}

static int access_compare(const void *a, const void *b)
{
    const struct access *x = a, *y = b;
    return x->sibling.address < y->sibling.address ? -1 : x->sibling.address > y->sibling.address;
}

/* Walks the loop once; its accesses in order of address, kept. */
static const struct code_accesses *loop_accesses(struct code_module *module, const struct flow_function *function,
                                                 uint32_t block)
{
    struct lwp_code *code = module->code;
    uint32_t loop = function->blocks[block].loop;
    uint32_t *slot = lwp_map_at(code->accesses_by_loop, loop);
    if (*slot != LWP_MAP_NONE)
        return &code->accesses[*slot];
    struct walk walk = {.module = module, .function = function, .loop = loop};
    uint32_t count = function->block_count;
    bool ok = false;
    walk.order = malloc((count + 1) * sizeof *walk.order);
    walk.position = malloc((count + 1) * sizeof *walk.position);
    walk.changed_below = calloc(count + 1, sizeof *walk.changed_below);
    if (!walk.order || !walk.position || !walk.changed_below)
        goto out;
    memset(walk.position, 0xff, (count + 1) * sizeof *walk.position);
    if (!walk_order(&walk, function->blocks[block].header))
        goto out;
    walk.in = calloc(walk.count, sizeof *walk.in);
    for (uint32_t i = 0; i < walk.count; i++)
        walk_block(&walk, walk.order[i], NULL, walk_note_writes);
    ok = walk.in && walk_values(&walk);
    if (ok && walk.access_count)
        qsort(walk.accesses, walk.access_count, sizeof *walk.accesses, access_compare);
out:
    free(walk.order);
    free(walk.position);
    free(walk.changed_below);
    free(walk.in);
    LWP_GROW(&code->accesses, code->accesses_count, &code->accesses_capacity);
    code->accesses[code->accesses_count] = (struct code_accesses){walk.accesses, ok ? walk.access_count : 0};
    *slot = (uint32_t)code->accesses_count++;
    return &code->accesses[*slot];
}

size_t lwp_code_siblings(struct lwp_code *code, uint32_t module_index, uint64_t address, struct lwp_sibling *siblings,
                         size_t room)
{
    struct code_module *module = code_module_at(code, module_index);
    struct code_range range;
    const char *name;
    if (!module || !code_function_at(module, address, &range, &name))
        return 0;
    const struct flow_function *function = code_flow_at(module, range);
    uint32_t block = function ? code_flow_block(function, address) : LWP_NONE;
    if (block == LWP_NONE || function->blocks[block].loop == LWP_NONE)
        return 0;
    const struct code_accesses *all = loop_accesses(module, function, block);
    const struct access *items = all->items, *own = NULL;
    struct access key = {.sibling = {.address = address}};
    size_t found = 0;
    if (all->count)
        own = bsearch(&key, items, all->count, sizeof key, access_compare);
    for (size_t i = 0; own && i < all->count; i++) {
        const struct access *other = &items[i];
        if (other->base_kind != own->base_kind || other->index_kind != own->index_kind || other->scale != own->scale ||
            !value_same_birth(&other->base, &own->base) || !value_same_birth(&other->index, &own->index))
            continue;
        if (found < room) {
            siblings[found] = other->sibling;
            siblings[found].delta -= own->sibling.delta;
        }
        found++;
    }
    return found;
}
