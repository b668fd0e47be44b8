#include "collector/light/own/settings.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char settings_prefix[] = "LWP_";
static char settings[4096]; /* "NAME=VALUE" with its end, one after the other */
static size_t settings_used;

void lwp_settings_take(void)
{
    settings_used = 0;
    for (char **variable = environ; variable && *variable; variable++) {
        size_t bytes = strlen(*variable) + 1;
        if (strncmp(*variable, settings_prefix, sizeof settings_prefix - 1) == 0 && bytes <= sizeof settings - settings_used) {
            memcpy(settings + settings_used, *variable, bytes);
            settings_used += bytes;
        }
    }
}

const char *lwp_setting(const char *name)
{
    size_t length = strlen(name);
    for (const char *at = settings; at < settings + settings_used; at += strlen(at) + 1)
        if (strncmp(at, name, length) == 0 && at[length] == '=')
            return at + length + 1;
    return NULL;
}

double lwp_setting_number(const char *name, double otherwise)
{
    const char *text = lwp_setting(name);
    char *end;
    double value = text ? strtod(text, &end) : 0;
    return text && *text && !*end ? value : otherwise;
}

void lwp_settings_forget(void)
{
    settings_used = 0;
}
