/* The modules of the profiled program, and the texts all that is known of them shares. */
#include "analysis/program/binary/module.h"

#include <string.h>

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
    module->noreturn = lwp_map_new();
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
