/* Loops that go where a number leads that they loaded: chains of indices, as in adjacency lists that are kept in arrays; and where a chain
 * begins.
 *
 * What one load brings is followed through the registers, along all ways through the loop, until it comes to that load again: whether the
 * address there hangs on it. Values that go through memory are not followed, and neither are jumps, which processors guess. */
#include "analysis/program/flow/code_loops.h"
#include "analysis/program/flow/decode.h"

#include <stdlib.h>

enum { DECODED_MOST = 4000 };

static const uint64_t flags = (uint64_t)1 << 63; /* the processor's, beside the registers */

struct leads_walk {
    const struct code_module *module;
    const struct flow_function *function;
    uint32_t loop;
    uint64_t from, address; /* from: another load, whose value is followed as it is */
    uint32_t decoded;
    bool leads;
};

/* Registers whose values hang on the load's behind a block, when those of `before` did so at its beginning. */
static uint64_t leads_through(struct leads_walk *walk, const struct flow_block *block, uint64_t before)
{
    uint64_t led = before;
    for (uint64_t at = block->start; at < block->end;) {
        const struct code_instruction instruction = code_decode_at(walk->module, at, true);
        const uint64_t written = code_values_written(&instruction) | (instruction.flags ? flags : 0);
        if (!instruction.length || ++walk->decoded > DECODED_MOST)
            return 0;
        const bool loads = instruction.memory.exists && instruction.memory.load;
        const uint64_t read =
            code_values_read(&instruction) | (loads ? code_values_address(&instruction.memory) : 0) | (instruction.chooses ? flags : 0);
        const bool asked = at == walk->address && loads;
        walk->leads |= asked && code_values_address(&instruction.memory) & led;
        led = asked || read & led ? led | written : led & ~written;
        at += instruction.length;
    }
    return led;
}

/* As leads_through(), of what the load at `from` brings, as it was. */
static uint64_t leads_copied(struct leads_walk *walk, const struct flow_block *block, uint64_t before)
{
    uint64_t led = before;
    for (uint64_t at = block->start; at < block->end;) {
        const struct code_instruction instruction = code_decode_at(walk->module, at, true);
        const uint64_t written = code_values_written(&instruction);
        if (!instruction.length || ++walk->decoded > DECODED_MOST)
            return 0;
        const bool copies = code_moves(&instruction) && !instruction.memory.exists && code_values_read(&instruction) & led;
        walk->leads |= at == walk->address && code_values_address(&instruction.memory) & led;
        led = at == walk->from || copies ? led | written : led & ~written;
        at += instruction.length;
    }
    return led;
}

/* Along all ways through the loop's blocks, or the function's without one. */
static bool leads_find(struct lwp_code *code, struct leads_walk *walk,
                       uint64_t (*through)(struct leads_walk *walk, const struct flow_block *block, uint64_t before))
{
    const struct flow_function *function = walk->function;
    uint64_t *before = lwp_zeroed(function->block_count, sizeof *before);
    for (bool more = true; more && !walk->leads && walk->decoded <= DECODED_MOST;) {
        more = false;
        for (uint32_t b = 0; b < function->block_count; b++) {
            if (walk->loop != LWP_NONE && !code_loop_holds(code, walk->loop, function->blocks[b].loop))
                continue;
            const uint64_t led = through(walk, &function->blocks[b], before[b]);
            for (uint32_t e = function->edge_first[b]; e < function->edge_first[b + 1]; e++) {
                more |= led & ~before[function->edges[e]];
                before[function->edges[e]] |= led;
            }
        }
    }
    free(before);
    return walk->leads;
}

bool lwp_loop_leads(struct lwp_code *code, uint32_t module, uint64_t address)
{
    struct code_module *in = code_module_at(code, module);
    const struct flow_function *function = in ? code_flow_at(in, address) : NULL;
    const uint32_t block = function ? code_flow_block(function, address) : LWP_NONE;
    struct leads_walk walk = {
        .module = in, .function = function, .loop = block != LWP_NONE ? function->blocks[block].loop : LWP_NONE, .address = address};
    return walk.loop != LWP_NONE && leads_find(code, &walk, leads_through);
}

bool lwp_code_begins(struct lwp_code *code, uint32_t module, uint64_t from, uint64_t address)
{
    struct code_module *in = code_module_at(code, module);
    const struct flow_function *function = in ? code_flow_at(in, from) : NULL;
    struct leads_walk walk = {.module = in, .function = function, .loop = LWP_NONE, .from = from, .address = address};
    return function && code_flow_block(function, address) != LWP_NONE && leads_find(code, &walk, leads_copied);
}
