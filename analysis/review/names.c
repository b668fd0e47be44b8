#include "analysis/review/names.h"

#include "analysis/json/json_value.h"
#include "base/path.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *lwp_stable_name(struct lwp_arena *arena, const char *name)
{
    static const char *const made[] = {"block allocated in ", "blocks allocated in ", "mapping made in "};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        const char *at = strncmp(name, made[i], strlen(made[i])) == 0 ? strstr(name, " at ") : NULL;
        if (at)
            return lwp_arena_strndup(arena, name, (size_t)(at - name));
    }
    if (strncmp(name, "literals and constants of ", 26) == 0)
        return "literals and constants";
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

/* ---- source paths ---- */

static const char *root_normal(struct lwp_arena *arena, const char *path)
{
    bool absolute = *path == '/';
    char *normal = lwp_arena_alloc(arena, strlen(path) + 2, 1), *to = normal;
    for (const char *at = path; *at;) {
        size_t length = strcspn(at, "/");
        char *before = to;
        while (before > normal && *--before != '/') /* the folder that ".." takes back */
            ;
        bool up = length == 2 && strncmp(at, "..", 2) == 0, takes_back = up && to > normal && strcmp(before + (*before == '/'), "..");
        if (takes_back)
            to = before;
        else if (length && !(length == 1 && *at == '.') && !(up && absolute)) {
            if (to > normal || absolute)
                *to++ = '/';
            to = (char *)memcpy(to, at, length) + length;
        }
        *to = '\0';
        at += length + (at[length] == '/');
    }
    return *normal ? normal : absolute ? "/" : ".";
}

const char *lwp_source_relative(struct lwp_arena *arena, const char *root, const char *path)
{
    const char *normal = root_normal(arena, path), *below = root ? lwp_path_below(normal, root) : NULL;
    return below && *below ? below : normal;
}

struct root_files {
    struct lwp_arena *arena;
    const char *below; /* looked for: a file below this; NULL: none */
    bool found;
    char *common; /* the deepest folder of all so far; NULL: no file yet */
};

static void root_of_text(void *to, const char *key, json_t *text)
{
    struct root_files *files = to;
    const char *path = json_string_value(text);
    if (strcmp(key, "file") != 0 || *path != '/' || lwp_path_is_system(path))
        return;
    path = root_normal(files->arena, path);
    files->found |= files->below && lwp_path_is_below(path, files->below);
    if (!files->common) {
        files->common = lwp_arena_strdup(files->arena, path);
        *strrchr(files->common, '/') = '\0';
        return;
    }
    while (*files->common && !lwp_path_is_below(path, files->common))
        *strrchr(files->common, '/') = '\0';
}

static bool root_has_files(struct lwp_arena *arena, json_t *analysis, const char *folder)
{
    struct root_files files = {.arena = arena, .below = folder};
    lwp_json_texts(analysis, "", root_of_text, &files);
    return files.found;
}

const char *lwp_source_root(struct lwp_arena *arena, json_t *analysis, const char *given)
{
    char here[PATH_MAX], tree[PATH_MAX];
    if (given) {
        const char *real = realpath(given, here);
        return root_normal(arena, real ? real : given);
    }
    if (getcwd(here, sizeof here)) {
        memcpy(tree, here, sizeof tree);
        if (lwp_path_work_tree(tree) && root_has_files(arena, analysis, tree))
            return lwp_arena_strdup(arena, tree);
        if (root_has_files(arena, analysis, here))
            return lwp_arena_strdup(arena, here);
    }
    struct root_files files = {.arena = arena};
    lwp_json_texts(analysis, "", root_of_text, &files);
    return files.common && *files.common ? files.common : NULL;
}
