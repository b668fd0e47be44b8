/* The exact engine's shadow memory against a reference that goes byte by byte: the input's bytes choose the accesses. */
#include "collector/exact/detect/redundancy/shadow.c"
#include "collector/exact/detect/redundancy/shadow_pairs.c"
#include "collector/exact/detect/redundancy/shadow_tuples.c"
#include "collector/record/value.c"

#include <stdlib.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const uint8_t *input, *input_end;

#include "tests/unit/shadow_reference.h"

static unsigned chance(unsigned below)
{
    return input < input_end ? *input++ % below : 0;
}

static void *map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void unmap(void *memory, size_t bytes)
{
    if (munmap(memory, bytes))
        abort();
}

/* The first byte says how much room there is for tuples and pairs: where it is little only the bytes have to come out. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const struct lwp_shadow_port port = {.map = map, .unmap = unmap};
    static struct reference reference;
    struct lwp_shadow shadow;
    if (!size)
        return 0;
    bool narrow = *bytes & 1;
    const struct lwp_shadow_limits limits = {narrow ? 4 : 12, narrow ? 4 : 1 << 12};
    memset(&reference, 0, sizeof reference);
    input = bytes + 1;
    input_end = bytes + size;
    if (!lwp_shadow_init(&shadow, &port, &limits))
        return 0;
    while (input < input_end)
        random_step(&shadow, &reference);
    if (narrow ? shadow.stored != reference.stored || shadow.loaded != reference.loaded || shadow.used != reference.used
               : !shadow_is_like(&shadow, &reference))
        abort();
    lwp_shadow_fini(&shadow);
    return 0;
}
