/* Integers of the machine's byte order anywhere in memory. */
#ifndef LWP_BASE_UNALIGNED_H
#define LWP_BASE_UNALIGNED_H

#include <stdint.h>
#include <string.h>

static inline uint16_t lwp_u16_at(const void *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t lwp_u32_at(const void *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t lwp_u64_at(const void *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

#endif
