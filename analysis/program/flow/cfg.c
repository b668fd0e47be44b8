/* Decodes a function from its first byte to its last and cuts it into blocks at branches and their targets.
 * Limits: jumps to other functions, the .cold part among them, leave the graph. An indirect jump goes where its jump
 * table says, if the instructions before it show one; else, if it looks like a switch, it may go to every block that
 * nothing else leads to. Calls are assumed to return unless the callee is known not to (noreturn.c). */
#include "analysis/program/flow/cfg.h"

#include "analysis/program/flow/decode.h"

#include <stdlib.h>
#include <string.h>

enum {
    CFG_BYTES_LIMIT = 4 * 1024 * 1024,
    CFG_TABLE_LIMIT = 4096,
    CFG_LOOK_BACK = 24,
    CFG_EDGE_LIMIT = 8 * 1024 * 1024
};

struct cfg_work {
    struct code_module *module;
    struct code_range range;
    struct cfg *cfg;
    size_t instruction_capacity;
    uint32_t *at;       /* offset from range.low -> instruction, or LWP_NONE */
    uint32_t *block_at; /* instruction -> its block */
    uint8_t *leads;     /* instruction begins a block */
    uint8_t *switches;  /* instruction is an indirect jump: enum cfg_switch */
    struct cfg_edge {   /* between instructions */
        uint32_t from, to;
    } * jumps; /* through tables */
    size_t jump_count, jump_capacity;
    struct cfg_edge *edges; /* between blocks */
    size_t edge_count, edge_capacity;
};

static uint32_t cfg_instruction_at(const struct cfg_work *work, uint64_t address)
{
    if (address < work->range.low || address >= work->range.high)
        return LWP_NONE;
    return work->at[address - work->range.low];
}

static void cfg_decode(struct cfg_work *work)
{
    struct cfg *cfg = work->cfg;
    for (uint64_t address = work->range.low; address < work->range.high;) {
        size_t available;
        const uint8_t *bytes = code_bytes(work->module, address, &available);
        if (available > work->range.high - address)
            available = work->range.high - address;
        struct code_instruction decoded = code_decode(bytes, available, address, false);
        if (!bytes)
            return;
        work->at[address - work->range.low] = cfg->instruction_count;
        LWP_GROW(&cfg->instructions, cfg->instruction_count, &work->instruction_capacity);
        cfg->instructions[cfg->instruction_count++] = (struct cfg_instruction){
            .address = address,
            .target = decoded.target,
            .length = decoded.length ? decoded.length : 1,
            .flow = decoded.length ? decoded.flow : CODE_FLOW_END, /* data between instructions */
            .padding = decoded.padding,
            .never_returns =
                decoded.flow == CODE_FLOW_CALL && cfg_never_returns(work->module, decoded.target, decoded.call_slot),
        };
        address += decoded.length ? decoded.length : 1;
    }
}

/* Jump tables. A compiler's switch computes the address of its table (or has it in the memory operand), loads the entry
 * of the case, adds the table to it where entries are relative, and jumps. So from an indirect jump backwards the first
 * address that can be a table is taken for it: it must lie in data, and its entries must lead to instructions of this
 * function; it ends at the first that does not. */

/* lea table(%rip), %register */
static uint64_t cfg_table_of_lea(const uint8_t *bytes, size_t length, uint64_t address)
{
    int32_t displacement;
    if (length != 7 || (bytes[0] & 0xf8) != 0x48 || bytes[1] != 0x8d || (bytes[2] & 0xc7) != 5)
        return 0;
    memcpy(&displacement, bytes + 3, sizeof displacement);
    return address + 7 + (uint64_t)(int64_t)displacement;
}

static void cfg_take_jump(struct cfg_work *work, uint32_t instruction, uint32_t to)
{
    LWP_GROW(&work->jumps, work->jump_count, &work->jump_capacity);
    work->jumps[work->jump_count++] = (struct cfg_edge){instruction, to};
    work->leads[to] = 1;
}

static uint64_t cfg_table_entry(const uint8_t *bytes, uint64_t table, size_t index, bool relative)
{
    int32_t near;
    uint64_t far;
    if (relative) {
        memcpy(&near, bytes + index * sizeof near, sizeof near);
        return table + (uint64_t)(int64_t)near;
    }
    memcpy(&far, bytes + index * sizeof far, sizeof far);
    return far;
}

/* Entries of 4 bytes relative to the table, or of 8 bytes absolute, as long as they lead to instructions of ours.
 * Fewer than `least` are no table. */
static bool cfg_read_table(struct cfg_work *work, uint32_t instruction, uint64_t table, bool relative, size_t least)
{
    size_t available, count = 0, size = relative ? 4 : 8;
    const uint8_t *bytes = code_bytes(work->module, table, &available);
    const struct code_section *section = code_section_at(work->module, table);
    if (!bytes || !section || section->executable)
        return false;
    while (count < CFG_TABLE_LIMIT && (count + 1) * size <= available &&
           cfg_instruction_at(work, cfg_table_entry(bytes, table, count, relative)) != LWP_NONE)
        count++;
    for (size_t i = 0; i < count && count >= least; i++)
        cfg_take_jump(work, instruction, cfg_instruction_at(work, cfg_table_entry(bytes, table, i, relative)));
    return count >= least;
}

enum cfg_switch { CFG_SWITCH_NONE, CFG_SWITCH_KNOWN, CFG_SWITCH_UNKNOWN };

static enum cfg_switch cfg_read_switch(struct cfg_work *work, uint32_t jump)
{
    const struct cfg *cfg = work->cfg;
    bool indexed = false;
    for (uint32_t back = 0; back < CFG_LOOK_BACK && back <= jump; back++) {
        const struct cfg_instruction *at = &cfg->instructions[jump - back];
        if (back && (at->flow == CODE_FLOW_END || at->flow == CODE_FLOW_INDIRECT || at->flow == CODE_FLOW_JUMP))
            break;
        size_t available;
        const uint8_t *bytes = code_bytes(work->module, at->address, &available);
        if (!bytes || available < at->length)
            break;
        uint64_t table = cfg_table_of_lea(bytes, at->length, at->address);
        if (table && cfg_read_table(work, jump, table, true, indexed ? 1 : 2))
            return CFG_SWITCH_KNOWN;
        struct lwp_memory_operand memory = code_decode(bytes, at->length, at->address, true).memory;
        if (!memory.exists || !memory.load || memory.index < 0 || memory.scale < 4)
            continue;
        indexed = true;
        if (memory.base == -1 && memory.scale == 8 &&
            cfg_read_table(work, jump, (uint64_t)(int64_t)memory.displacement, false, 1))
            return CFG_SWITCH_KNOWN;
    }
    return indexed ? CFG_SWITCH_UNKNOWN : CFG_SWITCH_NONE;
}

static bool cfg_goes_on(const struct cfg_instruction *instruction)
{
    return instruction->flow == CODE_FLOW_NEXT || instruction->flow == CODE_FLOW_BRANCH ||
           (instruction->flow == CODE_FLOW_CALL && !instruction->never_returns);
}

static void cfg_mark_leaders(struct cfg_work *work)
{
    struct cfg *cfg = work->cfg;
    work->leads[0] = 1;
    for (uint32_t i = 0; i < cfg->instruction_count; i++) {
        const struct cfg_instruction *instruction = &cfg->instructions[i];
        if (instruction->flow == CODE_FLOW_BRANCH || instruction->flow == CODE_FLOW_JUMP) {
            uint32_t to = cfg_instruction_at(work, instruction->target);
            if (to != LWP_NONE)
                work->leads[to] = 1;
        }
        if (instruction->flow == CODE_FLOW_INDIRECT)
            work->switches[i] = (uint8_t)cfg_read_switch(work, i);
        if (i + 1 < cfg->instruction_count && (instruction->flow == CODE_FLOW_BRANCH || !cfg_goes_on(instruction)))
            work->leads[i + 1] = 1;
    }
}

static void cfg_cut(struct cfg_work *work)
{
    struct cfg *cfg = work->cfg;
    size_t capacity = 0;
    for (uint32_t i = 0; i < cfg->instruction_count; i++) {
        const struct cfg_instruction *instruction = &cfg->instructions[i];
        if (work->leads[i]) {
            LWP_GROW(&cfg->blocks, cfg->block_count, &capacity);
            cfg->blocks[cfg->block_count++] =
                (struct cfg_block){.start = instruction->address, .first_instruction = i, .padding = true};
        }
        struct cfg_block *block = &cfg->blocks[cfg->block_count - 1];
        block->instruction_count++;
        block->padding &= instruction->padding;
        block->end = instruction->address + instruction->length;
        work->block_at[i] = cfg->block_count - 1;
    }
}

static void cfg_link(struct cfg_work *work, uint32_t from, uint32_t to)
{
    if (work->edge_count >= CFG_EDGE_LIMIT)
        return;
    LWP_GROW(&work->edges, work->edge_count, &work->edge_capacity);
    work->edges[work->edge_count++] = (struct cfg_edge){from, to};
}

/* Unknown switches lead to the blocks that nothing else leads to. */
static void cfg_link_orphans(struct cfg_work *work)
{
    struct cfg *cfg = work->cfg;
    uint8_t *reached = lwp_zeroed(cfg->block_count, 1);
    for (size_t e = 0; e < work->edge_count; e++)
        reached[work->edges[e].to] = 1;
    for (uint32_t from = 0; from < cfg->block_count; from++) {
        uint32_t last = cfg->blocks[from].first_instruction + cfg->blocks[from].instruction_count - 1;
        if (work->switches[last] != CFG_SWITCH_UNKNOWN)
            continue;
        for (uint32_t b = 1; b < cfg->block_count; b++)
            if (!reached[b] && !cfg->blocks[b].padding)
                cfg_link(work, from, b);
    }
    free(reached);
}

static void cfg_link_all(struct cfg_work *work)
{
    struct cfg *cfg = work->cfg;
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        uint32_t last = cfg->blocks[b].first_instruction + cfg->blocks[b].instruction_count - 1;
        const struct cfg_instruction *instruction = &cfg->instructions[last];
        if (instruction->flow == CODE_FLOW_BRANCH || instruction->flow == CODE_FLOW_JUMP) {
            uint32_t to = cfg_instruction_at(work, instruction->target);
            if (to != LWP_NONE)
                cfg_link(work, b, work->block_at[to]);
        }
        if (cfg_goes_on(instruction) && b + 1 < cfg->block_count)
            cfg_link(work, b, b + 1);
    }
    for (size_t j = 0; j < work->jump_count; j++)
        cfg_link(work, work->block_at[work->jumps[j].from], work->block_at[work->jumps[j].to]);
    cfg_link_orphans(work);
}

/* Sorts the edges by the block they leave. Counted one place further up than they are wanted, the starts of the blocks
 * are in place once all edges are. */
static void cfg_pack_edges(struct cfg_work *work)
{
    struct cfg *cfg = work->cfg;
    free(cfg->edge_first);
    free(cfg->edges);
    cfg->edge_first = lwp_zeroed((size_t)cfg->block_count + 2, sizeof *cfg->edge_first);
    cfg->edges = lwp_zeroed(work->edge_count, sizeof *cfg->edges);
    for (size_t e = 0; e < work->edge_count; e++)
        cfg->edge_first[work->edges[e].from + 2]++;
    for (uint32_t b = 0; b < cfg->block_count; b++)
        cfg->edge_first[b + 2] += cfg->edge_first[b + 1];
    for (size_t e = 0; e < work->edge_count; e++)
        cfg->edges[cfg->edge_first[work->edges[e].from + 1]++] = work->edges[e].to;
}

/* What is still not reached is entered from outside (an exception's landing pad): let the entry lead to it. */
static void cfg_reach_all(struct cfg_work *work)
{
    struct cfg *cfg = work->cfg;
    uint8_t *reached = lwp_zeroed(cfg->block_count, 1);
    uint32_t *stack = lwp_zeroed(cfg->block_count, sizeof *stack), depth = 0;
    size_t known = work->edge_count;
    for (uint32_t root = 0; root < cfg->block_count; root++) {
        if (reached[root] || cfg->blocks[root].padding)
            continue;
        if (root)
            cfg_link(work, 0, root);
        reached[root] = 1;
        stack[depth++] = root;
        while (depth) {
            uint32_t b = stack[--depth];
            for (uint32_t e = cfg->edge_first[b]; e < cfg->edge_first[b + 1]; e++)
                if (!reached[cfg->edges[e]]) {
                    reached[cfg->edges[e]] = 1;
                    stack[depth++] = cfg->edges[e];
                }
        }
    }
    free(reached);
    free(stack);
    if (work->edge_count != known)
        cfg_pack_edges(work);
}

bool cfg_build(struct code_module *module, struct code_range range, struct cfg *cfg)
{
    *cfg = (struct cfg){0};
    struct cfg_work work = {.module = module, .range = range, .cfg = cfg};
    uint64_t bytes = range.high - range.low;
    const struct code_section *section = code_section_at(module, range.low);
    if (range.high <= range.low || bytes > CFG_BYTES_LIMIT || !section || !section->executable)
        return false;
    work.at = memset(lwp_zeroed(bytes, sizeof *work.at), 0xff, bytes * sizeof *work.at);
    cfg_decode(&work);
    if (cfg->instruction_count) {
        work.leads = lwp_zeroed(cfg->instruction_count, 1);
        work.block_at = lwp_zeroed(cfg->instruction_count, sizeof *work.block_at);
        work.switches = lwp_zeroed(cfg->instruction_count, 1);
        cfg_mark_leaders(&work);
        cfg_cut(&work);
        cfg_link_all(&work);
        cfg_pack_edges(&work);
        cfg_reach_all(&work);
    }
    free(work.at);
    free(work.leads);
    free(work.block_at);
    free(work.switches);
    free(work.jumps);
    free(work.edges);
    return cfg->instruction_count;
}

void cfg_free(struct cfg *cfg)
{
    free(cfg->instructions);
    free(cfg->blocks);
    free(cfg->edge_first);
    free(cfg->edges);
    *cfg = (struct cfg){0};
}
