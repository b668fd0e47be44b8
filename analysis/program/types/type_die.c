/* Properties of type DIEs. libdw's own walks (dwarf_peel_type, dwarf_aggregate_size) follow a typedef that names
 * itself for ever, so everything here counts its steps. */
#include "analysis/program/types/type_die.h"

#include "analysis/program/debug/definitions.h"

#include <dwarf.h>
#include <string.h>

enum { TYPE_STEPS = 48, TYPE_DEPTH = 16, TYPE_DIMENSIONS = 32 };
#define TYPE_BYTES_LIMIT ((uint64_t)1 << 46)

bool type_die_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(die, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, type);
}

bool type_die_flag(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    bool flag = false;
    return dwarf_attr(die, name, &attribute) && dwarf_formflag(&attribute, &flag) == 0 && flag;
}

bool type_die_storage(Dwarf_Die *type, Dwarf_Die *held)
{
    static const char *const names[] = {"__aligned_membuf", "__aligned_buffer"};
    const char *name = dwarf_tag(type) == DW_TAG_structure_type ? dwarf_diename(type) : NULL;
    Dwarf_Die parameter;
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++) {
        const size_t length = strlen(names[i]);
        if (strncmp(name, names[i], length) == 0 && (name[length] == '<' || !name[length]))
            return code_die_named(type, DW_TAG_template_type_parameter, "_Tp", &parameter) && type_die_of(&parameter, held);
    }
    return false;
}

/* What is held may be declared only, in another unit. */
static bool type_is_whole(Dwarf_Die *storage, Dwarf_Die *held)
{
    uint64_t room, bytes = type_die_is_pointer(held) ? sizeof(uint64_t) : 0;
    return code_die_number(storage, DW_AT_byte_size, &room) && (bytes || code_die_number(held, DW_AT_byte_size, &bytes)) && bytes == room;
}

bool type_die_strip(Dwarf_Die *type, Dwarf_Die *alias)
{
    Dwarf_Die storage = {0}, outer = {0};
    if (alias)
        alias->addr = NULL;
    for (int step = 0; step < TYPE_STEPS; step++) {
        Dwarf_Attribute attribute;
        Dwarf_Die definition;
        int tag = dwarf_tag(type);
        if (code_die_is_struct(type) && dwarf_attr(type, DW_AT_signature, &attribute) &&
            dwarf_formref_die(&attribute, &definition))
            *type = definition;
        else if (code_die_is_struct(type) && code_definition_of(type, &definition))
            *type = definition;
        Dwarf_Die next;
        if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type && tag != DW_TAG_restrict_type &&
            tag != DW_TAG_atomic_type && tag != DW_TAG_immutable_type) {
            if (!storage.addr && type_die_storage(type, &next)) {
                storage = *type;
                outer = alias ? *alias : outer;
                if (alias)
                    alias->addr = NULL;
                *type = next;
                continue;
            }
            if (storage.addr && !type_is_whole(&storage, type)) {
                *type = storage;
                if (alias)
                    *alias = outer;
            }
            return true;
        }
        if (tag == DW_TAG_typedef && alias && !alias->addr)
            *alias = *type;
        if (!type_die_of(type, &next))
            return false;
        *type = next;
    }
    return false;
}

bool type_die_is_volatile(Dwarf_Die *type)
{
    Dwarf_Die at = *type;
    for (int step = 0; step < TYPE_STEPS; step++)
        switch (dwarf_tag(&at)) {
        case DW_TAG_volatile_type:
        case DW_TAG_atomic_type:
            return true;
        case DW_TAG_typedef:
        case DW_TAG_const_type:
        case DW_TAG_array_type:
            if (type_die_of(&at, &at))
                break;
            return false;
        default:
            return false;
        }
    return false;
}

enum lwp_language type_die_language(Dwarf_Die *unit)
{
    if (code_die_is_c(unit))
        return LWP_LANGUAGE_C;
    if (dwarf_tag(unit) == DW_TAG_partial_unit && !dwarf_hasattr(unit, DW_AT_language)) /* dwz made it */
        return LWP_LANGUAGE_CXX;
    switch (dwarf_srclang(unit)) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case DW_LANG_ObjC_plus_plus:
    case 0x2b: /* C++17 */
    case 0x2e: /* C++20 */
        return LWP_LANGUAGE_CXX;
    case DW_LANG_Fortran77:
    case DW_LANG_Fortran90:
    case DW_LANG_Fortran95:
    case DW_LANG_Fortran03:
    case DW_LANG_Fortran08:
    case 0x2d: /* Fortran 18 */
        return LWP_LANGUAGE_FORTRAN;
    case DW_LANG_Rust:
    case 0x9000: /* rustc before DWARF had a number for it */
        return LWP_LANGUAGE_RUST;
    default:
        return LWP_LANGUAGE_OTHER;
    }
}

bool type_die_is_pointer(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

uint64_t type_die_dimension(Dwarf_Die *range)
{
    uint64_t count;
    int64_t upper, lower = 0;
    if (dwarf_hasattr(range, DW_AT_count))
        return code_die_number(range, DW_AT_count, &count) ? count : 0;
    if (!code_die_bound(range, DW_AT_upper_bound, &upper) || upper < 0 || (uint64_t)upper >= TYPE_BYTES_LIMIT)
        return 0;
    if (dwarf_hasattr(range, DW_AT_lower_bound)) {
        if (!code_die_bound(range, DW_AT_lower_bound, &lower) || lower > upper || lower < -(int64_t)TYPE_BYTES_LIMIT)
            return 0;
    } else {
        Dwarf_Die unit;
        Dwarf_Sword usual;
        if (dwarf_diecu(range, &unit, NULL, NULL) && !dwarf_default_lower_bound(dwarf_srclang(&unit), &usual))
            lower = usual;
    }
    return (uint64_t)(upper - lower) + 1;
}

bool type_die_array(Dwarf_Die *array, Dwarf_Die *element, uint64_t *elements)
{
    *elements = 1;
    Dwarf_Die at = *array;
    for (int step = 0; step < TYPE_STEPS; step++) {
        if (dwarf_tag(&at) != DW_TAG_array_type) {
            *element = at;
            return step > 0;
        }
        int dimensions = 0;
        for (Dwarf_Die child = code_die_first(&at); child.addr && dimensions < TYPE_DIMENSIONS;
             child = code_die_after(&child)) {
            if (dwarf_tag(&child) != DW_TAG_subrange_type && dwarf_tag(&child) != DW_TAG_enumeration_type)
                continue;
            uint64_t count = type_die_dimension(&child);
            if (__builtin_mul_overflow(*elements, count, elements) || *elements > TYPE_BYTES_LIMIT)
                *elements = 0;
            dimensions++;
        }
        if (!dimensions)
            *elements = 0;
        Dwarf_Die next, stripped;
        if (!type_die_of(&at, &next))
            return false;
        stripped = next;
        if (!type_die_strip(&stripped, NULL))
            return false;
        if (dwarf_tag(&stripped) != DW_TAG_array_type) {
            *element = next; /* with its typedef */
            return true;
        }
        at = stripped;
    }
    return false;
}

bool type_die_bytes(Dwarf_Die *type, uint64_t *bytes)
{
    Dwarf_Die stripped = *type, element;
    uint64_t elements = 1;
    if (!type_die_strip(&stripped, NULL))
        return false;
    uint64_t size;
    if (code_die_number(&stripped, DW_AT_byte_size, bytes))
        return *bytes <= TYPE_BYTES_LIMIT;
    if (type_die_is_pointer(&stripped)) {
        *bytes = 8;
        return true;
    }
    if (dwarf_tag(&stripped) != DW_TAG_array_type || !type_die_array(&stripped, &element, &elements) ||
        !type_die_strip(&element, NULL))
        return false;
    if (type_die_is_pointer(&element))
        size = 8;
    else if (!code_die_number(&element, DW_AT_byte_size, &size))
        return false;
    return !__builtin_mul_overflow(elements, size, bytes) && *bytes <= TYPE_BYTES_LIMIT;
}

bool type_die_own_alignment(Dwarf_Die *die, uint64_t *alignment)
{
    uint64_t value;
    if (!code_die_number(die, DW_AT_alignment, &value) || !value || value > 4096)
        return false;
    *alignment = value;
    return true;
}

static uint64_t type_alignment(Dwarf_Die *type, int depth, int *budget)
{
    Dwarf_Die stripped = *type, inner;
    uint64_t elements, bytes, most = 1;
    if (depth > TYPE_DEPTH || --*budget < 0)
        return 1;
    if (type_die_own_alignment(type, &most))
        return most;
    if (!type_die_strip(&stripped, NULL) || type_die_own_alignment(&stripped, &most))
        return most;
    if (dwarf_tag(&stripped) == DW_TAG_array_type)
        return type_die_array(&stripped, &inner, &elements) ? type_alignment(&inner, depth + 1, budget) : 1;
    if (!code_die_is_struct(&stripped))
        return type_die_bytes(&stripped, &bytes) && bytes && bytes <= 16 && !(bytes & (bytes - 1)) ? bytes : 1;
    for (Dwarf_Die child = code_die_first(&stripped); child.addr && *budget > 0; child = code_die_after(&child)) {
        int tag = dwarf_tag(&child);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || type_die_flag(&child, DW_AT_external) ||
            !type_die_of(&child, &inner))
            continue;
        uint64_t own = type_alignment(&inner, depth + 1, budget);
        most = own > most ? own : most;
    }
    return most;
}

uint64_t type_die_alignment(Dwarf_Die *type)
{
    int budget = 2000;
    return type_alignment(type, 0, &budget);
}

bool type_die_offset(Dwarf_Die *member, uint64_t *offset)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *ops;
    size_t count;
    *offset = 0;
    if (!dwarf_attr(member, DW_AT_data_member_location, &attribute))
        return true; /* of a union, or a bit-field placed by DW_AT_data_bit_offset */
    if (dwarf_formudata(&attribute, offset) == 0)
        return *offset <= TYPE_BYTES_LIMIT;
    if (dwarf_getlocation(&attribute, &ops, &count) == 0 && count == 1 && ops[0].atom == DW_OP_plus_uconst)
        *offset = ops[0].number;
    else
        return false; /* a virtual base: its place is known at run time only */
    return *offset <= TYPE_BYTES_LIMIT;
}
