/* Names by pattern, without the C library: also for code inside other programs. */
#ifndef LWP_BASE_PATTERN_H
#define LWP_BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether one of `list`, patterns separated by commas in which * stands for any letters and ? for one, is all of `name`. */
static inline bool lwp_pattern_lists(const char *list, const char *name)
{
    const char *pattern = list, *at = name, *star = NULL, *star_at = NULL;
    for (;;) {
        bool end = *pattern == '\0' || *pattern == ',';
        if (end && *at == '\0' && pattern != list && pattern[-1] != ',')
            return true;
        if (*pattern == '*') {
            star = ++pattern;
            star_at = at;
        } else if (*at && !end && (*pattern == '?' || *pattern == *at)) {
            pattern++;
            at++;
        } else if (star && *star_at) { /* the star takes one more */
            pattern = star;
            at = ++star_at;
        } else {
            while (*pattern && *pattern != ',')
                pattern++;
            if (!*pattern)
                return false;
            pattern++;
            at = name;
            star = NULL;
        }
    }
}

#endif
