/* The modules of the profiled program. */
#include "analysis/program/binary/module.h"

#include <stdio.h>
#include <string.h>

struct code_module *code_module_at(const struct lwp_code *code, uint32_t module)
{
    return module < code->module_count ? code->modules[module] : NULL;
}

static char *code_hex(struct lwp_arena *arena, const uint8_t *bytes, size_t count)
{
    char *text = lwp_arena_alloc(arena, count * 2 + 1, 1);
    for (size_t i = 0; i < count; i++)
        snprintf(text + i * 2, 3, "%02x", bytes[i]);
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
    module->noreturn = lwp_map_new();
    module->pure = lwp_map_new();
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
