#include "collector/exact/trace/access_numbers.h"

#include "collector/exact/program/options.h"
#include "collector/exact/program/trace_words.h"
#include "collector/exact/valgrind/emit.h"

#include <stdbool.h>

enum {
    UNIT = 16,      /* numbers; a group has as many on each path, or a multiple */
    CHUNK_BITS = 8, /* bytes of code that is neighbouring */
    OPEN = 1 << 12, /* chunks whose group may take more superblocks */
    UNITS_FIRST = 1 << 12,
    GROUPS_FIRST = 1 << 10,
    TOGETHER = 16,
    PLACE_BITS = 23,
    UNITS_MOST = (LWP_NUMBERED_NOBODY - LWP_NUMBERED_MOST) / UNIT,
};
_Static_assert(UNITS_MOST < 1 << PLACE_BITS, "a unit's place fits into a slot");
_Static_assert(LWP_NUMBERED_MOST % UNIT == 0, "whole units");

/* Whose the numbers of a unit are. */
struct unit {
    uint32_t group, node;
};

static struct lwp_numbered_group **groups; /* by id */
static uint32_t group_count, group_room;
static struct open {
    Addr chunk;
    struct lwp_numbered_group *group; /* NULL: none */
} open_groups[OPEN];

static struct unit *units; /* the first is nobody's */
static uint32_t unit_count = 1, unit_room;

/* A group's first unit on a path, by group and node; 0: free; above it bits of the hash, as most units differ there. */
static uint32_t *slots;
static uint32_t slot_room;

static struct lwp_numbered_group *numbers_group(UInt most)
{
    UInt room = most ? (most + UNIT - 1) / UNIT * UNIT : UNIT;
    struct lwp_numbered_group *group = VG_(calloc)("lwp.numbers", 1, sizeof *group + room * sizeof group->access[0]);
    if (group_count >= group_room) {
        group_room = group_room ? 2 * group_room : GROUPS_FIRST;
        groups = VG_(realloc)("lwp.numbers", groups, group_room * sizeof *groups);
    }
    group->id = group_count;
    group->room = room;
    group->node = UINT32_MAX;
    return groups[group_count++] = group;
}

struct lwp_numbered_block lwp_numbers_block(Addr ip, UInt most)
{
    Addr chunk = ip >> CHUNK_BITS;
    struct open *open = &open_groups[chunk % OPEN];
    most = most < LWP_NUMBERED_MOST ? most : LWP_NUMBERED_MOST;
    if (!open->group || open->chunk != chunk || open->group->used + most > open->group->room)
        *open = (struct open){chunk, numbers_group(most)};
    open->group->used += most;
    return (struct lwp_numbered_block){.group = open->group, .first = open->group->used - most};
}

UInt lwp_numbers_index(struct lwp_numbered_block *block, const struct lwp_numbered_access *access)
{
    struct lwp_numbered_access *list = block->group->access + block->first;
    for (UInt i = 0; i < block->count; i++)
        if (list[i].ip == access->ip && list[i].bytes == access->bytes && list[i].flags == access->flags)
            return block->first + i;
    if (block->count < LWP_NUMBERED_MOST)
        list[block->count++] = *access;
    return block->first + block->count - 1;
}

/* Groups that were made one after the other lie side by side. */
static uint32_t *numbers_slot(uint32_t group, uint32_t node, uint32_t *mark)
{
    uint64_t hash = ((uint64_t)(group / TOGETHER) << 32 | node) * 0x9e3779b97f4a7c15u;
    uint32_t mask = slot_room - 1, at = ((uint32_t)(hash >> 32) * TOGETHER + group % TOGETHER) & mask;
    *mark = ((uint32_t)(hash >> PLACE_BITS) + group) << PLACE_BITS;
    for (; slots[at]; at = (at + 1) & mask) {
        if ((slots[at] ^ *mark) >> PLACE_BITS)
            continue;
        const struct unit *unit = &units[slots[at] & ((1u << PLACE_BITS) - 1)];
        if (unit->group == group && unit->node == node)
            break;
    }
    return &slots[at];
}

/* It goes on what the unit before it began. */
static bool unit_goes_on(uint32_t unit)
{
    return unit > 1 && units[unit].group == units[unit - 1].group && units[unit].node == units[unit - 1].node;
}

/* To hold so many more. */
static void numbers_grow(uint32_t more)
{
    uint32_t mark;
    if (unit_count + more <= unit_room)
        return;
    unit_room = unit_room ? 2 * unit_room : UNITS_FIRST;
    units = VG_(realloc)("lwp.numbers", units, unit_room * sizeof *units);
    VG_(free)(slots);
    slot_room = 2 * unit_room;
    slots = VG_(calloc)("lwp.numbers", slot_room, sizeof *slots);
    for (uint32_t i = 1; i < unit_count; i++) {
        if (unit_goes_on(i))
            continue;
        uint32_t *slot = numbers_slot(units[i].group, units[i].node, &mark);
        *slot = mark | i;
    }
}

void lwp_numbers_enter(struct lwp_numbered_group *group)
{
    uint32_t each = group->room / UNIT, mark;
    numbers_grow(each);
    uint32_t *slot = numbers_slot(group->id, lwp_context_now, &mark);
    group->node = lwp_context_now;
    if (!*slot && unit_count + each > UNITS_MOST) {
        group->base = UNITS_MOST * UNIT;
        return;
    }
    if (!*slot) {
        *slot = mark | unit_count;
        for (uint32_t i = 0; i < each; i++)
            units[unit_count++] = (struct unit){group->id, lwp_context_now};
    }
    group->base = (*slot & ((1u << PLACE_BITS) - 1)) * UNIT;
}

IRExpr *lwp_numbers_base(IRSB *out, const struct lwp_numbered_group *group)
{
    IRExpr *base = emit_value(out, IRExpr_Load(Iend_LE, Ity_I32, emit_pointer(&group->base)));
    return emit_value(out, IRExpr_Unop(Iop_32Uto64, base));
}

/* Outside of windows, where only they count, the node is not kept up (calls.h). */
static VG_REGPARM(1) void numbers_called(struct lwp_numbered_group *group)
{
    if (lwp_trace_open || !lwp_exact_options.windows)
        lwp_numbers_enter(group);
}

IRExpr *lwp_numbers_emit(IRSB *out, struct lwp_numbered_group *group)
{
    IRExpr *now = emit_value(out, IRExpr_Load(Iend_LE, Ity_I32, emit_pointer(&lwp_context_now)));
    IRExpr *last = emit_value(out, IRExpr_Load(Iend_LE, Ity_I32, emit_pointer(&group->node)));
    EMIT_CALL(out, emit_binary(out, Iop_CmpNE32, now, last), 1, numbers_called, mkIRExprVec_1(emit_pointer(group)));
    return lwp_numbers_base(out, group);
}

const struct lwp_numbered_access *lwp_numbers_access(uint32_t number, uint32_t *node)
{
    uint32_t unit = number / UNIT;
    if (!unit || unit >= unit_count)
        return NULL;
    while (unit_goes_on(unit))
        unit--;
    const struct lwp_numbered_group *group = groups[units[unit].group];
    *node = units[unit].node;
    return &group->access[number - unit * UNIT];
}

uint32_t lwp_numbers_in_file(uint32_t number, struct lwp_context_map *contexts, struct lwps_writer *file,
                             struct lwps_access *access)
{
    uint32_t node;
    const struct lwp_numbered_access *at = lwp_numbers_access(number, &node);
    *access = (struct lwps_access){.source = LWPS_SOURCE_TRACE};
    if (!at)
        return 0;
    access->ip = at->ip;
    access->bytes = at->bytes;
    access->flags = at->flags;
    return lwp_context_in_file(contexts, file, node);
}
