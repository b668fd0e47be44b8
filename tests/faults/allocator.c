/* An allocator that is part of the program, as those that are linked statically: blocks are cut from one piece and never
 * used again. Whatever is freed has to be one of its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 16 };

static char piece[256 << 20] __attribute__((aligned(4096)));
static size_t used = HEAD;

static size_t *size_of(void *block)
{
    if ((char *)block < piece + HEAD || (char *)block >= piece + sizeof piece) {
        static const char text[] = "not a block of this allocator\n";
        if (write(2, text, sizeof text - 1))
            abort();
    }
    return (size_t *)((char *)block - sizeof(size_t));
}

void *memalign(size_t alignment, size_t bytes)
{
    if (alignment < HEAD)
        alignment = HEAD;
    if (bytes > sizeof piece / 2) {
        errno = ENOMEM;
        return NULL;
    }
    size_t at = __atomic_fetch_add(&used, bytes + HEAD + alignment + HEAD, __ATOMIC_RELAXED);
    at = (at + HEAD + alignment - 1) / alignment * alignment;
    if (at + bytes > sizeof piece) {
        errno = ENOMEM;
        return NULL;
    }
    *(size_t *)(piece + at - sizeof(size_t)) = bytes;
    return piece + at;
}

void *malloc(size_t bytes)
{
    return memalign(HEAD, bytes);
}

void free(void *block)
{
    if (block)
        *size_of(block) |= (size_t)1 << 63;
}

void *calloc(size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return malloc(all); /* never used before: zero */
}

void *realloc(void *block, size_t bytes)
{
    void *made = malloc(bytes);
    if (block && made) {
        size_t before = *size_of(block);
        memcpy(made, block, before < bytes ? before : bytes);
        free(block);
    }
    return made;
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    *block = memalign(alignment, bytes);
    return *block ? 0 : ENOMEM;
}

void *valloc(size_t bytes)
{
    return memalign(4096, bytes);
}

size_t malloc_usable_size(void *block)
{
    return block ? *size_of(block) & ~((size_t)1 << 63) : 0;
}
