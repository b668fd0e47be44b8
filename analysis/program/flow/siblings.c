/* Which accesses of a loop use the same base and index values within one iteration. At each instruction of the body
 * every general register has a symbolic value: "the value made at O, plus a constant". The body is gone through once,
 * from its header, in reverse postorder, so that a block comes after its predecessors. Where paths meet with different
 * values a new one begins, and so it does at the head of an inner loop for the registers that the inner loop changes; of
 * its first iteration, where it is left. */
#include "analysis/program/flow/code_loops.h"
#include "analysis/program/flow/decode.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

enum { REGISTERS = 16, SIBLING_BLOCK_LIMIT = 4096, SIBLING_ACCESS_LIMIT = 20000 };

/* What a register holds: the value made at `origin` (an instruction's address or a block's start) in `reg`, plus. */
struct symbolic {
    uint64_t origin;
    int64_t plus;
    int8_t reg; /* -1: no register */
};

struct registers {
    struct symbolic of[REGISTERS];
    bool known; /* some way leads here */
    bool late;  /* so does a way back: of an inner loop, or of an irreducible one */
};

struct access {
    struct lwp_sibling sibling; /* delta: all that is known to be added to base and index */
    struct symbolic base, index;
    uint8_t scale;
};

struct loop_accesses {
    size_t count;
    struct access items[]; /* by address */
};

struct walk {
    struct code_module *module;
    const struct flow_function *function;
    uint32_t loop;
    bool first;              /* of loops inside it: their first iteration, not any */
    uint32_t *order, count;  /* blocks of the body, header first */
    uint32_t *position;      /* block -> where it is in the order, or LWP_NONE */
    uint32_t *changed_below; /* block -> registers written in the loop it heads */
    struct registers *in;    /* by position */
    struct access *accesses;
    size_t access_count, access_capacity;
};

static struct symbolic symbolic_at(const struct registers *now, int8_t reg)
{
    return reg >= 0 ? now->of[reg] : (struct symbolic){.reg = reg};
}

static bool symbolic_same(const struct symbolic *a, const struct symbolic *b)
{
    return a->origin == b->origin && a->reg == b->reg;
}

/* New values for the registers of the mask. */
static void symbolic_begin(struct registers *now, uint32_t mask, uint64_t origin)
{
    for (int reg = 0; reg < REGISTERS; reg++)
        if (mask >> reg & 1)
            now->of[reg] = (struct symbolic){.origin = origin, .reg = (int8_t)reg};
}

static void walk_step(struct walk *walk, struct registers *now, uint64_t address,
                      const struct code_instruction *instruction, uint32_t loop)
{
    const struct lwp_memory_operand *memory = &instruction->memory;
    if (memory->exists && (memory->base >= 0 || memory->index >= 0) && walk->access_count < SIBLING_ACCESS_LIMIT) {
        struct access access = {
            .sibling = {.address = address,
                        .bytes = memory->bytes,
                        .load = memory->load,
                        .store = memory->store,
                        .loop = loop},
            .base = symbolic_at(now, memory->base),
            .index = symbolic_at(now, memory->index),
            .scale = memory->index >= 0 ? memory->scale : 0,
        };
        access.sibling.delta = memory->displacement + access.base.plus + access.index.plus * access.scale;
        LWP_GROW(&walk->accesses, walk->access_count, &walk->access_capacity);
        walk->accesses[walk->access_count++] = access;
    }
    struct symbolic copied = symbolic_at(now, code_copied_register(&instruction->linear));
    copied.plus += instruction->linear.plus;
    symbolic_begin(now, instruction->written, address);
    if (copied.reg >= 0)
        now->of[instruction->linear.to] = copied;
}

static void walk_block(struct walk *walk, uint32_t block, struct registers *now)
{
    const struct flow_block *own = &walk->function->blocks[block];
    for (uint64_t address = own->start; address < own->end;) {
        struct code_instruction instruction = code_decode_at(walk->module, address, true);
        walk_step(walk, now, address, &instruction, own->loop);
        address += instruction.length ? instruction.length : 1;
    }
}

/* Notes the registers that the block changes with the loops around it that are inside the one walked through. */
static void walk_note_changes(struct walk *walk, uint32_t block)
{
    const struct flow_block *own = &walk->function->blocks[block];
    uint32_t changed = 0;
    for (uint64_t address = own->start; address < own->end && own->loop != walk->loop;) {
        struct code_instruction instruction = code_decode_at(walk->module, address, true);
        changed |= instruction.written;
        address += instruction.length ? instruction.length : 1;
    }
    for (uint32_t loop = own->loop; loop != LWP_NONE && loop != walk->loop;
         loop = walk->module->code->loops[loop]->parent) {
        uint32_t header = code_flow_block(walk->function, walk->module->code->loops[loop]->header);
        if (header != LWP_NONE)
            walk->changed_below[header] |= changed;
    }
}

static uint64_t walk_phi(const struct walk *walk, uint32_t position)
{
    return walk->function->blocks[walk->order[position]].start | (uint64_t)1 << 63; /* no instruction is up there */
}

/* One more way into the block at the position, after those before it. */
static void walk_merge(struct walk *walk, uint32_t position, const struct registers *from)
{
    struct registers *in = &walk->in[position];
    for (int reg = 0; reg < REGISTERS; reg++)
        if (!in->known)
            in->of[reg] = from->of[reg];
        else if (!symbolic_same(&in->of[reg], &from->of[reg]) || in->of[reg].plus != from->of[reg].plus)
            in->of[reg] = (struct symbolic){.origin = walk_phi(walk, position), .reg = (int8_t)reg};
    in->known = true;
}

/* What the loops that this edge leaves have changed by then. */
static void walk_leave(const struct walk *walk, uint32_t block, uint32_t to, struct registers *now)
{
    const struct lwp_code *code = walk->module->code;
    const struct flow_block *blocks = walk->function->blocks;
    for (uint32_t loop = blocks[block].loop; loop != LWP_NONE && loop != walk->loop; loop = code->loops[loop]->parent) {
        if (code_loop_holds(code, loop, blocks[to].loop))
            return;
        const uint32_t header = code_flow_block(walk->function, code->loops[loop]->header);
        symbolic_begin(now, header == LWP_NONE ? 0xffff : walk->changed_below[header], walk_phi(walk, walk->position[to]));
    }
}

static void walk_values(struct walk *walk)
{
    const struct flow_function *function = walk->function;
    for (uint32_t i = 0; i < walk->count; i++) {
        walk_note_changes(walk, walk->order[i]);
        for (uint32_t e = function->edge_first[walk->order[i]]; e < function->edge_first[walk->order[i] + 1]; e++) {
            uint32_t to = walk->position[function->edges[e]];
            if (to != LWP_NONE && to <= i)
                walk->in[to].late = true;
        }
    }
    for (uint32_t i = 0; i < walk->count; i++) {
        uint32_t block = walk->order[i];
        const struct flow_block *own = &function->blocks[block];
        struct registers now = walk->in[i];
        bool heads = own->header == block && own->loop != walk->loop &&
                     walk->module->code->loops[own->loop]->header == own->start;
        uint32_t changed = now.late && !walk->first ? walk->changed_below[block] : 0;
        symbolic_begin(&now, !now.known || (now.late && !heads) ? 0xffff : changed, walk_phi(walk, i));
        walk_block(walk, block, &now);
        for (uint32_t e = function->edge_first[block]; e < function->edge_first[block + 1]; e++) {
            uint32_t to = walk->position[function->edges[e]];
            if (to == LWP_NONE || to <= i)
                continue;
            struct registers then = now;
            if (walk->first)
                walk_leave(walk, block, function->edges[e], &then);
            walk_merge(walk, to, &then);
        }
    }
}

/* Walks the loop once; its accesses are kept. */
static const struct loop_accesses *loop_accesses(struct code_module *module, const struct flow_function *function, uint32_t block,
                                                 bool first)
{
    struct lwp_code *code = module->code;
    struct walk walk = {.module = module, .function = function, .loop = function->blocks[block].loop, .first = first};
    void **kept = code_kept_at(&code->loop_accesses, walk.loop | (uint64_t)first << 32, NULL);
    if (*kept)
        return *kept;
    uint32_t count = function->block_count;
    walk.order = lwp_zeroed(count, sizeof *walk.order);
    walk.position = lwp_zeroed(count, sizeof *walk.position);
    walk.changed_below = lwp_zeroed(count, sizeof *walk.changed_below);
    walk.count = code_loop_order(walk.module->code, function, walk.loop, function->blocks[block].header, walk.order, walk.position);
    if (walk.count <= SIBLING_BLOCK_LIMIT) {
        walk.in = lwp_zeroed(walk.count, sizeof *walk.in);
        walk_values(&walk);
    }
    size_t bytes = walk.access_count * sizeof *walk.accesses;
    struct loop_accesses *made = *kept = lwp_arena_alloc(code->arena, 1, sizeof *made + bytes);
    made->count = walk.access_count;
    if (bytes)
        qsort(memcpy(made->items, walk.accesses, bytes), made->count, sizeof *made->items, lwp_by_first);
    free(walk.order);
    free(walk.position);
    free(walk.changed_below);
    free(walk.in);
    free(walk.accesses);
    return made;
}

static size_t siblings_of(struct lwp_code *code, uint32_t module_index, uint64_t address, bool inside, struct lwp_sibling *siblings,
                          size_t room)
{
    struct code_module *module = code_module_at(code, module_index);
    const struct flow_function *function = module ? code_flow_at(module, address) : NULL;
    uint32_t block = function ? code_flow_block(function, address) : LWP_NONE;
    if (block == LWP_NONE || function->blocks[block].loop == LWP_NONE)
        return 0;
    const struct loop_accesses *all = loop_accesses(module, function, block, inside);
    struct access key = {.sibling = {.address = address}};
    const struct access *own = bsearch(&key, all->items, all->count, sizeof key, lwp_by_first);
    size_t found = 0;
    for (size_t i = 0; own && i < all->count; i++) {
        const struct access *other = &all->items[i];
        if (other->scale != own->scale || !symbolic_same(&other->base, &own->base) || !symbolic_same(&other->index, &own->index) ||
            (inside && other->sibling.loop == own->sibling.loop))
            continue;
        if (found < room) {
            siblings[found] = other->sibling;
            siblings[found].delta -= own->sibling.delta;
        }
        found++;
    }
    return found;
}

size_t lwp_code_siblings(struct lwp_code *code, uint32_t module, uint64_t address, struct lwp_sibling *siblings, size_t room)
{
    return siblings_of(code, module, address, false, siblings, room);
}

size_t lwp_code_siblings_inside(struct lwp_code *code, uint32_t module, uint64_t address, struct lwp_sibling *siblings, size_t room)
{
    return siblings_of(code, module, address, true, siblings, room);
}
