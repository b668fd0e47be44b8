/* A vector as wide as an element loads all of it and drops what it does not need; which lanes survive the shuffles is
 * hard to see. But compilers write the same source loop once more, for the elements that are left over, and that code
 * takes exactly the fields it needs. In: the code on the loop's source lines, and what its pointers lead to
 * (pointers.h). Narrow vectors count there as all they take. One access that leads nowhere known makes it no answer:
 * fields could be missing. Limits: loops whose remainder is masked, or that have none since the count is known, get no
 * answer. */
#include "analysis/program/code.h"

#include "analysis/program/flow/decode.h"
#include "analysis/program/pointers/pointers.h"
#include "analysis/program/types/type_die.h"
#include "analysis/statistics/stride.h"

#include <dwarf.h>
#include <string.h>

enum { FUNCTION_BYTES_MAX = 1 << 16 };

static bool remainder_same_type(const struct code_pointee *pointee, const struct lwp_type *type)
{
    Dwarf_Die stripped = pointee->type;
    if (pointee->descriptor || pointee->bytes != type->bytes)
        return false;
    Dwarf_Die alias = {0};
    if (!type_die_strip(&stripped, &alias))
        return false;
    const char *name = dwarf_diename(&stripped);
    if (!name && alias.addr)
        name = dwarf_diename(&alias);
    return name && type->tag && strcmp(name, type->tag) == 0;
}

/* Whether the instruction is of the source loop, but not of its vector loop. */
static bool remainder_holds(struct lwp_code *code, const struct lwp_vector_loop *loop, uint32_t vector_loop, uint64_t address)
{
    const struct lwp_symbolized *location = lwp_code_symbolize(code, loop->module, address);
    if (location && location->loop == vector_loop)
        return false;
    for (uint32_t i = 0; location && i < location->frame_count; i++) {
        const struct lwp_frame *frame = &location->frames[i];
        if (frame->file && frame->line >= loop->first_line && frame->line <= loop->last_line && strcmp(frame->file, loop->file) == 0)
            return true;
    }
    return false;
}

/* Through a pointer: not to the stack or a static variable. */
static bool remainder_follows_pointer(const struct lwp_memory_operand *memory)
{
    return memory->exists && memory->base != CODE_RIP && memory->base != CODE_RSP;
}

size_t lwp_remainder_uses(struct lwp_code *code, const struct lwp_vector_loop *loop, const struct lwp_type *type,
                          struct lwp_remainder_use *uses, size_t room)
{
    struct code_module *module = code ? code_module_at(code, loop->module) : NULL;
    struct code_range range;
    const char *name;
    size_t count = 0;
    const struct lwp_symbolized *vector = module ? lwp_code_symbolize(code, loop->module, loop->address) : NULL;
    if (!vector || vector->loop == LWP_NONE || !loop->file || !loop->first_line || !type->bytes ||
        !code_function_at(module, loop->address, &range, &name) || range.high - range.low > FUNCTION_BYTES_MAX)
        return 0;
    for (uint64_t at = range.low, next; at < range.high; at = next) {
        struct code_instruction instruction = code_decode_at(module, at, true);
        next = at + (instruction.length ? instruction.length : 1);
        if (!instruction.length || !remainder_follows_pointer(&instruction.memory) || !remainder_holds(code, loop, vector->loop, at))
            continue;
        struct code_target target;
        if (!code_points_to(module, at, &target))
            return 0;
        if (!remainder_same_type(&target.pointee, type))
            continue;
        if (target.modulus % type->bytes || count == room)
            return 0;
        uses[count++] = (struct lwp_remainder_use){lwp_stride_residue(target.offset, type->bytes), instruction.memory.bytes};
    }
    return count;
}
