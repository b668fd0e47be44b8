/* By how much an access moves from one iteration of a loop around it to the next: where it begins, not where inner
 * loops take it.
 *
 * Each register (and slot of the stack frame) is a sum of those at the loop's head and a constant, as far as
 * moves, sums, shifts and products with constants go. The body is gone through twice, in reverse postorder. Once up to
 * the access, in the first iteration of all loops between: this gives its address. Once as a whole, where inner loops
 * leave what they change unknown: this gives what one iteration adds to each register. Limits: 32-bit sums are taken
 * not to wrap; what is loaded, but for the stack frame, is unknown; a slot is taken to change only where the code names
 * it. Where a loop ends because two registers are equal, the one tells what the other has become.
 * Where rows are as long as a register says, two steps differ by a constant if their registers do where the nest begins: the function is
 * followed from its entry up to there, in the same way.
 * In code that was not optimized the frame is addressed by rbp, and variables of 4 bytes are slots, too. */
#include "analysis/program/flow/code_loops.h"
#include "analysis/program/flow/decode.h"

#include <stdlib.h>
#include <string.h>

enum { REGISTERS = 16, SLOTS = 16, VALUES = REGISTERS + SLOTS, MADE = 64, TERMS = 4, BLOCKS_MOST = 512, UNKNOWN = -1 };

/* times[0] * of[0] + ... + plus; of: values at the loop's head. */
struct form {
    int8_t count; /* UNKNOWN: not known */
    bool folded;  /* not known, as it is a remainder, some of the bits, or one of two values that the code chooses */
    bool about;   /* `plus` is one of several: of a neighbour, or of none where there is none, at the edge of a grid */
    int8_t of[TERMS]; /* from VALUES on: what an instruction made before the loops */
    int64_t times[TERMS], plus;
};

struct state {
    bool reached;
    struct form of[VALUES];
};

struct pass {
    struct code_module *module;
    const struct flow_function *function;
    uint32_t loop;
    bool loaded_rows;
    bool whole;          /* not a loop, but the function from its entry on */
    uint64_t made[MADE]; /* addresses of instructions; of what a register has at a block's start, that with the register above it */
    int made_count;
    uint64_t block;                    /* where the one gone through begins */
    uint32_t *order, *position, count; /* blocks of the body, header first; block -> where it is in the order, or LWP_NONE */
    uint32_t *changed;                 /* block -> values changed in the loop it heads */
    struct state *in;                  /* by position */
    struct state latch;
    struct code_instruction last[2]; /* of the block gone through last */
    int32_t slots[SLOTS];            /* displacements from the register that holds the frame */
    int8_t frame;                    /* that register */
    int slot_count;
};

static struct form form_one(int value)
{
    return (struct form){.count = 1, .of = {(int8_t)value}, .times = {1}};
}

static void form_add(struct form *to, const struct form *more, int64_t times)
{
    if (to->count == UNKNOWN || more->count == UNKNOWN) {
        to->folded |= more->folded;
        to->count = UNKNOWN;
        return;
    }
    to->plus += more->plus * times;
    to->about |= more->about;
    for (int i = 0; i < more->count; i++) {
        int k = 0;
        while (k < to->count && to->of[k] != more->of[i])
            k++;
        if (k == TERMS) {
            to->count = UNKNOWN;
            return;
        }
        if (k == to->count) {
            to->of[to->count] = more->of[i];
            to->times[to->count++] = 0;
        }
        to->times[k] += more->times[i] * times;
        if (to->times[k] == 0) {
            to->of[k] = to->of[--to->count];
            to->times[k] = to->times[to->count];
        }
    }
}

/* Of a sum and a constant; unknown otherwise. */
static struct form form_product(const struct form *a, const struct form *b)
{
    struct form product = {.count = 0};
    if (a->count != 0 && b->count != 0)
        product = (struct form){.count = UNKNOWN, .folded = a->folded || b->folded};
    else
        form_add(&product, a->count == 0 ? b : a, a->count == 0 ? a->plus : b->plus);
    return product;
}

/* What is one of two. */
static struct form form_either(const struct form *a, const struct form *b)
{
    struct form difference = *a, either = *a;
    form_add(&difference, b, -1);
    either.about |= b->about || difference.plus != 0;
    return difference.count == 0 ? either : (struct form){.count = UNKNOWN, .folded = a->folded || b->folded};
}

/* The value of a slot of the frame, made at the first call; -1: it is none, or one too many. */
static int pass_slot(struct pass *pass, const struct lwp_memory_operand *memory)
{
    if (!memory->exists || memory->base != pass->frame || memory->index >= 0)
        return -1;
    for (int i = 0; i < pass->slot_count; i++)
        if (pass->slots[i] == memory->displacement)
            return REGISTERS + i;
    if (pass->slot_count == SLOTS)
        return -1;
    pass->slots[pass->slot_count] = memory->displacement;
    return REGISTERS + pass->slot_count++;
}

static uint32_t pass_changes(struct pass *pass, const struct code_instruction *instruction)
{
    int slot = instruction->memory.store ? pass_slot(pass, &instruction->memory) : -1;
    return (instruction->written & 0xffff) | (slot >= 0 ? 1u << slot : 0);
}

/* What an instruction before the loops makes, of which nothing else is known. */
static struct form pass_made(struct pass *pass, uint64_t address)
{
    for (int i = 0; i < pass->made_count; i++)
        if (pass->made[i] == address)
            return form_one(VALUES + i);
    if (!pass->whole || pass->made_count == MADE)
        return (struct form){.count = UNKNOWN};
    pass->made[pass->made_count] = address;
    return form_one(VALUES + pass->made_count++);
}

/* Where ways meet that bring different values, what a register has is a value like any other, from where it is read first. */
static void pass_met(struct pass *pass, struct state *now, const struct code_instruction *instruction)
{
    const int read[] = {instruction->linear.exists ? instruction->linear.base : -1,
                        instruction->linear.exists ? instruction->linear.index : -1, instruction->multiplies ? instruction->factor : -1,
                        instruction->multiplies ? instruction->factor_to : -1};
    for (size_t i = 0; pass->whole && i < sizeof read / sizeof *read; i++)
        if (read[i] >= 0 && read[i] < REGISTERS && now->of[read[i]].count == UNKNOWN)
            now->of[read[i]] = pass_made(pass, pass->block | (uint64_t)(read[i] + 1) << 56);
}

static void pass_step(struct pass *pass, struct state *now, uint64_t address, const struct code_instruction *instruction)
{
    const struct code_linear *linear = &instruction->linear;
    const int slot = pass_slot(pass, &instruction->memory), carries = code_carries_to(instruction);
    pass_met(pass, now, instruction);
    const struct form loaded = {.count = pass->loaded_rows ? 0 : UNKNOWN}; /* that a row begins somewhere else does not matter */
    struct form value = {.count = UNKNOWN}, stored = {.count = UNKNOWN};
    if (linear->exists && !linear->selects) {
        value = (struct form){.plus = linear->plus};
        if (linear->base >= 0)
            form_add(&value, &now->of[linear->base], 1);
        if (linear->loads)
            form_add(&value, slot >= 0 ? &now->of[slot] : &loaded, 1);
        else if (linear->index >= 0)
            form_add(&value, &now->of[linear->index], linear->scale);
    } else if (linear->exists) {
        value = form_either(&now->of[linear->to], &now->of[linear->index]);
        value.folded |= value.count == UNKNOWN;
    } else if (carries >= 0) {
        value = now->of[carries];
        value.about = true;
    } else if ((instruction->loads || instruction->narrow_destination >= 0) && slot >= 0) {
        value = now->of[slot];
    } else if (instruction->loads) {
        value = loaded;
    } else if (instruction->multiplies) {
        const struct form constant = {.plus = instruction->constant}, unknown = {.count = UNKNOWN};
        const struct form *memory = slot >= 0 ? &now->of[slot] : &unknown;
        value = form_product(instruction->factor == -2 ? &constant : &now->of[instruction->factor_to],
                             instruction->factor >= 0 ? &now->of[instruction->factor] : memory);
    }
    if (instruction->stores && instruction->source >= 0 && instruction->source < REGISTERS)
        stored = now->of[instruction->source];
    else if (instruction->narrow_source >= 0)
        stored = now->of[instruction->narrow_source];
    else if (instruction->puts && instruction->put < 0)
        stored = (struct form){.plus = instruction->constant};
    else if (instruction->counts_memory && slot >= 0) {
        stored = now->of[slot];
        form_add(&stored, &(struct form){.plus = linear->plus}, 1);
    }
    const uint32_t changed = pass_changes(pass, instruction);
    const bool follows = linear->exists || carries >= 0 || instruction->loads || instruction->multiplies ||
                         instruction->narrow_destination >= 0 || instruction->flow != CODE_FLOW_NEXT;
    for (int i = 0; i < VALUES; i++)
        if (changed >> i & 1)
            now->of[i] = (struct form){.count = UNKNOWN, .folded = !follows && i < REGISTERS};
    const int to = linear->exists            ? linear->to
                   : carries >= 0            ? carries
                   : instruction->loads      ? instruction->destination
                   : instruction->multiplies ? instruction->factor_to
                                             : instruction->narrow_destination;
    if (to >= 0 && to < REGISTERS)
        now->of[to] = value;
    const uint32_t made = instruction->flow == CODE_FLOW_CALL ? 1u << CODE_RAX : changed & 0xffff;
    if (pass->whole && made && !(made & (made - 1)) && now->of[__builtin_ctz(made)].count == UNKNOWN)
        now->of[__builtin_ctz(made)] = pass_made(pass, address);
    if (instruction->memory.store && slot >= 0)
        now->of[slot] = stored;
}

static void state_merge(struct state *in, const struct state *from)
{
    for (int i = 0; i < VALUES; i++)
        if (!in->reached)
            in->of[i] = from->of[i];
        else
            in->of[i] = form_either(&in->of[i], &from->of[i]);
    in->reached = true;
}

/* Notes what the block changes with the loops inside the one passed that hold it. */
static void pass_note_changes(struct pass *pass, uint32_t block)
{
    const struct flow_block *own = &pass->function->blocks[block];
    const struct lwp_code *code = pass->module->code;
    uint32_t changed = 0;
    for (uint64_t address = own->start; address < own->end;) {
        struct code_instruction instruction = code_decode_at(pass->module, address, true);
        changed |= pass_changes(pass, &instruction);
        address += instruction.length ? instruction.length : 1;
    }
    for (uint32_t loop = own->loop; loop != LWP_NONE && loop != pass->loop; loop = code->loops[loop]->parent) {
        uint32_t header = code_flow_block(pass->function, code->loops[loop]->header);
        if (header != LWP_NONE)
            pass->changed[header] |= changed;
    }
}

/* The stack pointer, or rbp where code that was not optimized keeps the frame there: it stays the same in the loop, and variables lie
 * below it. */
static int8_t pass_frame(const struct pass *pass)
{
    bool below = false, above = false;
    for (uint32_t i = 0; i < pass->count; i++) {
        const struct flow_block *block = &pass->function->blocks[pass->order[i]];
        for (uint64_t address = block->start; address < block->end;) {
            struct code_instruction instruction = code_decode_at(pass->module, address, true);
            if (instruction.written >> CODE_RBP & 1 && instruction.flow != CODE_FLOW_CALL)
                return CODE_RSP;
            below |= instruction.memory.store && instruction.memory.base == CODE_RBP && instruction.memory.index < 0 &&
                     instruction.memory.displacement < 0;
            above |= instruction.memory.exists && instruction.memory.base == CODE_RSP;
            address += instruction.length ? instruction.length : 1;
        }
    }
    return below && !above ? CODE_RBP : CODE_RSP;
}

/* What was compared is equal where a branch that is taken otherwise is not taken: a loop's end says what its counter has become. */
static void pass_leave(const struct pass *pass, const struct state *now, uint32_t to, struct state *out)
{
    const struct code_instruction *last = &pass->last[1], *before = &pass->last[0];
    *out = *now;
    if (!last->unless_equal || last->flow != CODE_FLOW_BRANCH || !before->compares || pass->function->blocks[to].start == last->target)
        return;
    struct form *a = &out->of[before->compared[0]], *b = &out->of[before->compared[1]];
    if (a->count == UNKNOWN)
        *a = *b;
    else if (b->count == UNKNOWN)
        *b = *a;
}

/* Through the block; true: it came to `until` (0: none), before which `now` is. */
static bool pass_block(struct pass *pass, uint32_t block, struct state *now, uint64_t until)
{
    const struct flow_block *own = &pass->function->blocks[block];
    pass->block = own->start;
    for (uint64_t address = own->start; address < own->end;) {
        if (address == until)
            return true;
        struct code_instruction instruction = code_decode_at(pass->module, address, true);
        pass_step(pass, now, address, &instruction);
        pass->last[0] = pass->last[1];
        pass->last[1] = instruction;
        address += instruction.length ? instruction.length : 1;
    }
    return false;
}

/* Once through the loop's body: up to the instruction (`now`: before it), or with `until` 0 to `pass->latch`. */
static bool pass_through(struct pass *pass, uint64_t until, struct state *now)
{
    const struct flow_function *function = pass->function;
    const struct lwp_code *code = pass->module->code;
    const uint32_t inner = until ? function->blocks[code_flow_block(function, until)].loop : LWP_NONE;
    memset(pass->in, 0, pass->count * sizeof *pass->in);
    pass->latch.reached = false;
    pass->in[0].reached = true;
    for (int i = 0; i < VALUES; i++)
        pass->in[0].of[i] = form_one(i);
    for (uint32_t i = 0; i < pass->count; i++) {
        const uint32_t block = pass->order[i];
        const struct flow_block *own = &function->blocks[block];
        *now = pass->in[i];
        const bool between = until && code_loop_holds(code, own->loop, inner);
        for (int k = 0; i && k < VALUES; k++)
            if (!now->reached || (!between && pass->changed[block] >> k & 1))
                now->of[k] = (struct form){.count = UNKNOWN};
        if (pass_block(pass, block, now, until))
            return true;
        for (uint32_t e = function->edge_first[block]; e < function->edge_first[block + 1]; e++) {
            uint32_t to = pass->position[function->edges[e]];
            struct state out;
            if (to == LWP_NONE || (to && to <= i))
                continue;
            pass_leave(pass, now, function->edges[e], &out);
            state_merge(to ? &pass->in[to] : &pass->latch, &out);
        }
    }
    return pass->latch.reached;
}

/* What one iteration adds to a value at the loop's head. One that becomes what others were, as a pointer to the row before, moves as these
 * do, an iteration later. */
static struct form pass_added(const struct pass *pass, int value, int depth)
{
    enum { DEPTH_MOST = 4 };
    const struct form *later = &pass->latch.of[value];
    bool itself = false;
    for (int i = 0; i < later->count; i++)
        itself |= later->of[i] == value;
    struct form added = *later, unknown = {.count = UNKNOWN, .folded = later->folded || (itself && later->about)};
    if (later->count == UNKNOWN || (itself && later->about) || depth == DEPTH_MOST)
        return unknown;
    const struct form before = form_one(value);
    form_add(&added, &before, -1);
    if (itself || added.count == 0)
        return added;
    added = (struct form){.count = 0};
    for (int i = 0; i < later->count; i++) {
        const struct form of = pass_added(pass, later->of[i], depth + 1);
        form_add(&added, &of, later->times[i]);
    }
    return added;
}

/* ... to a sum of such values. */
static struct form pass_sum(const struct pass *pass, const struct form *address)
{
    struct form added = {.count = 0};
    for (int i = 0; i < address->count; i++) {
        const struct form of = pass_added(pass, address->of[i], 0);
        form_add(&added, &of, address->times[i]);
    }
    return address->count == UNKNOWN ? *address : added;
}

/* What one iteration adds to the address of the access. */
static struct form pass_access(struct pass *pass, uint64_t address, bool loaded_rows)
{
    struct state now;
    struct code_instruction instruction = code_decode_at(pass->module, address, true);
    const struct lwp_memory_operand *memory = &instruction.memory;
    const struct form unknown = {.count = UNKNOWN};
    pass->frame = pass_frame(pass);
    pass->loaded_rows = loaded_rows;
    for (uint32_t i = 0; i < pass->count; i++)
        pass_note_changes(pass, pass->order[i]);
    if (!memory->exists || memory->string || memory->gather || !pass_through(pass, address, &now))
        return unknown;
    struct form sum = {.plus = memory->displacement};
    struct form base = memory->base >= 0 ? now.of[memory->base] : (struct form){.count = 0};
    struct form index = memory->index >= 0                     ? now.of[memory->index]
                        : memory->scale && memory->index == -1 ? (struct form){.count = 0}
                                                               : unknown;
    if (memory->base < 0 || memory->index < 0)
        loaded_rows = false;
    if (!loaded_rows || base.count != UNKNOWN)
        form_add(&sum, &base, 1);
    if (memory->index >= 0 && (!loaded_rows || index.count != UNKNOWN || base.count == UNKNOWN))
        form_add(&sum, &index, memory->scale);
    return pass_through(pass, 0, &now) ? pass_sum(pass, &sum) : unknown;
}

/* Begins to follow the code of a loop, or (LWP_NONE) of the whole function. False: it is too long. */
static bool pass_begin(struct pass *pass, struct code_module *module, const struct flow_function *function, uint32_t loop)
{
    const uint32_t count = function->block_count;
    const uint32_t header = loop == LWP_NONE ? 0 : code_flow_block(function, module->code->loops[loop]->header);
    *pass = (struct pass){.module = module, .function = function, .loop = loop, .whole = loop == LWP_NONE};
    pass->order = lwp_zeroed(count, sizeof *pass->order);
    pass->position = lwp_zeroed(count, sizeof *pass->position);
    pass->changed = lwp_zeroed(count, sizeof *pass->changed);
    if (header != LWP_NONE)
        pass->count = code_loop_order(module->code, function, loop, header, pass->order, pass->position);
    pass->in = lwp_zeroed(pass->count + 1, sizeof *pass->in);
    return pass->count && pass->count <= BLOCKS_MOST;
}

static void pass_end(struct pass *pass)
{
    free(pass->order);
    free(pass->position);
    free(pass->changed);
    free(pass->in);
}

/* Of the loop so many around the one that holds the address; LWP_NONE: there is none. */
static uint32_t step_loop(struct lwp_code *code, uint32_t module, uint64_t address, unsigned level, const struct flow_function **function)
{
    struct code_module *in = code_module_at(code, module);
    *function = in ? code_flow_at(in, address) : NULL;
    const uint32_t block = *function ? code_flow_block(*function, address) : LWP_NONE;
    uint32_t loop = block == LWP_NONE ? LWP_NONE : (*function)->blocks[block].loop;
    while (level-- && loop != LWP_NONE)
        loop = code->loops[loop]->parent;
    return loop;
}

enum lwp_loop_step_kind lwp_code_loop_step(struct lwp_code *code, uint32_t module, uint64_t address, unsigned level, bool loaded_rows,
                                           uint32_t *loop, int64_t *step)
{
    struct pass pass;
    const struct flow_function *function;
    struct form added = {.count = UNKNOWN};
    *step = 0;
    *loop = step_loop(code, module, address, level, &function);
    if (*loop == LWP_NONE)
        return LWP_LOOP_STEP_NO_LOOP;
    if (pass_begin(&pass, code_module_at(code, module), function, *loop))
        added = pass_access(&pass, address, loaded_rows);
    pass_end(&pass);
    if (added.count == UNKNOWN)
        return LWP_LOOP_STEP_UNKNOWN;
    *step = added.plus;
    return added.count ? LWP_LOOP_STEP_VARIABLE : LWP_LOOP_STEP_CONSTANT;
}

bool lwp_code_loop_folds(struct lwp_code *code, uint32_t module, uint64_t address)
{
    struct pass pass;
    const struct flow_function *function;
    struct form added = {.count = 0};
    const uint32_t loop = step_loop(code, module, address, 0, &function);
    if (loop == LWP_NONE)
        return false;
    if (pass_begin(&pass, code_module_at(code, module), function, loop))
        added = pass_access(&pass, address, false);
    pass_end(&pass);
    return added.count == UNKNOWN && added.folded;
}

/* ---- rows of a length that is in a register ---- */

/* What registers have where a nest's outermost loop begins, as sums of what there is at the function's entry, of what instructions made
 * since, and of a constant. */
struct begun {
    uint32_t changed;     /* by the nest: not known */
    int32_t slots[SLOTS]; /* of the frame */
    int slot_count;
    struct state at;
};

static bool step_begun(struct lwp_code *code, uint32_t module, uint64_t address, struct begun *begun)
{
    const struct flow_function *function;
    struct pass nest, whole;
    uint32_t loop = step_loop(code, module, address, 0, &function);
    while (loop != LWP_NONE && code->loops[loop]->parent != LWP_NONE)
        loop = code->loops[loop]->parent;
    if (loop == LWP_NONE)
        return false;
    bool found = pass_begin(&nest, code_module_at(code, module), function, loop);
    nest.frame = pass_frame(&nest);
    begun->changed = 0;
    for (uint32_t i = 0; i < nest.count; i++) {
        const struct flow_block *block = &function->blocks[nest.order[i]];
        for (uint64_t at = block->start; at < block->end;) {
            struct code_instruction instruction = code_decode_at(nest.module, at, true);
            begun->changed |= pass_changes(&nest, &instruction);
            at += instruction.length ? instruction.length : 1;
        }
    }
    found = found && pass_begin(&whole, nest.module, function, LWP_NONE);
    if (found) {
        whole.frame = nest.frame;
        memcpy(whole.slots, nest.slots, sizeof whole.slots);
        whole.slot_count = nest.slot_count;
        for (uint32_t i = 0; i < whole.count; i++)
            pass_note_changes(&whole, whole.order[i]);
        found = pass_through(&whole, code->loops[loop]->header, &begun->at);
        memcpy(begun->slots, whole.slots, sizeof begun->slots);
        begun->slot_count = whole.slot_count;
        pass_end(&whole);
    }
    pass_end(&nest);
    return found;
}

/* The form, of values at a loop's head, in what `begun` has. */
static struct form step_resolved(const struct begun *begun, const struct pass *pass, const struct form *form)
{
    struct form sum = {.count = form->count == UNKNOWN ? UNKNOWN : 0, .plus = form->plus};
    for (int i = 0; i < form->count && sum.count != UNKNOWN; i++) {
        int of = form->of[i];
        const struct form unknown = {.count = UNKNOWN};
        for (int k = 0; of >= REGISTERS && k < begun->slot_count; k++)
            if (begun->slots[k] == pass->slots[form->of[i] - REGISTERS])
                of = REGISTERS + k;
        const bool known =
            !(begun->changed >> of & 1) && (of < REGISTERS || begun->slots[of - REGISTERS] == pass->slots[form->of[i] - REGISTERS]);
        form_add(&sum, known ? &begun->at.of[of] : &unknown, form->times[i]);
    }
    return sum;
}

/* What an iteration of the loop `level` around adds to the access's address, in what `begun` has. */
static struct form step_added(struct lwp_code *code, uint32_t module, uint64_t address, unsigned level, const struct begun *begun)
{
    const struct flow_function *function;
    struct form added = {.count = UNKNOWN};
    struct pass pass;
    const uint32_t loop = step_loop(code, module, address, level, &function);
    if (loop == LWP_NONE)
        return added;
    if (pass_begin(&pass, code_module_at(code, module), function, loop)) {
        added = pass_access(&pass, address, false);
        added = step_resolved(begun, &pass, &added);
    }
    pass_end(&pass);
    return added;
}

bool lwp_code_loop_rows(struct lwp_code *code, uint32_t module, uint64_t address, uint64_t row, unsigned level, int64_t *rows,
                        int64_t *bytes)
{
    struct begun *begun = lwp_zeroed(1, sizeof *begun);
    bool found = step_begun(code, module, address, begun);
    const struct form around = found ? step_added(code, module, address, level, begun) : (struct form){.count = UNKNOWN},
                      inner = found ? step_added(code, module, row, 0, begun) : (struct form){.count = UNKNOWN};
    free(begun);
    found = false;
    for (*rows = -1; *rows <= 1 && !found; *rows += 1) {
        struct form left = around;
        form_add(&left, &inner, -*rows);
        *bytes = left.plus;
        found = left.count == 0;
    }
    *rows -= 1; /* the last one tried */
    return found;
}
