#include "patch/uses/clang_api.h"

#include <config.h>
#include <dlfcn.h>

struct lwp_clang clang;

int lwp_clang_load(struct lwp_error *err)
{
    static void *library;
    if (!library)
        library = dlopen(LWP_LIBCLANG, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return lwp_error_set(err, LWP_ERR_MISSING, "cannot load libclang, which reads the sources: %s", dlerror());
#define LWP_CLANG_LOAD(name)                                                                                                               \
    clang.name = (__typeof__(clang.name))dlsym(library, "clang_" #name);                                                                   \
    if (!clang.name)                                                                                                                       \
        return lwp_error_set(err, LWP_ERR_MISSING, "%s is too old: it has no clang_%s", LWP_LIBCLANG, #name);
    LWP_CLANG_FUNCTIONS(LWP_CLANG_LOAD)
#undef LWP_CLANG_LOAD
    return LWP_OK;
}
