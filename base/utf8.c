#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

size_t lwp_utf8_sequence(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] < 0x80)
        return 1;
    /* The second byte's range excludes overlong forms, surrogates and what is above U+10FFFF. */
    unsigned char low = 0x80, high = 0xbf;
    size_t length;
    if (c[0] >= 0xc2 && c[0] <= 0xdf) {
        length = 2;
    } else if (c[0] >= 0xe0 && c[0] <= 0xef) {
        length = 3;
        if (c[0] == 0xe0)
            low = 0xa0;
        if (c[0] == 0xed)
            high = 0x9f;
    } else if (c[0] >= 0xf0 && c[0] <= 0xf4) {
        length = 4;
        if (c[0] == 0xf0)
            low = 0x90;
        if (c[0] == 0xf4)
            high = 0x8f;
    } else {
        return 0;
    }
    if (c[1] < low || c[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++)
        if (c[i] < 0x80 || c[i] > 0xbf)
            return 0;
    return length;
}

char *lwp_utf8_clean(const char *text)
{
    size_t bytes;
    if (__builtin_mul_overflow(strlen(text), (size_t)3, &bytes))
        return NULL;
    char *clean = malloc(bytes + 1), *to = clean;
    if (!clean)
        return NULL;
    while (*text) {
        size_t length = lwp_utf8_sequence(text);
        if (length) {
            memcpy(to, text, length);
            to += length;
            text += length;
        } else {
            memcpy(to, "\xef\xbf\xbd", 3);
            to += 3;
            text++;
        }
    }
    *to = '\0';
    return clean;
}
