#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int lwp_error_set(struct lwp_error *err, int status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        err->status = status;
    }
    return status;
}

int lwp_error_errno(struct lwp_error *err, const char *format, ...)
{
    int saved = errno;
    if (err) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        size_t used = strlen(err->text);
        snprintf(err->text + used, sizeof err->text - used, ": %s", strerror(saved));
        err->status = LWP_ERR_SYSTEM;
    }
    return LWP_ERR_SYSTEM;
}

_Noreturn void lwp_out_of_memory(void)
{
    fputs("lwp: out of memory; analyse fewer samples at once or on a larger machine\n", stderr);
    exit(125);
}
