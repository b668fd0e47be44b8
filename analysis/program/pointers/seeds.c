/* Seeds of the data flow: variables and parameters, inlined ones too, that location lists place in registers over some
 * addresses. A variable may be in one register, or in pieces in several (slices, iterators); of a structure the pointer
 * in it is what counts.
 * Limits: a value that only the caller knows (DW_OP_entry_value) and computed ones are left out. Where the compiler followed no
 * variables, parameters are known where the function begins; the flow takes them on from there. */
#include "analysis/program/flow/decode.h"
#include "analysis/program/pointers/pointer_flow.h"
#include "analysis/program/pointers/pointers.h"

#include "analysis/program/types/type_die.h"
#include "analysis/program/types/type_variables.h"
#include "base/order.h"

#include <dwarf.h>
#include <stdlib.h>

enum { SEEDS_LIMIT = 50000, SEEDS_VARIABLES = 20000, SEEDS_RANGES = 2000, SEEDS_RECORD = 1 << 20 };

static void seed_add(struct code_seeds *seeds, const struct code_seed *seed)
{
    LWP_GROW(&seeds->items, seeds->count, &seeds->capacity);
    seeds->items[seeds->count++] = *seed;
}

static bool seed_ends_piece(const Dwarf_Op *op)
{
    return op->atom == DW_OP_piece || op->atom == DW_OP_bit_piece;
}

/* The value is in a register, or is a sum of one and a constant; `*next`: counted on by the operations that say so. */
static bool seed_in_register(const Dwarf_Op *ops, size_t count, struct code_seed *seed, size_t *next)
{
    ++*next;
    if (code_register_op(&ops[0], false, &seed->reg, &seed->offset))
        return true;
    if (count < 2 || ops[1].atom != DW_OP_stack_value || !code_register_op(&ops[0], true, &seed->reg, &seed->offset))
        return false;
    seed->offset = -seed->offset;
    ++*next;
    return true;
}

/* The variable is in memory, at what the first argument points to. */
static void seed_in_record(struct code_seeds *seeds, struct code_module *module, Dwarf_Die type, uint64_t more, struct code_seed seed)
{
    seed.offset += (int64_t)more;
    seed.stored = true;
    if (seed.reg == pointer_arguments[0] && code_pointer_at(module, type, 0, &seed.pointee))
        seed_add(seeds, &seed);
}

static void seeds_of_location(struct code_seeds *seeds, struct code_module *module, Dwarf_Die type, const Dwarf_Op *ops, size_t count,
                              struct code_seed seed)
{
    uint64_t part = 0;
    if (seeds->count >= SEEDS_LIMIT)
        return;
    bool more = count == 2 && ops[1].atom == DW_OP_plus_uconst && ops[1].number < SEEDS_RECORD;
    if ((count == 1 || more) && code_register_op(&ops[0], true, &seed.reg, &seed.offset)) {
        seed_in_record(seeds, module, type, more ? ops[1].number : 0, seed);
        seed.offset = -seed.offset;
        if (!more && seed.reg != CODE_RSP && seed.reg != CODE_RBP && code_pointee_itself(type, &seed.pointee))
            seed_add(seeds, &seed);
        return;
    }
    for (size_t i = 0; i < count;) {
        size_t next = i; /* a piece may have no place at all */
        bool known = !seed_ends_piece(&ops[i]) && seed_in_register(&ops[i], count - i, &seed, &next);
        bool whole = next == count;
        while (next < count && !seed_ends_piece(&ops[next])) {
            known = false;
            next++;
        }
        if (!whole && (next == count || ops[next].atom != DW_OP_piece || ops[next].number > 64))
            return;
        struct code_seed own = seed;
        if (known && (!whole || part == 0) && code_pointer_at(module, type, part, &own.pointee)) {
            own.pointee.of_caller = seed.pointee.of_caller;
            seed_add(seeds, &own);
        }
        if (whole)
            return;
        part += ops[next].number;
        i = next + 1;
    }
}

static void seeds_of_variable(struct code_seeds *seeds, struct code_scopes *scopes, Dwarf_Die *variable, uint32_t scope, bool named)
{
    struct code_module *module = scopes->module;
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    Dwarf_Op *ops;
    Dwarf_Addr base, low, high;
    size_t count;
    ptrdiff_t offset = 0;
    if (!dwarf_attr(variable, DW_AT_location, &attribute) || !type_die_of(variable, &type))
        return;
    struct code_seed seed = {
        .scope = scope,
        .pointee = {.name = named ? code_die_label(module->code, variable) : "", .of_caller = code_variable_is_of_caller(variable)}};
    for (int i = 0; i < SEEDS_RANGES; i++) {
        offset = dwarf_getlocations(&attribute, offset, &base, &low, &high, &ops, &count);
        if (offset <= 0)
            return;
        seed.low = low;
        seed.high = high;
        seed.scoped = low == 0 && high == UINT64_MAX;
        if (seed.scoped && code_parameter_handed_over(scopes, scope, variable)) {
            seed.low = code_scopes_entry(scopes);
            seed.high = seed.low + 1;
            seed.scoped = false;
        }
        if (seed.high > seed.low && count)
            seeds_of_location(seeds, module, type, ops, count, seed);
    }
}

void code_seeds_of(struct code_scopes *scopes, struct code_seeds *seeds)
{
    int budget = SEEDS_VARIABLES;
    for (uint32_t scope = 0; scope < scopes->count && budget > 0; scope++) {
        const struct code_scope *in = code_scope_with_variables(scopes, scope);
        bool named = !in->variable_count || !code_scope_is_library(scopes, scope);
        for (uint32_t i = 0; i < in->variable_count && budget-- > 0; i++)
            seeds_of_variable(seeds, scopes, &in->variables[i], scope, named);
    }
    LWP_SORT(seeds->items, seeds->count, lwp_by_first_two);
}
