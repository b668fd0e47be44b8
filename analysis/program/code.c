/* Code locations of the profiled program: keeps the answers already given, and asks the other files: modules.c (which
 * file is it), symbols.c (symbols, bounds), scopes.c (DWARF functions, lines, inlining), code_loops.c (loops). */
#include "analysis/program/code.h"

#include "analysis/program/binary/jit_code.h"
#include "analysis/program/debug/scopes.h"
#include "analysis/program/flow/code_loops.h"
#include "analysis/program/pointers/pointers.h"

#include <stdlib.h>
#include <string.h>

struct lwp_code *lwp_code_new(struct lwp_arena *arena)
{
    struct lwp_code *code = lwp_arena_alloc(arena, 1, sizeof *code);
    code->arena = arena;
    elf_version(EV_CURRENT);
    code_file_guard();
    return code;
}

void lwp_code_free(struct lwp_code *code)
{
    if (!code)
        return;
    for (size_t i = 0; i < code->module_count; i++) {
        struct code_module *module = code->modules[i];
        code_pointers_free(module->types);
        code_types_free(module->types);
        code_flow_free(&module->functions);
        code_scopes_free(&module->scopes);
        code_debug_free(module->debug);
        code_symbols_free(module->symbols);
        code_elf_close(module);
        code_kept_free(&module->locations);
        lwp_jit_code_free(module->jit);
        lwp_map_free(module->noreturn);
        lwp_map_free(module->pure);
        free(module->sections);
        free(module->segments);
    }
    free(code->modules);
    free(code->loops);
    code_kept_free(&code->strings);
    code_kept_free(&code->loop_accesses);
    code_kept_free(&code->loop_facts);
    code_kept_free(&code->types);
    code_kept_free(&code->names);
    code_kept_free(&code->children);
}

static void location_in_jit(struct lwp_symbolized *location, const struct code_module *module)
{
    struct code_range range = {0};
    struct lwp_frame *frame = lwp_arena_alloc(module->code->arena, 1, sizeof *frame);
    frame->function = code_intern(module->code, code_jit_function(module->jit, location->address, &range));
    const char *file = NULL;
    if (code_jit_line(module->jit, location->address, &file, &frame->line))
        frame->file = code_intern(module->code, file);
    location->unread = true;
    location->function_low = range.low;
    location->function_high = range.high;
    location->frames = frame;
    location->frame_count = 1;
}

static struct lwp_symbolized *location_new(struct lwp_code *code, struct code_module *module, uint64_t address)
{
    struct lwp_symbolized *location = lwp_arena_alloc(code->arena, 1, sizeof *location);
    location->module = module ? module->index : LWP_NONE;
    location->address = address;
    location->loop = LWP_NONE;
    struct code_range range;
    const char *name = NULL;
    if (module && module->jit) {
        location_in_jit(location, module);
        return location;
    }
    if (module && code_function_at(module, address, &range, &name)) {
        location->function_low = range.low;
        location->function_high = range.high;
        location->outlined = name && (strstr(name, "._omp_fn.") || strstr(name, ".omp_outlined"));
        location->loop = code_loop_at(module, address);
    }
    if (module && (location->frames = code_frames(module, address, &location->frame_count)))
        return location;
    struct lwp_frame *frame = lwp_arena_alloc(code->arena, 1, sizeof *frame);
    if (module && !name && (name = code_import_at_stub(module, address)))
        frame->function = code_intern(code, lwp_arena_printf(code->arena, "%s@plt", code_demangle(code, name)));
    else if (name)
        frame->function = code_demangle(code, name);
    if (module)
        code_line_at(module, address, &frame->file, &frame->line, NULL);
    location->frames = frame;
    location->frame_count = 1;
    return location;
}

const struct lwp_symbolized *lwp_code_symbolize(struct lwp_code *code, uint32_t module_index, uint64_t address)
{
    struct code_module *module = code_module_at(code, module_index);
    if (!module)
        return location_new(code, NULL, address);
    void **kept = code_kept_at(&module->locations, address, NULL);
    if (!*kept)
        *kept = location_new(code, module, address);
    return *kept;
}

bool lwp_code_same_expression(struct lwp_code *code, uint32_t module_index, uint64_t a, uint64_t b)
{
    struct code_module *module = code_module_at(code, module_index);
    struct code_scopes *scopes = module ? code_scopes_at(module, a) : NULL;
    const char *files[2];
    uint32_t lines[2], column = scopes ? code_column_at(module, a) : 0;
    if (!column || scopes != code_scopes_at(module, b) || column != code_column_at(module, b) ||
        scopes->items[code_scope_find(scopes, a)].function != scopes->items[code_scope_find(scopes, b)].function)
        return false;
    code_line_at(module, a, &files[0], &lines[0], NULL);
    code_line_at(module, b, &files[1], &lines[1], NULL);
    return lines[0] && lines[0] == lines[1] && files[0] == files[1];
}
