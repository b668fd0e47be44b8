#include "analysis/program/types/type_cache.h"

#include "analysis/program/types/type_leads.h"

#include <stdlib.h>

struct code_types *code_types_of(struct code_module *module)
{
    if (!module->types) {
        module->types = calloc(1, sizeof *module->types);
        if (!module->types)
            abort();
        module->types->by_die = lwp_map_new();
        module->types->alias_units = lwp_map_new();
        module->types->alias_of = lwp_map_new();
        module->types->leads_by_die = lwp_map_new();
        module->types->candidates_by_scope = lwp_map_new();
        module->types->flow_by_function = lwp_map_new();
    }
    return module->types;
}

void code_types_free(struct code_types *types)
{
    if (!types)
        return;
    lwp_map_free(types->by_die);
    lwp_map_free(types->alias_units);
    lwp_map_free(types->alias_of);
    free(types->aliases);
    lwp_map_free(types->leads_by_die);
    lwp_map_free(types->candidates_by_scope);
    free(types->statics);
    for (size_t i = 0; i < types->leads_count; i++)
        free(types->leads[i]->items);
    free(types->leads);
    free(types->candidates);
    lwp_map_free(types->flow_by_function);
    free(types->flows);
    free(types->calls);
    if (types->cfi)
        dwarf_cfi_end(types->cfi);
    free(types);
}
