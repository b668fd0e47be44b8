/* Text for JSON: command lines, paths and symbols are bytes, JSON is UTF-8. */
#ifndef LWP_BASE_UTF8_H
#define LWP_BASE_UTF8_H

#include <stddef.h>

/* A copy of `text` that is valid UTF-8 (RFC 3629): every byte that belongs to no valid sequence becomes U+FFFD.
 * The caller frees it; NULL when memory is out. */
char *lwp_utf8_clean(const char *text);

/* Bytes of the valid sequence that `text` (NUL-ended) starts with, 1 to 4, or 0: none. */
size_t lwp_utf8_sequence(const char *text);

#endif
