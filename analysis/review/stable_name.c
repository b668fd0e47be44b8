#include "analysis/review/stable_name.h"

#include <string.h>

const char *lwp_stable_name(struct lwp_arena *arena, const char *name)
{
    static const char *const made[] = {"block allocated in ", "blocks allocated in ", "mapping made in "};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        const char *at = strncmp(name, made[i], strlen(made[i])) == 0 ? strstr(name, " at ") : NULL;
        if (at)
            return lwp_arena_strndup(arena, name, (size_t)(at - name));
    }
    return strncmp(name, "static data of ", 15) == 0 ? "static data without a symbol" : name;
}

const char *lwp_stable_function(struct lwp_arena *arena, const char *function)
{
    static const char *const clones[] = {".constprop", ".isra", ".part", ".cold", ".lto_priv", ".llvm", " [clone "};
    size_t length = strlen(function);
    for (size_t i = 0; i < sizeof clones / sizeof *clones; i++) {
        const char *at = strstr(function, clones[i]);
        if (at && (size_t)(at - function) < length)
            length = (size_t)(at - function);
    }
    if (length > 19 && strncmp(function + length - 19, "::h", 3) == 0 && strspn(function + length - 16, "0123456789abcdef") >= 16)
        length -= 19;
    return lwp_arena_strndup(arena, function, length);
}
