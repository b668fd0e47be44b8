#include "collector/launch/preload.h"

#include "base/arena.h"
#include "base/path.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char preload_name[] = "liblwp-light.so";
static const char preload_variable[] = "LD_PRELOAD=";

char *lwp_preload_find(struct lwp_error *err)
{
    return lwp_path_installed(preload_name, R_OK, err);
}

static bool preload_splits(const char *path)
{
    return path[strcspn(path, ": \t")] != '\0';
}

char *lwp_preload_usable(const char *path, struct lwp_error *err)
{
    if (!preload_splits(path))
        return lwp_format("%s", path);
    char folder[] = "/tmp/lwp-XXXXXX";
    if (!mkdtemp(folder)) {
        lwp_error_errno(err, "%s has a blank or colon in its path, which the loader cannot take, and no link can be made"
                             " in /tmp",
                        path);
        return NULL;
    }
    char *link = lwp_format("%s/%s", folder, preload_name);
    if (symlink(path, link)) {
        lwp_error_errno(err, "cannot make %s", link);
        rmdir(folder);
        free(link);
        return NULL;
    }
    return link;
}

void lwp_preload_release(char *usable, const char *path)
{
    if (usable && preload_splits(path)) {
        unlink(usable);
        *strrchr(usable, '/') = '\0';
        rmdir(usable);
    }
    free(usable);
}

static bool preload_same_name(const char *a, const char *b)
{
    size_t length = strcspn(a, "=");
    return strncmp(a, b, length + 1) == 0;
}

static bool preload_has(const char *list, const char *library)
{
    size_t length = strlen(library);
    for (const char *at = list; (at = strstr(at, library)); at += length)
        if ((at == list || strchr(": ", at[-1])) && strchr(": ", at[length])) /* strchr finds the final NUL as well */
            return true;
    return false;
}

char **lwp_preload_environment(char *const *from, const char *library, char *const *settings)
{
    size_t count = 0, extra = 0, used = 0;
    while (from[count])
        count++;
    while (settings[extra])
        extra++;
    char **environment = lwp_zeroed(count + extra + 1, sizeof *environment);
    const char *earlier = "";
    for (size_t i = 0; i < count; i++) {
        bool ours = library && strncmp(from[i], preload_variable, strlen(preload_variable)) == 0;
        if (ours)
            earlier = from[i] + strlen(preload_variable);
        for (size_t k = 0; !ours && settings[k]; k++)
            ours = preload_same_name(settings[k], from[i]);
        if (!ours)
            environment[used++] = lwp_format("%s", from[i]);
    }
    for (size_t k = 0; settings[k]; k++)
        environment[used++] = lwp_format("%s", settings[k]);
    bool again = library && preload_has(earlier, library);
    if (library)
        environment[used] = lwp_format("%s%s%s%s", preload_variable, again ? "" : library, again || !*earlier ? "" : ":", earlier);
    return environment;
}

void lwp_preload_environment_free(char **environment)
{
    for (char **variable = environment; environment && *variable; variable++)
        free(*variable);
    free(environment);
}
