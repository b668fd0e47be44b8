#include "collector/light/own/settings.h"

#include <stdbool.h>
#include <stddef.h>
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

static const char *digits_read(const char *text, double *value, int *count)
{
    for (; *text >= '0' && *text <= '9'; text++, ++*count)
        *value = 10 * *value + (*text - '0');
    return text;
}

/* What strtod reads, in decimal. Each process that loads the library would pay for five pages of the C library's for it. */
static bool settings_decimal(const char *text, double *value)
{
    enum { EXPONENT_MOST = 400 };
    const bool below = *text == '-';
    int whole = 0, after = 0, more = 0;
    double digits = 0, exponent = 0, scale = 1;
    text = digits_read(text + below, &digits, &whole);
    if (*text == '.')
        text = digits_read(text + 1, &digits, &after);
    if (whole + after == 0)
        return false;
    if (*text == 'e' || *text == 'E') {
        const bool less = text[1] == '-';
        text = digits_read(text + 1 + (less || text[1] == '+'), &exponent, &more);
        if (!more || exponent > EXPONENT_MOST)
            return false;
        exponent = less ? -exponent : exponent;
    }
    exponent -= after;
    for (int i = 0; i < (exponent < 0 ? -exponent : exponent); i++)
        scale *= 10;
    *value = (exponent < 0 ? digits / scale : digits * scale) * (below ? -1 : 1);
    return !*text;
}

double lwp_setting_number(const char *name, double otherwise)
{
    const char *text = lwp_setting(name);
    double value;
    return text && settings_decimal(text, &value) ? value : otherwise;
}

void lwp_settings_forget(void)
{
    settings_used = 0;
}
