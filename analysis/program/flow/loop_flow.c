#include "analysis/program/flow/loop_flow.h"

enum { FEW = 16 /* elements that are looked at as fast in one way as in another */ };

static void loop_flow_add_uses(struct loop_flow *flow, const struct code_instruction *instruction)
{
    const struct lwp_memory_operand *memory = &instruction->memory;
    const uint32_t place = memory->exists && memory->load ? loop_flow_bit(memory->base) | loop_flow_bit(memory->index) : 0;
    const uint64_t read = code_values_read(instruction);
    flow->places |= place;
    for (uint64_t left = code_values_written(instruction); left; left &= left - 1) {
        flow->used[__builtin_ctzll(left)] |= read;
        flow->place[__builtin_ctzll(left)] |= place;
    }
}

/* Registers that get something from these, themselves among them. */
uint64_t loop_flow_spread(const struct loop_flow *flow, uint64_t from)
{
    uint64_t before;
    do {
        before = from;
        for (int to = 0; to < LOOP_REGISTERS; to++)
            if (flow->used[to] & from)
                from |= (uint64_t)1 << to;
    } while (from != before);
    return from;
}

/* Registers that get something from what is loaded: from one place after another, as what stays at hand is hardly waited for. */
uint64_t loop_flow_from_loads(const struct loop_flow *flow)
{
    uint64_t from = 0;
    for (int to = 0; to < LOOP_REGISTERS; to++)
        if (flow->place[to] & (flow->changed | flow->stepped))
            from |= (uint64_t)1 << to;
    return loop_flow_spread(flow, from);
}

static void loop_flow_add_weighed(struct loop_flow *flow, const struct code_instruction *instruction)
{
    const struct lwp_memory_operand *memory = &instruction->memory;
    if (!instruction->weighs)
        return;
    flow->weighed |= code_values_read(instruction);
    flow->weighed_at |= memory->exists && memory->load ? loop_flow_bit(memory->base) | loop_flow_bit(memory->index) : 0;
}

/* Whether something that the loop loads, one after another, is compared with a key. Where all is compared with constants, it looks for a
 * state or a delimiter, by which nothing can be looked up. */
bool loop_flow_has_key(const struct loop_flow *flow)
{
    return flow->elsewhere || flow->weighed & loop_flow_from_loads(flow) || flow->weighed_at & (flow->changed | flow->stepped);
}

void loop_flow_add_values(struct loop_flow *flow, const struct code_instruction *instruction)
{
    const uint64_t results = 1u << CODE_RAX | (uint64_t)1
                                                  << CODE_REGISTERS; /* of a call, which changes others and leaves nothing in them */
    if (!code_moves(instruction))
        flow->made |= code_values_written(instruction) & (instruction->flow == CODE_FLOW_CALL ? results : UINT64_MAX);
    else
        for (uint64_t left = code_values_written(instruction); left; left &= left - 1)
            flow->moved[__builtin_ctzll(left)] |= code_values_read(instruction);
}

/* A field of what a pointer leads to: compilers copy the load of a list's next element to each place that goes on. */
bool loop_flow_same_field(const struct lwp_memory_operand *x, const struct lwp_memory_operand *y)
{
    return x->displacement == y->displacement && x->index == y->index && x->scale == y->scale;
}

static void loop_flow_add_field(struct loop_flow *flow, const struct code_instruction *instruction)
{
    const int to = instruction->destination;
    if (!flow->loads_into[to])
        flow->from_field[to] = instruction->memory;
    else if (!loop_flow_same_field(&flow->from_field[to], &instruction->memory))
        flow->from_others |= loop_flow_bit(to);
}

void loop_flow_add(struct loop_flow *flow, const struct code_instruction *instruction)
{
    const struct code_linear *linear = &instruction->linear;
    loop_flow_add_values(flow, instruction);
    loop_flow_add_uses(flow, instruction);
    loop_flow_add_weighed(flow, instruction);
    uint32_t stepped = 0;
    if (linear->plus && linear->to == code_copied_register(linear)) {
        stepped = loop_flow_bit(linear->to);
        flow->stepped_again |= flow->stepped & stepped;
        flow->stepped |= stepped;
        flow->step[linear->to] = linear->plus;
    }
    const uint32_t returned = instruction->flow == CODE_FLOW_CALL ? 1u << CODE_RSP : 0; /* the callee pops what the call has pushed */
    flow->changed |= instruction->written & ~stepped & ~returned;
    flow->changed_vectors |= instruction->written_vectors;
    if (linear->exists)
        flow->from[linear->to] |= loop_flow_bit(linear->base) | loop_flow_bit(linear->index);
    if (instruction->limit > 0 && instruction->limit <= FEW)
        flow->few |= loop_flow_bit(instruction->limited);
    flow->branches += instruction->flow == CODE_FLOW_BRANCH;
    flow->halvings += instruction->halves;
    flow->calls += instruction->flow == CODE_FLOW_CALL;
    flow->computed_calls += instruction->flow == CODE_FLOW_CALL && !instruction->target &&
                            !(instruction->memory.exists && instruction->memory.base == CODE_RIP); /* that one is another module's */
    flow->elsewhere |= returned ? code_values_written(instruction) & ~(uint64_t)returned : 0;
    if (instruction->chooses)
        flow->selected |= instruction->written;
    int8_t copied = linear->exists && !linear->selects ? code_copied_register(linear) : -1;
    if (copied >= 0)
        flow->copied[linear->to] |= loop_flow_bit(copied);
    else if (!instruction->counts)
        flow->computed |= instruction->written;
    if (!instruction->loads || !instruction->memory.exists)
        return;
    loop_flow_add_field(flow, instruction);
    flow->loads_into[instruction->destination]++;
    flow->indexed[instruction->destination] |= loop_flow_bit(instruction->memory.index);
    flow->loaded[instruction->destination] |= loop_flow_bit(instruction->memory.base) | loop_flow_bit(instruction->memory.index);
}

/* The registers whose value comes from that of one, a bit each, itself among them. */
uint32_t loop_flow_reached(const struct loop_flow *flow, int from)
{
    uint32_t reached = 1u << from, before;
    do {
        before = reached;
        for (int reg = 0; reg < CODE_REGISTERS; reg++)
            if ((flow->from[reg] | flow->loaded[reg]) & reached)
                reached |= 1u << reg;
    } while (reached != before);
    return reached;
}

/* These registers, and those of which they are copies, or further on. */
uint32_t loop_flow_copied(const struct loop_flow *flow, uint32_t all)
{
    uint32_t before;
    do {
        before = all;
        for (int reg = 0; reg < CODE_REGISTERS; reg++)
            all |= all >> reg & 1 ? flow->copied[reg] : 0;
    } while (all != before);
    return all;
}

uint32_t loop_flow_accumulated(const struct loop_flow *flow)
{
    uint32_t accumulated = 0;
    for (uint32_t left = flow->selected; left; left &= left - 1) {
        const int to = __builtin_ctz(left);
        uint64_t copies = loop_flow_bit(to), before, computed = 0;
        do {
            before = copies;
            for (int reg = 0; reg < LOOP_REGISTERS; reg++)
                copies |= flow->moved[reg] & copies ? (uint64_t)1 << reg : 0;
        } while (copies != before);
        for (int reg = 0; reg < LOOP_REGISTERS; reg++)
            computed |= flow->made >> reg & 1 && flow->used[reg] & copies ? (uint64_t)1 << reg : 0;
        accumulated |= loop_flow_spread(flow, computed) & loop_flow_bit(to);
    }
    return accumulated;
}

/* Whether the loop leaves the register alone, adds to it, or copies it to others and back: it is never set anew. */
bool loop_flow_goes_on(const struct loop_flow *flow, int from)
{
    const uint32_t all = loop_flow_copied(flow, 1u << from);
    for (int reg = 0; reg < CODE_REGISTERS; reg++)
        if (all >> reg & 1 && (flow->computed >> reg & 1 || flow->loads_into[reg] || (reg != from && !flow->copied[reg])))
            return false;
    return true;
}

/* Registers whose load's address comes from what was loaded into them, a bit each; *pointers: those and that address's. */
uint32_t loop_flow_chased(const struct loop_flow *flow, uint32_t *pointers)
{
    uint32_t chased = 0;
    *pointers = 0;
    for (int to = 0; to < CODE_REGISTERS; to++) {
        uint32_t through = flow->loaded[to] & loop_flow_reached(flow, to);
        if (through) {
            chased |= 1u << to;
            *pointers |= 1u << to | through;
        }
    }
    return chased;
}
