/* Memory for shadow tables in a test: how much is mapped, and how much may be. */
#ifndef LWP_TEST_SHADOW_PORT_H
#define LWP_TEST_SHADOW_PORT_H

#include "collector/exact/detect/redundancy/shadow_pairs.h"

#include <stdint.h>
#include <sys/mman.h>

static size_t mapped, mapped_max = SIZE_MAX;

static void *port_map(size_t bytes)
{
    if (mapped + bytes > mapped_max)
        return NULL;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    mapped += bytes;
    return memory;
}

static void port_unmap(void *memory, size_t bytes)
{
    assert_int_equal(munmap(memory, bytes), 0);
    mapped -= bytes;
}

static const struct lwp_shadow_port port = {.map = port_map, .unmap = port_unmap};

#endif
