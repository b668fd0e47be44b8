/* The blocks of a loop that an iteration may go past. */
#include "analysis/program/flow/code_loops.h"
#include "analysis/program/flow/decode.h"

#include <stdlib.h>
#include <string.h>

/* Whether a way round the loop, from its header to it again, is left without the block. */
static bool parts_way_past(const struct lwp_code *code, const struct flow_function *function, uint32_t loop, uint32_t block)
{
    const uint32_t header = function->blocks[block].header;
    uint32_t *left = lwp_zeroed(function->block_count, sizeof *left), count = 0;
    bool *seen = lwp_zeroed(function->block_count, sizeof *seen), found = false;
    if (block != header)
        left[count++] = header;
    while (count && !found) {
        const uint32_t from = left[--count];
        for (uint32_t e = function->edge_first[from]; e < function->edge_first[from + 1]; e++) {
            const uint32_t to = function->edges[e];
            found |= to == header;
            if (seen[to] || to == block || !code_loop_holds(code, loop, function->blocks[to].loop))
                continue;
            seen[to] = true;
            left[count++] = to;
        }
    }
    free(left);
    free(seen);
    return found;
}

static uint32_t parts_instructions(const struct code_module *module, const struct flow_block *block)
{
    uint32_t count = 0;
    for (uint64_t at = block->start; at < block->end; count++) {
        const struct code_instruction instruction = code_decode_at(module, at, true);
        if (!instruction.length)
            return 0;
        at += instruction.length;
    }
    return count;
}

size_t lwp_loop_parts(struct lwp_code *code, uint32_t module, uint64_t address, struct lwp_loop_part *parts, size_t room)
{
    enum { BLOCKS_MOST = 500 };
    struct code_module *in = code_module_at(code, module);
    const struct flow_function *function = in ? code_flow_at(in, address) : NULL;
    const uint32_t block = function ? code_flow_block(function, address) : LWP_NONE;
    const uint32_t loop = block != LWP_NONE ? function->blocks[block].loop : LWP_NONE;
    size_t count = 0;
    for (uint32_t b = 0; loop != LWP_NONE && function->block_count <= BLOCKS_MOST && b < function->block_count && count < room; b++) {
        const struct flow_block *of = &function->blocks[b];
        if (of->loop == loop && parts_way_past(code, function, loop, b))
            parts[count++] = (struct lwp_loop_part){of->start, of->end, parts_instructions(in, of)};
    }
    return count;
}
