/* The variables in scope at an address. */
#include "analysis/program/types/type_scope.h"

#include "analysis/program/types/type_die.h"
#include "analysis/program/types/type_variables.h"

#include <dwarf.h>

enum { SCOPE_CHILDREN = 200000, SCOPE_VISITS = 20000 };
static const uint64_t function_visits = 1 << 22; /* what a compiler writes takes far fewer */

static void scope_list_variables(struct code_scope *scope)
{
    Dwarf_Die child;
    size_t count = 0, room = 0;
    int budget = SCOPE_CHILDREN;
    for (bool more = code_die_child(&scope->die, &child); more && budget-- > 0; more = code_die_next(&child, &child)) {
        int tag = dwarf_tag(&child);
        if (tag != DW_TAG_variable && tag != DW_TAG_formal_parameter)
            continue;
        LWP_GROW(&scope->variables, count, &room);
        scope->variables[count++] = child;
    }
    scope->variable_count = (uint32_t)count;
    scope->has_variables = true;
}

bool code_variables(struct code_module *module, uint64_t pc, code_variable_visit *visit, void *context)
{
    struct code_scopes *scopes = code_scopes_at(module, pc);
    int budget = SCOPE_VISITS;
    if (!scopes)
        return false;
    for (uint32_t scope = code_scope_find(scopes, pc); scope != LWP_NONE; scope = scopes->items[scope].parent) {
        struct code_scope *in = &scopes->items[scope];
        if (!in->has_variables)
            scope_list_variables(in);
        for (uint32_t i = 0; i < in->variable_count && budget-- > 0 && scopes->visits++ < function_visits; i++)
            if (visit(&in->variables[i], &scopes->items[0].die, context))
                return true;
    }
    return false;
}

struct frame_search {
    struct code_module *module;
    uint64_t pc;
    int64_t offset, start;
    uint64_t bytes;
    Dwarf_Die *variable;
};

static bool scope_match_frame(Dwarf_Die *variable, Dwarf_Die *function, void *context)
{
    struct frame_search *search = context;
    struct code_location location = code_variable_location(search->module, variable, function, search->pc);
    Dwarf_Die type;
    uint64_t bytes;
    if (location.kind != CODE_LOCATION_FRAME || !type_die_of(variable, &type) || !type_die_bytes(&type, &bytes) ||
        search->offset < location.offset || (uint64_t)(search->offset - location.offset) >= bytes)
        return false;
    *search->variable = *variable;
    search->start = location.offset;
    search->bytes = bytes;
    return true;
}

bool code_frame_variable(struct code_module *module, uint64_t pc, int64_t offset, Dwarf_Die *variable, int64_t *start,
                         uint64_t *bytes)
{
    struct frame_search search = {.module = module, .pc = pc, .offset = offset, .variable = variable};
    if (!code_variables(module, pc, scope_match_frame, &search))
        return false;
    *start = search.start;
    *bytes = search.bytes;
    return true;
}
