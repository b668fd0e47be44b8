/* CRC-32C (Castagnoli), by the SSE4.2 instruction where the processor has it. Freestanding, async-signal-safe. */
#ifndef LWP_FORMAT_CRC32C_H
#define LWP_FORMAT_CRC32C_H

#include <cpuid.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Continues `crc` (0 at the start) over `bytes`. */
static uint32_t lwps_crc32c(uint32_t crc, const void *bytes, size_t size);

__attribute__((target("sse4.2"))) static uint32_t crc32c_hardware(uint32_t crc, const uint8_t *bytes, size_t size)
{
    uint64_t wide = crc;
    for (; size >= 8; bytes += 8, size -= 8) {
        uint64_t word;
        __builtin_memcpy(&word, bytes, 8);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t)wide;
    for (; size; bytes++, size--)
        crc = __builtin_ia32_crc32qi(crc, *bytes);
    return crc;
}

static uint32_t crc32c_plain(uint32_t crc, const uint8_t *bytes, size_t size)
{
    for (; size; bytes++, size--) {
        crc ^= *bytes;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0x82f63b78u & -(crc & 1));
    }
    return crc;
}

/* Asked when first needed: the compiler's own way asks in each process that loads lwp's library, 40 us in a virtual machine. */
static bool crc32c_has_hardware(void)
{
    enum { UNKNOWN, NO, YES };
    static int has;
    int known = __atomic_load_n(&has, __ATOMIC_RELAXED);
    if (known == UNKNOWN) {
        unsigned a, b, c, d;
        known = __get_cpuid(1, &a, &b, &c, &d) && c & bit_SSE4_2 ? YES : NO;
        __atomic_store_n(&has, known, __ATOMIC_RELAXED);
    }
    return known == YES;
}

static uint32_t lwps_crc32c(uint32_t crc, const void *bytes, size_t size)
{
    crc = ~crc;
    crc = crc32c_has_hardware() ? crc32c_hardware(crc, bytes, size) : crc32c_plain(crc, bytes, size);
    return ~crc;
}

#endif
