/* The places of the profiled program: keeps the answers already given, and asks the other files: modules.c (which
 * file is it), symbols.c (symbols, bounds), scopes.c (DWARF functions, lines, inlining), code_loops.c (loops). */
#include "analysis/program/code.h"

#include "analysis/program/binary/file_guard.h"
#include "analysis/program/binary/module.h"
#include "analysis/program/debug/scopes.h"
#include "analysis/program/flow/code_loops.h"
#include "analysis/program/types/type_cache.h"
#include "analysis/program/types/type_flow.h"

#include <stdlib.h>
#include <string.h>

struct lwp_code *lwp_code_new(struct lwp_arena *arena)
{
    struct lwp_code *code = lwp_arena_alloc(arena, 1, sizeof *code);
    code->arena = arena;
    code->strings = lwp_map_new();
    code->accesses_by_loop = lwp_map_new();
    code->bodies_by_loop = lwp_map_new();
    code->types_by_content = lwp_map_new();
    elf_version(EV_CURRENT);
    lwp_file_guard();
    return code;
}

void lwp_code_free(struct lwp_code *code)
{
    if (!code)
        return;
    for (size_t i = 0; i < code->module_count; i++) {
        struct code_module *module = code->modules[i];
        code_flow_answers_free(module->types);
        code_types_free(module->types);
        code_flow_free(module->flow);
        code_debug_free(module->debug);
        code_symbols_free(module->symbols);
        code_elf_close(module);
        lwp_map_free(module->places);
        lwp_map_free(module->noreturn);
        free(module->sections);
        free(module->segments);
    }
    free(code->modules);
    lwp_map_free(code->strings);
    free(code->string_items);
    free(code->places);
    free(code->loops);
    free(code->source_loops);
    lwp_map_free(code->accesses_by_loop);
    for (size_t i = 0; i < code->accesses_count; i++)
        free(code->accesses[i].items);
    free(code->accesses);
    lwp_map_free(code->bodies_by_loop);
    free(code->bodies);
    free(code->types);
    lwp_map_free(code->types_by_content);
}

static const struct lwp_symbolized *place_new(struct lwp_code *code, struct code_module *module, uint64_t address)
{
    struct lwp_symbolized *place = lwp_arena_alloc(code->arena, 1, sizeof *place);
    place->module = module ? module->index : LWP_NONE;
    place->address = address;
    place->loop = LWP_NONE;
    struct code_range range;
    const char *name = NULL;
    if (module && code_function_at(module, address, &range, &name)) {
        place->function_low = range.low;
        place->function_high = range.high;
        place->loop = code_loop_at(module, range, address);
    }
    if (module && (place->frames = code_frames(module, address, &place->frame_count)))
        return place;
    struct lwp_frame *frame = lwp_arena_alloc(code->arena, 1, sizeof *frame);
    if (module && !name && (name = code_import_at_stub(module, address)))
        frame->function = code_intern(code, lwp_arena_printf(code->arena, "%s@plt", code_demangle(code, name)));
    else if (name)
        frame->function = code_demangle(code, name);
    if (module)
        code_line_at(module, address, &frame->file, &frame->line);
    place->frames = frame;
    place->frame_count = 1;
    return place;
}

const struct lwp_symbolized *lwp_code_symbolize(struct lwp_code *code, uint32_t module_index, uint64_t address)
{
    struct code_module *module = code_module_at(code, module_index);
    if (!module)
        return place_new(code, NULL, address);
    uint32_t known = lwp_map_get(module->places, address);
    if (known != LWP_MAP_NONE)
        return code->places[known];
    const struct lwp_symbolized *place = place_new(code, module, address);
    LWP_GROW(&code->places, code->place_count, &code->place_capacity);
    *lwp_map_at(module->places, address) = (uint32_t)code->place_count;
    code->places[code->place_count++] = place;
    return place;
}
