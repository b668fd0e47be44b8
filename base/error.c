#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int error_put(struct lwp_error *err, int status, const char *format, va_list args)
{
    if (err) {
        vsnprintf(err->text, sizeof err->text, format, args);
        err->status = status;
    }
    return status;
}

int lwp_error_set(struct lwp_error *err, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error_put(err, status, format, args);
    va_end(args);
    return status;
}

int lwp_error_errno(struct lwp_error *err, const char *format, ...)
{
    const char *why = strerror(errno);
    va_list args;
    va_start(args, format);
    error_put(err, LWP_ERR_SYSTEM, format, args);
    va_end(args);
    size_t used = err ? strlen(err->text) : 0;
    if (err)
        snprintf(err->text + used, sizeof err->text - used, ": %s", why);
    return LWP_ERR_SYSTEM;
}

_Noreturn void lwp_out_of_memory(void)
{
    fputs("lwp: out of memory; analyse fewer samples at once or on a larger machine\n", stderr);
    exit(125);
}
