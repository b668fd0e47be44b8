/* The code of the profiled program: keeps the modules and the answers already given, and asks the other files:
 * elf_module.c (which file is it), symbols.c (symbols, bounds), scopes.c (DWARF functions, lines, inlining),
 * code_loops.c (loops). */
#include "analysis/code.h"

#include "analysis/code_internal.h"
#include "analysis/code_loops.h"
#include "analysis/file_guard.h"
#include "analysis/scopes.h"
#include "analysis/type_cache.h"

#include <stdlib.h>
#include <string.h>

struct lwp_code *lwp_code_new(struct lwp_arena *arena)
{
    struct lwp_code *code = lwp_arena_alloc(arena, 1, sizeof *code);
    code->arena = arena;
    code->strings = lwp_map_new();
    code->accesses_by_loop = lwp_map_new();
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
        code_types_free(module->types);
        code_flow_free(module->flow);
        code_debug_free(module->debug);
        code_symbols_free(module->symbols);
        code_elf_close(module);
        lwp_map_free(module->places);
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
    free(code->types);
    lwp_map_free(code->types_by_content);
}

const char *code_intern(struct lwp_code *code, const char *text)
{
    if (!text)
        return NULL;
    uint32_t *slot = lwp_map_at(code->strings, lwp_hash_text(text));
    if (*slot != LWP_MAP_NONE && !strcmp(code->string_items[*slot], text))
        return code->string_items[*slot];
    const char *copy = lwp_arena_strdup(code->arena, text);
    if (*slot == LWP_MAP_NONE) { /* two texts of one hash: the later stays uninterned */
        LWP_GROW(&code->string_items, code->string_count, &code->string_capacity);
        *slot = (uint32_t)code->string_count;
        code->string_items[code->string_count++] = copy;
    }
    return copy;
}

struct code_module *code_module_at(const struct lwp_code *code, uint32_t module)
{
    return module < code->module_count ? code->modules[module] : NULL;
}

static char *code_hex(struct lwp_arena *arena, const uint8_t *bytes, size_t count)
{
    char *text = lwp_arena_alloc(arena, count * 2 + 1, 1);
    for (size_t i = 0; i < count; i++) {
        text[i * 2] = "0123456789abcdef"[bytes[i] >> 4];
        text[i * 2 + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    return text;
}

uint32_t lwp_code_module(struct lwp_code *code, const char *path, const uint8_t *build_id, size_t build_id_bytes)
{
    enum { BUILD_ID_LIMIT = 64 };
    if (!build_id || build_id_bytes > BUILD_ID_LIMIT)
        build_id_bytes = 0;
    const char *hex = code_hex(code->arena, build_id, build_id_bytes);
    for (size_t i = 0; i < code->module_count; i++)
        if (!strcmp(code->modules[i]->info.path, path) && !strcmp(code->modules[i]->info.build_id, hex))
            return (uint32_t)i;
    LWP_GROW(&code->modules, code->module_count, &code->module_capacity);
    struct code_module *module = lwp_arena_alloc(code->arena, 1, sizeof *module);
    module->code = code;
    module->index = (uint32_t)code->module_count;
    module->info.path = lwp_arena_strdup(code->arena, path);
    module->info.build_id = hex;
    module->places = lwp_map_new();
    code_elf_open(module, build_id, build_id_bytes);
    code->modules[code->module_count++] = module;
    return module->index;
}

uint32_t lwp_code_module_count(const struct lwp_code *code)
{
    return (uint32_t)code->module_count;
}

const struct lwp_module *lwp_code_module_info(const struct lwp_code *code, uint32_t module)
{
    const struct code_module *found = code_module_at(code, module);
    return found ? &found->info : NULL;
}

static const struct lwp_place *place_new(struct lwp_code *code, struct code_module *module, uint64_t address)
{
    struct lwp_place *place = lwp_arena_alloc(code->arena, 1, sizeof *place);
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

const struct lwp_place *lwp_code_place(struct lwp_code *code, uint32_t module_index, uint64_t address)
{
    struct code_module *module = code_module_at(code, module_index);
    if (!module)
        return place_new(code, NULL, address);
    uint32_t known = lwp_map_get(module->places, address);
    if (known != LWP_MAP_NONE)
        return code->places[known];
    const struct lwp_place *place = place_new(code, module, address);
    LWP_GROW(&code->places, code->place_count, &code->place_capacity);
    *lwp_map_at(module->places, address) = (uint32_t)code->place_count;
    code->places[code->place_count++] = place;
    return place;
}
