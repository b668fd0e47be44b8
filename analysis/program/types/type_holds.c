/* Whether one type holds another at an offset, asked again and again. */
#include "analysis/program/types/type_cache.h"
#include "analysis/program/types/type_members.h"

bool code_type_holds_kept(struct code_module *module, Dwarf_Die outer, uint64_t offset, Dwarf_Die inner)
{
    static char yes, no;
    uint64_t key = lwp_hash_mix(lwp_hash_mix((uintptr_t)outer.addr, offset), (uintptr_t)inner.addr);
    bool fresh;
    void **kept = code_kept_at(&code_types_of(module)->holds, key, &fresh);
    if (fresh)
        *kept = code_type_holds(outer, offset, inner) ? &yes : &no;
    return *kept == &yes;
}

/* Whether one member has room for it there, or it may be a base class or what a node keeps, which have several. */
static bool type_has_room(const struct lwp_type *outer, uint64_t offset, uint64_t bytes)
{
    if (outer->payload)
        return offset + bytes <= outer->bytes;
    for (uint32_t i = 0; i < outer->field_count; i++) {
        const struct lwp_field *field = &outer->fields[i];
        if (offset >= field->offset && (field->bytes == 0 || field->inherited || offset + bytes <= field->offset + field->bytes))
            return true;
    }
    return outer->field_count == 0 || offset == 0;
}

bool lwp_types_hold(const struct lwp_type *outer, uint64_t offset, const struct lwp_type *inner)
{
    if (outer == inner && offset == 0)
        return true;
    if (!type_has_room(outer, offset, inner->bytes))
        return false;
    return outer->die && inner->die && code_type_reads(*(const Dwarf_Die *)outer->die, offset, *(const Dwarf_Die *)inner->die);
}

bool lwp_types_contain(const struct lwp_type *outer, uint64_t offset, const struct lwp_type *inner)
{
    return outer->die && inner->die && type_has_room(outer, offset, inner->bytes) &&
           code_type_holds(*(const Dwarf_Die *)outer->die, offset, *(const Dwarf_Die *)inner->die);
}
