#include "web/httpd_api.h"

#include <config.h>
#include <dlfcn.h>

struct lwp_httpd httpd;

int lwp_httpd_load(struct lwp_error *err)
{
    static void *library;
    if (!library)
        library = dlopen(LWP_LIBMICROHTTPD, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return lwp_error_set(err, LWP_ERR_MISSING, "cannot load libmicrohttpd, which answers browsers: %s", dlerror());
#define LWP_HTTPD_LOAD(name)                                                                                                               \
    httpd.name = (__typeof__(httpd.name))dlsym(library, "MHD_" #name);                                                                     \
    if (!httpd.name)                                                                                                                       \
        return lwp_error_set(err, LWP_ERR_MISSING, "%s is too old: it has no MHD_%s", LWP_LIBMICROHTTPD, #name);
    LWP_HTTPD_FUNCTIONS(LWP_HTTPD_LOAD)
#undef LWP_HTTPD_LOAD
    return LWP_OK;
}
