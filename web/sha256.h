/* SHA-256 (FIPS 180-4), for the hashes in the exported page's content security policy. */
#ifndef LWP_WEB_SHA256_H
#define LWP_WEB_SHA256_H

#include <stddef.h>
#include <stdint.h>

void lwp_sha256(const void *data, size_t bytes, uint8_t digest[32]);

/* The digest as base64, NUL-ended. */
void lwp_sha256_base64(const void *data, size_t bytes, char text[45]);

#endif
