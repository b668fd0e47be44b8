#include "web/pack.h"

#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

void lwp_base64(const void *data, size_t bytes, char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *from = data;
    char *to = text;
    for (size_t i = 0; i < bytes; i += 3) {
        uint32_t three = 0;
        for (size_t k = 0; k < 3; k++)
            three = three << 8 | (i + k < bytes ? from[i + k] : 0u);
        for (int shift = 18; shift >= 0; shift -= 6)
            *to++ = digits[three >> shift & 63];
    }
    for (size_t missing = (3 - bytes % 3) % 3; missing; missing--)
        to[-(ptrdiff_t)missing] = '=';
    *to = '\0';
}

char *lwp_pack(const char *text, size_t length)
{
    uLongf bytes = compressBound(length);
    void *deflated = malloc(bytes);
    char *packed = NULL;
    if (deflated && compress2(deflated, &bytes, (const Bytef *)text, length, Z_BEST_COMPRESSION) == Z_OK &&
        (packed = malloc((bytes + 2) / 3 * 4 + 1)))
        lwp_base64(deflated, bytes, packed);
    free(deflated);
    return packed;
}
