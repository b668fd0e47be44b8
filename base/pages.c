#include "base/pages.h"

#include "base/error.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGES_LARGE = 2 << 20, PAGES_LINE = 128, PAGES_FIRST = 16 };

static size_t pages_round(size_t bytes)
{
    size_t unit = bytes >= PAGES_LARGE ? PAGES_LARGE : PAGES_LINE;
    if (bytes > SIZE_MAX / 2)
        lwp_out_of_memory();
    return (bytes + unit - 1) & ~(unit - 1);
}

void *lwp_pages_alloc(size_t bytes)
{
    size_t rounded = pages_round(bytes ? bytes : 1);
    if (rounded < PAGES_LARGE) {
        void *memory = aligned_alloc(PAGES_LINE, rounded);
        if (!memory)
            lwp_out_of_memory();
        return memset(memory, 0, rounded);
    }
    /* One unit more, to align it; the rest is unmapped. */
    char *memory = mmap(NULL, rounded + PAGES_LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        lwp_out_of_memory();
    size_t before = (PAGES_LARGE - (uintptr_t)memory % PAGES_LARGE) % PAGES_LARGE;
    if (before)
        munmap(memory, before);
    munmap(memory + before + rounded, PAGES_LARGE - before);
    madvise(memory + before, rounded, MADV_HUGEPAGE);
    return memory + before;
}

void lwp_pages_free(void *memory, size_t bytes)
{
    if (!memory)
        return;
    size_t rounded = pages_round(bytes ? bytes : 1);
    if (rounded < PAGES_LARGE)
        free(memory);
    else
        munmap(memory, rounded);
}

void *lwp_pages_grow(void *items, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    size_t larger = *capacity ? *capacity * 2 : PAGES_FIRST, bytes;
    if (__builtin_mul_overflow(larger, size, &bytes))
        lwp_out_of_memory();
    void *grown = lwp_pages_alloc(bytes);
    size_t before = pages_round(*capacity * size);
    if (items && before >= PAGES_LARGE) {
        /* Moves the pages instead of copying them. By system call: UCX 1.13, of an MPI, interposes mremap(), drops the new
         * address, and reports success. */
        if (syscall(SYS_mremap, items, before, before, MREMAP_MAYMOVE | MREMAP_FIXED, grown) != (long)grown)
            lwp_out_of_memory();
    } else if (items) {
        memcpy(grown, items, count * size);
        lwp_pages_free(items, *capacity * size);
    }
    *capacity = larger;
    return grown;
}
