/* Text that a page holds and seldom needs, small and harmless inside of an element: deflated (RFC 1950), as base64. */
#ifndef LWP_WEB_PACK_H
#define LWP_WEB_PACK_H

#include <stddef.h>

/* NUL-ended, the caller's to free; NULL without memory. Browsers undo it with atob and DecompressionStream('deflate'). */
char *lwp_pack(const char *text, size_t length);

/* 4 digits for each 3 bytes, with '=' at the end; NUL-ended. `text` has room for (bytes + 2) / 3 * 4 + 1. */
void lwp_base64(const void *data, size_t bytes, char *text);

#endif
